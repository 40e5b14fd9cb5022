"""Characters of a text: as a reader counts them, and by what they are."""

from __future__ import annotations

import string

import regex

__all__ = ["ascii_punctuation", "characters", "digits", "letters"]

_CLUSTERS = regex.compile(r"\X")
_LETTERS = regex.compile(r"\p{L}")
_DIGITS = regex.compile(r"\p{Nd}")
_PUNCTUATION = frozenset(string.punctuation)


def ascii_punctuation(text: str) -> list[str]:
    return [character for character in text if character in _PUNCTUATION]


def characters(text: str) -> list[str]:
    clusters: list[str] = _CLUSTERS.findall(text)
    return clusters


def letters(text: str) -> list[str]:
    found: list[str] = _LETTERS.findall(text)
    return found


def digits(text: str) -> list[str]:
    found: list[str] = _DIGITS.findall(text)
    return found
