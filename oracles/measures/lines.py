"""Lines and paragraphs of a text, and the parts that stand between dividers."""

from __future__ import annotations

import regex

__all__ = ["between_dividers", "between_lines", "filled", "lines", "paragraphs", "pieces"]

_LINE_END = regex.compile(r"\r\n|\n|\r")
# CommonMark 0.31, section 4.1
_DIVIDER = regex.compile(r" {0,3}(?:(?:\*[ \t]*){3,}|(?:-[ \t]*){3,}|(?:_[ \t]*){3,})$")


def lines(text: str) -> list[str]:
    found: list[str] = _LINE_END.split(text)
    return found[:-1] if found[-1] == "" else found


def filled(items: list[str]) -> list[str]:
    return [item for item in items if item.strip()]


def paragraphs(text: str) -> list[str]:
    found: list[list[str]] = [[]]
    for line in lines(text):
        if line.strip():
            found[-1].append(line)
        elif found[-1]:
            found.append([])
    return ["\n".join(part).strip() for part in found if part]


def pieces(text: str, separator: str) -> list[str]:
    return text.split(separator) if separator else [text]


def between_lines(text: str, divider: str) -> list[str]:
    parts: list[list[str]] = [[]]
    for line in lines(text):
        if line.strip() == divider:
            parts.append([])
        else:
            parts[-1].append(line)
    return ["\n".join(part) for part in parts]


def between_dividers(text: str) -> list[str]:
    parts: list[list[str]] = [[]]
    for line in lines(text):
        if _DIVIDER.match(line):
            parts.append([])
        else:
            parts[-1].append(line)
    return ["\n".join(part) for part in parts]
