"""Measures of a text as a string: white space around it, case, and what it contains."""

from __future__ import annotations

__all__ = ["contains", "count_of", "ends_with", "is_blank", "lower", "starts_with", "stripped", "upper"]


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
