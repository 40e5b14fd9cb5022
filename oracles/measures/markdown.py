"""What markdown makes of a text: lists, headings, emphasis and code. Sections are those of CommonMark 0.31."""

from __future__ import annotations

import regex
from markdown_it import MarkdownIt

from .lines import _DIVIDER, lines

__all__ = [
    "bold", "bullets", "bullets_with", "code_fences", "commonmark_emphasis", "headings", "highlights", "italics",
    "numbered_items", "underscored", "unfenced", "unticked", "without_fences",
]  # fmt: skip

_BULLET = regex.compile(r"\s*([*+-])(?:[ \t]+(.*))?$")
_NUMBERED = regex.compile(r"\s*\d{1,9}[.)](?:[ \t]+(.*))?$")
_HEADING = regex.compile(r" {0,3}#{1,6}(?:[ \t]+(.*?))?(?:[ \t]+#+)?[ \t]*$")
_FENCE = regex.compile(r" {0,3}(`{3,}(?=[^`]*$)|~{3,})")
_STARRED = regex.compile(r"(?<![*\\])(\*{1,3})(?![*\s])([^*\r\n]*[^*\s\\])\1(?!\*)")
_UNDERSCORED = regex.compile(r"(?<![_\w\\])(_{1,3})(?![_\s])([^_\r\n]*[^_\s\\])\1(?![_\w])")
_TICKED = regex.compile(r"```(?:\w*(?=\s))?(.*?)```", regex.S)
_COMMONMARK = MarkdownIt("commonmark")


def _list_items(text: str) -> list[tuple[str, str]]:
    # `* * *` is a divider before it is a list (section 4.1)
    found = [_BULLET.match(line) for line in lines(text) if not _DIVIDER.match(line)]
    return [(each[1], (each[2] or "").strip()) for each in found if each]


def bullets(text: str) -> list[str]:
    return [item for _, item in _list_items(text)]


def bullets_with(text: str, mark: str) -> list[str]:
    return [item for used, item in _list_items(text) if used == mark]


def numbered_items(text: str) -> list[str]:
    found = [_NUMBERED.match(line) for line in lines(text)]
    return [(each[1] or "").strip() for each in found if each]


def headings(text: str) -> list[str]:
    found = [_HEADING.match(line) for line in lines(text)]
    return [(each[1] or "").strip() for each in found if each]


def highlights(text: str) -> list[str]:
    return [each[2] for each in _STARRED.finditer(text)]


def italics(text: str) -> list[str]:
    return [each[2] for each in _STARRED.finditer(text) if each[1] == "*"]


def bold(text: str) -> list[str]:
    return [each[2] for each in _STARRED.finditer(text) if each[1] == "**"]


def underscored(text: str) -> list[str]:
    return [each[2] for each in _UNDERSCORED.finditer(text)]


def commonmark_emphasis(text: str) -> list[str]:
    if "*" not in text and "_" not in text:
        return []
    found: list[str] = []
    for block in _COMMONMARK.parse(text):
        # the text of each span that is open; a span within another is one of its own
        opened: list[list[str]] = []
        for token in block.children or ():
            if token.type in ("em_open", "strong_open"):
                opened.append([])
            elif token.type in ("em_close", "strong_close"):
                found.append("".join(opened.pop()))
            else:
                for span in opened:
                    span.append("\n" if token.type.endswith("break") else token.content)
    return found


def _fenced(text: str) -> tuple[list[str], list[str]]:
    """The contents of the fenced code blocks (section 4.5), and the lines outside of them."""
    inside: list[list[str]] = []
    outside: list[str] = []
    fence = ""
    for line in lines(text):
        found = _FENCE.match(line)
        if fence:
            bare = line.strip()
            if len(line) - len(line.lstrip(" ")) <= 3 and set(bare) == {fence[0]} and len(bare) >= len(fence):
                fence = ""
            else:
                inside[-1].append(line)
        elif found:
            fence = found[1]
            inside.append([])
        else:
            outside.append(line)
    return ["\n".join(block) for block in inside], outside


def code_fences(text: str) -> list[str]:
    return _fenced(text)[0]


def without_fences(text: str) -> str:
    return "\n".join(_fenced(text)[1])


def unfenced(text: str) -> str:
    bare = text.strip()
    blocks, outside = _fenced(bare)
    closed = bare.count("\n") > 0 and set(lines(bare)[-1].strip()) in ({"`"}, {"~"})
    return blocks[0] if len(blocks) == 1 and not outside and closed else text


def unticked(text: str) -> str:
    found = _TICKED.fullmatch(text.strip())
    return found[1] if found else text
