"""Measures of a text as a string: white space around it, case, and what it contains."""

from __future__ import annotations

import unicodedata

__all__ = [
    "composed", "contains", "count_of", "ends_with", "folded", "is_blank", "lower", "replaced", "squeezed",
    "starts_with", "stripped", "unaccented", "upper",
]  # fmt: skip


def is_blank(text: str) -> bool:
    return not text.strip()


def stripped(text: str) -> str:
    return text.strip()


def lower(text: str) -> str:
    return text.lower()


def upper(text: str) -> str:
    return text.upper()


def contains(text: str, part: str) -> bool:
    return part in text


def starts_with(text: str, part: str) -> bool:
    return text.startswith(part)


def ends_with(text: str, part: str) -> bool:
    return text.endswith(part)


def count_of(text: str, part: str) -> int:
    return text.count(part) if part else 0


def folded(text: str) -> str:
    return unicodedata.normalize("NFC", text.casefold())


def composed(text: str) -> str:
    return unicodedata.normalize("NFC", text)


def unaccented(text: str) -> str:
    apart = unicodedata.normalize("NFD", text)
    return "".join(character for character in apart if unicodedata.category(character) != "Mn")


def squeezed(text: str) -> str:
    return " ".join(text.split())


def replaced(text: str, part: str, other: str) -> str:
    # no longer than the part, for a chain of replacements could otherwise grow without end
    return text.replace(part, other[: len(part)]) if part else text
