"""The transforms of `specs/transforms.yaml` as pure functions of a text and a random generator."""

from __future__ import annotations

import re
import string
import unicodedata
from collections.abc import Callable, Mapping
from functools import cache
from random import Random

from specs import load_synonyms
from specs.documents import did_you_mean

TransformFunction = Callable[[str, Random], str]

PUNCTUATION = str.maketrans("", "", string.punctuation)
LINE_END = re.compile(r"\r?\n")
LATIN_WORD = re.compile(r"[A-Za-z]+")
SPACE = re.compile(r"(\s+)")


class UnknownTransform(KeyError):
    """No transform of that name; as text, a sentence with the closest name."""

    def __str__(self) -> str:
        return str(self.args[0])


def apply_transform(name: str, text: str, rng: Random) -> str:
    """`text` after the transform; raises `UnknownTransform`. Only transforms that are not deterministic use `rng`."""
    if name not in TRANSFORMS:
        raise UnknownTransform(f"there is no transform {name!r}{did_you_mean(name, TRANSFORMS)}")
    return TRANSFORMS[name](text, rng)


def _plain(edit: Callable[[str], str]) -> TransformFunction:
    return lambda text, _rng: edit(text)


def _trailing_spaces(text: str) -> str:
    *lines, rest = text.split("\n")
    # behind a final line end there is no line
    return "".join(f"{line} \n" for line in lines) + (f"{rest} " if rest else "")


def _indent_lines(text: str) -> str:
    return "\n".join(f"  {line}" if line.strip() else line for line in text.split("\n"))


def _drop_blank_lines(text: str) -> str:
    return "".join(line for line in re.findall(r"[^\n]*\n|[^\n]+", text) if line.strip())


def _append_word(text: str) -> str:
    return f"{text} indeed" if text else "indeed"


def _wrap_in_fence(text: str) -> str:
    return f"```\n{text.removesuffix(chr(10))}\n```"


def _drop_first_word(text: str) -> str:
    return "".join(text.split(None, 1)[1:])


def _drop_last_word(text: str) -> str:
    parts = text.rsplit(None, 1)
    return parts[0] if len(parts) == 2 else ""


def _shuffle_words(text: str, rng: Random) -> str:
    pieces = SPACE.split(text)
    # words stand at the even places; at the edges one may be empty and stays there
    places = [place for place in range(0, len(pieces), 2) if pieces[place]]
    for place, word in zip(places, _reordered([pieces[place] for place in places], rng), strict=True):
        pieces[place] = word
    return "".join(pieces)


def _shuffle_lines(text: str, rng: Random) -> str:
    body = text.removesuffix("\n")
    return "\n".join(_reordered(body.split("\n"), rng)) + text[len(body) :]


def _reordered(items: list[str], rng: Random) -> list[str]:
    """The items in another order, wherever two of them differ."""
    shuffled = rng.sample(items, len(items))
    return shuffled if shuffled != items else [*items[1:], *items[:1]]


def _replace_words(text: str) -> str:
    return LATIN_WORD.sub(lambda found: _synonym(found.group()), text)


def _synonym(word: str) -> str:
    other = _synonyms().get(word.lower(), word)
    if other is word or word.islower():
        return other
    return other.upper() if word.isupper() and len(word) > 1 else other.capitalize()


@cache
def _synonyms() -> Mapping[str, str]:
    return load_synonyms()


def _curly_quotes(text: str) -> str:
    pieces = text.replace("'", "’").split('"')
    return pieces[0] + "".join(("”" if index % 2 else "“") + piece for index, piece in enumerate(pieces[1:]))


TRANSFORMS: Mapping[str, TransformFunction] = {
    "append_blank_line": _plain(lambda text: f"{text}\n\n"),
    "strip_final_newline": _plain(lambda text: text.rstrip("\r\n")),
    "double_spaces": _plain(lambda text: text.replace(" ", "  ")),
    "trailing_spaces": _plain(_trailing_spaces),
    "indent_lines": _plain(_indent_lines),
    "windows_line_ends": _plain(lambda text: LINE_END.sub("\r\n", text)),
    "drop_blank_lines": _plain(_drop_blank_lines),
    "upper_case": _plain(str.upper),
    "lower_case": _plain(str.lower),
    "prefix_sentence": _plain(lambda text: f"Sure, here is my answer. {text}"),
    "append_sentence": _plain(lambda text: f"{text} I hope that this helps."),
    "append_word": _plain(_append_word),
    "wrap_in_fence": _plain(_wrap_in_fence),
    "repeat_text": _plain(lambda text: f"{text}\n\n{text}"),
    "drop_first_word": _plain(_drop_first_word),
    "drop_last_word": _plain(_drop_last_word),
    "drop_punctuation": _plain(lambda text: text.translate(PUNCTUATION)),
    "shuffle_words": _shuffle_words,
    "shuffle_lines": _shuffle_lines,
    "replace_words": _plain(_replace_words),
    "curly_quotes": _plain(_curly_quotes),
    "no_break_spaces": _plain(lambda text: text.replace(" ", "\u00a0")),
    "decompose_accents": _plain(lambda text: unicodedata.normalize("NFD", text)),
}
"""Each transform by the id that `specs/transforms.yaml` declares."""
