"""Lines and paragraphs of a text."""

from __future__ import annotations

import regex

__all__ = ["lines", "paragraphs"]

_LINE_END = regex.compile(r"\r\n|\n|\r")


def lines(text: str) -> list[str]:
    found: list[str] = _LINE_END.split(text)
    return found[:-1] if found[-1] == "" else found


def paragraphs(text: str) -> list[str]:
    found: list[list[str]] = [[]]
    for line in lines(text):
        if line.strip():
            found[-1].append(line)
        elif found[-1]:
            found.append([])
    return ["\n".join(part).strip() for part in found if part]
