"""Structured text: JSON, CSV, numbers and dates."""

from __future__ import annotations

import csv
import datetime
import io
import json
from typing import Any, NoReturn

import regex

__all__ = ["csv_rows", "iso_dates", "json_kind", "numbers", "written_dates"]

_KINDS = {
    dict: "object",
    list: "array",
    str: "string",
    int: "number",
    float: "number",
    bool: "boolean",
    type(None): "null",
}
_NUMBER = regex.compile(r"(?<![\w.,])[+-]?\d+(?:,\d{3})*(?:\.\d+)?(?!\w|\.\d)")
_ISO = regex.compile(r"(?<!\d)([0-9]{4})-([0-9]{2})-([0-9]{2})(?!\d)")
_MONTH = r"(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\.?"
_WRITTEN = regex.compile(
    rf"(?i)\b(?:{_MONTH}\s+\d{{1,2}}(?:st|nd|rd|th)?,?\s+\d{{4}}|\d{{1,2}}(?:st|nd|rd|th)?\s+(?:of\s+)?{_MONTH},?\s+\d{{4}}"
    r"|\d{1,2}/\d{1,2}/\d{2,4}|\d{1,2}\.\d{1,2}\.\d{4})\b"
)


def _refuse(constant: str) -> NoReturn:
    raise ValueError(constant)


def json_kind(text: str) -> str:
    # RFC 8259 knows four characters of white space, and neither NaN nor Infinity
    try:
        value: Any = json.loads(text.strip(" \t\r\n"), parse_constant=_refuse, parse_int=lambda digits: 0)
    except (ValueError, RecursionError):
        return ""
    return _KINDS[type(value)]


def csv_rows(text: str, separator: str) -> list[list[str]]:
    if len(separator) != 1 or separator in '"\r\n':
        return []
    try:
        return list(csv.reader(io.StringIO(text, newline=""), delimiter=separator, strict=True))
    except (csv.Error, ValueError, TypeError):
        return []


def numbers(text: str) -> list[str]:
    found: list[str] = _NUMBER.findall(text)
    return found


def iso_dates(text: str) -> list[str]:
    return [each.group() for each in _ISO.finditer(text) if _is_date(*map(int, each.groups()))]


def _is_date(year: int, month: int, day: int) -> bool:
    try:
        datetime.date(year, month, day)
    except ValueError:
        return False
    return True


def written_dates(text: str) -> list[str]:
    found: list[str] = _WRITTEN.findall(text)
    return found
