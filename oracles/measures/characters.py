"""Characters of a text: as a reader counts them, and by what they are."""

from __future__ import annotations

import string

import regex

__all__ = [
    "ascii_punctuation", "capital_letters", "characters", "digits", "emoji", "is_all_capitals", "is_all_small",
    "letters", "punctuation", "small_letters",
]  # fmt: skip

_CLUSTERS = regex.compile(r"\X")
_LETTERS = regex.compile(r"\p{L}")
_DIGITS = regex.compile(r"\p{Nd}")
_CAPITALS = regex.compile(r"\p{Uppercase}|\p{Lt}")
_SMALL = regex.compile(r"\p{Lowercase}")
_MARKS = regex.compile(r"\p{P}")
_PUNCTUATION = frozenset(string.punctuation)
# shown as a picture by itself, by a selector, as a keycap or as a flag
_EMOJI = regex.compile(r"\p{Emoji_Presentation}|\p{Emoji}\uFE0F|[0-9#*]\uFE0F?\u20E3|\p{RI}\p{RI}")
_PERHAPS = regex.compile(r"[^\x00-\xa8]")


def ascii_punctuation(text: str) -> list[str]:
    return [character for character in text if character in _PUNCTUATION]


def punctuation(text: str) -> list[str]:
    found: list[str] = _MARKS.findall(text)
    return found


def characters(text: str) -> list[str]:
    clusters: list[str] = _CLUSTERS.findall(text)
    return clusters


def emoji(text: str) -> list[str]:
    if not _PERHAPS.search(text):
        return []
    return [cluster for cluster in characters(text) if _EMOJI.match(cluster)]


def letters(text: str) -> list[str]:
    found: list[str] = _LETTERS.findall(text)
    return found


def digits(text: str) -> list[str]:
    found: list[str] = _DIGITS.findall(text)
    return found


def capital_letters(text: str) -> list[str]:
    found: list[str] = _CAPITALS.findall(text)
    return found


def small_letters(text: str) -> list[str]:
    found: list[str] = _SMALL.findall(text)
    return found


def is_all_capitals(text: str) -> bool:
    if text.isascii():
        return text.isupper()
    return bool(_CAPITALS.search(text)) and not _SMALL.search(text)


def is_all_small(text: str) -> bool:
    if text.isascii():
        return text.islower()
    return bool(_SMALL.search(text)) and not _CAPITALS.search(text)
