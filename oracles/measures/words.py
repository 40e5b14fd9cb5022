"""Words of a text, by several readings, and how often one of them stands there."""

from __future__ import annotations

import regex

__all__ = ["bare", "bare_words", "count_word", "first_item", "item", "last_item", "unicode_words", "word_runs", "words"]

_RUNS = regex.compile(r"\w+")
# V1 splits at empty matches, W makes \b the default word boundary of Unicode
_BOUNDARIES = regex.compile(r"(?V1w)\b")
_SAYS = regex.compile(r"[\p{L}\p{N}]")
_EDGES = regex.compile(r"^[^\p{L}\p{M}\p{N}]+|[^\p{L}\p{M}\p{N}]+$")
_WORD = regex.compile(r"\w")


def words(text: str) -> list[str]:
    return text.split()


def word_runs(text: str) -> list[str]:
    runs: list[str] = _RUNS.findall(text)
    return runs


def unicode_words(text: str) -> list[str]:
    return [part for part in _BOUNDARIES.split(text) if part and (part[0].isalnum() or _SAYS.search(part))]


def bare(text: str) -> str:
    # most words need nothing taken off, and a pattern takes ten times as long to say so
    if text and text[0].isalnum() and text[-1].isalnum():
        return text
    found: str = _EDGES.sub("", text)
    return found


def bare_words(text: str) -> list[str]:
    return [word for word in map(bare, text.split()) if word]


def count_word(text: str, word: str) -> int:
    count, start = 0, text.find(word) if word else -1
    while start >= 0:
        end = start + len(word)
        if _stands_alone(text, start, end):
            count, start = count + 1, text.find(word, end)
        else:
            start = text.find(word, start + 1)
    return count


def _stands_alone(text: str, start: int, end: int) -> bool:
    return not (_WORD.match(text[start - 1 : start]) or _WORD.match(text[end : end + 1]))


def item(items: list[str], place: int) -> str:
    return items[place - 1] if 1 <= place <= len(items) else ""


def first_item(items: list[str]) -> str:
    return items[0] if items else ""


def last_item(items: list[str]) -> str:
    return items[-1] if items else ""
