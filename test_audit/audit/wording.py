"""What copies of a verifier render for the same arguments: digests, never the text, and who differs from most."""

from __future__ import annotations

import difflib
import hashlib
import json
import re
from collections import Counter
from collections.abc import Mapping, Sequence

SHOWN_WORDS = 6

Texts = Sequence[str | None]
"""What one implementation rendered for each of the arguments; None where it rendered no text."""


def digest(value: object) -> str:
    """The first 16 hexadecimal digits of SHA-256 over canonical JSON."""
    told = json.dumps(value, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(told.encode()).hexdigest()[:16]


def differences(texts: Mapping[str, Texts]) -> dict[str, list[str | None]]:
    """By implementation and argument: how its text differs from that of most; None where it does not.

    Of two texts that equally many render, the first in the alphabet of their implementations counts as that of most.
    One that renders no text has none to compare.
    """
    length = max(map(len, texts.values()), default=0)
    usual = [_usual([each[at] for _, each in sorted(texts.items())]) for at in range(length)]
    return {
        key: [_difference(said, most) for said, most in zip(each, usual, strict=True)] for key, each in texts.items()
    }


def _usual(said: Texts) -> str | None:
    counts = Counter(each for each in said if each is not None)
    return counts.most_common(1)[0][0] if counts else None


def _difference(said: str | None, most: str | None) -> str | None:
    if said is None or most is None or said == most:
        return None
    if _bare(said) == _bare(most):
        return "in case, spaces or punctuation only"
    edits = [word for word in difflib.ndiff(_bare(most).split(), _bare(said).split()) if word[0] in "+-"]
    more = f" and {len(edits) - SHOWN_WORDS} more" if len(edits) > SHOWN_WORDS else ""
    return f"in words: {' '.join(edits[:SHOWN_WORDS]).replace('  ', ' ')}{more}"


def _bare(text: str) -> str:
    return " ".join(re.findall(r"\w+", text.lower()))
