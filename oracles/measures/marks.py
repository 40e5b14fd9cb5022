"""Marks that enclose or number something: brackets, quotation marks, titles, section marks, commas."""

from __future__ import annotations

import regex

__all__ = [
    "angle_titles", "are_brackets_balanced", "commas", "double_quoted", "is_in_double_quotes",
    "is_in_straight_quotes", "section_lines", "section_numbers", "square_brackets", "straightened", "unlinked_brackets",
]  # fmt: skip

_SQUARE = regex.compile(r"\[([^\[\]\r\n]*)\]")
_UNLINKED = regex.compile(r"\[([^\[\]\r\n]*)\](?![(\[])")
_TITLE = regex.compile(r"<<([^<>\r\n]*[^<>\s][^<>\r\n]*)>>")
_QUOTED = regex.compile(r'"([^"]+)"|“([^“”]+)”|„([^„“”]+)[“”]|«([^«»]+)»|»([^«»]+)«')
_PAIRS = {'"': '"', "“": "”", "„": "“”", "«": "»", "»": "«", "＂": "＂", "「": "」", "『": "』", "”": "”", "〝": "〞"}
# Unicode 16: characters named COMMA and written within text, without the raised and combining ones
_COMMAS = regex.compile(
    "[,\u055d\u060c\u07f8\u1363\u1802\u1808\u3001\ua4fe\ua60d\ua6f5\ufe10\ufe11\ufe50\ufe51\uff0c\uff64]"
)
_STRAIGHT = str.maketrans("‘’‚‛“”„‟′″", "''''\"\"\"\"'\"")
_CLOSERS = {")": "(", "]": "[", "}": "{"}


def square_brackets(text: str) -> list[str]:
    found: list[str] = _SQUARE.findall(text)
    return found


def unlinked_brackets(text: str) -> list[str]:
    found: list[str] = _UNLINKED.findall(text)
    return found


def angle_titles(text: str) -> list[str]:
    found: list[str] = _TITLE.findall(text)
    return found


def double_quoted(text: str) -> list[str]:
    return ["".join(filter(None, each)) for each in _QUOTED.findall(text)]


def is_in_straight_quotes(text: str) -> bool:
    bare = text.strip()
    return len(bare) > 1 and bare[0] == bare[-1] == '"'


def is_in_double_quotes(text: str) -> bool:
    bare = text.strip()
    return len(bare) > 1 and bare[-1] in _PAIRS.get(bare[0], "")


def straightened(text: str) -> str:
    return text.translate(_STRAIGHT)


def commas(text: str) -> list[str]:
    found: list[str] = _COMMAS.findall(text)
    return found


def are_brackets_balanced(text: str) -> bool:
    opened: list[str] = []
    for mark in text:
        if mark in "([{":
            opened.append(mark)
        elif mark in _CLOSERS and (not opened or opened.pop() != _CLOSERS[mark]):
            return False
    return not opened


def section_numbers(text: str, splitter: str) -> list[int]:
    return _numbered(rf"(?<!\w){regex.escape(splitter)}[ \t]+(\d{{1,9}})(?!\w)", text)


def section_lines(text: str, splitter: str) -> list[int]:
    return _numbered(rf"(?m)^[\s#*_>]*{regex.escape(splitter)}[ \t]+(\d{{1,9}})(?!\w)", text)


def _numbered(pattern: str, text: str) -> list[int]:
    # regex keeps compiled patterns, so that a template's few splitters are compiled once
    return [int(number) for number in regex.findall(pattern, text)]
