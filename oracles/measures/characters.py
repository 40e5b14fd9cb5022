"""Characters of a text: as a reader counts them, and by what they are."""

from __future__ import annotations

import regex

__all__ = ["characters", "digits", "letters"]

_CLUSTERS = regex.compile(r"\X")
_LETTERS = regex.compile(r"\p{L}")
_DIGITS = regex.compile(r"\p{Nd}")


def characters(text: str) -> list[str]:
    clusters: list[str] = _CLUSTERS.findall(text)
    return clusters


def letters(text: str) -> list[str]:
    found: list[str] = _LETTERS.findall(text)
    return found


def digits(text: str) -> list[str]:
    found: list[str] = _DIGITS.findall(text)
    return found
