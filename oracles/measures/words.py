"""Words of a text, by two readings."""

from __future__ import annotations

import regex

__all__ = ["word_runs", "words"]

_RUNS = regex.compile(r"\w+")


def words(text: str) -> list[str]:
    return text.split()


def word_runs(text: str) -> list[str]:
    runs: list[str] = _RUNS.findall(text)
    return runs
