"""One share of a session's cases, so that several machines can divide a run between them.

The selected cases are ordered by the SHA-256 of their node ids, and share i of n takes every n-th from the i-th on. So
shares differ by at most one case, slow neighbours are spread over all of them, and neither workers nor the order of
collection matter. A share depends on which cases are selected: all shards of a run have to be given the same options,
and `Shard.of_cases` leaves a digest by which a merge can tell.
"""

from __future__ import annotations

import argparse
import hashlib
import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Shard:
    """Share `index` of `of`, from 1."""

    index: int
    of: int

    def __str__(self) -> str:
        return f"{self.index}/{self.of}"

    def share(self, cases: Sequence[str]) -> set[str]:
        """The node ids of this share."""
        return set(sorted(cases, key=_hash)[self.index - 1 :: self.of])

    def of_cases(self, cases: Collection[str]) -> dict[str, Any]:
        """What the closing record of a shard says about the whole that it is a part of."""
        digest = hashlib.sha256("\n".join(sorted(cases)).encode("utf-8", "backslashreplace")).hexdigest()
        return {"held": [self.index], "of": self.of, "cases": len(cases), "cases_sha256": digest}


def _hash(case: str) -> tuple[bytes, str]:
    return hashlib.sha256(case.encode("utf-8", "backslashreplace")).digest(), case


def shard(text: str) -> Shard:
    """The shard that an option such as `3/8` names; raises argparse.ArgumentTypeError."""
    found = re.fullmatch(r"(\d+)/(\d+)", text)
    if found is None:
        raise argparse.ArgumentTypeError(f"{text!r} is not a share such as 3/8: the third of eight")
    index, of = int(found[1]), int(found[2])
    if not 1 <= index <= of:
        raise argparse.ArgumentTypeError(f"there is no share {index} of {of}; shares go from 1/{of} to {of}/{of}")
    return Shard(index, of)
