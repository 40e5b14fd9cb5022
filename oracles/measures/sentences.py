"""Sentences of a text, by three readings."""

from __future__ import annotations

from itertools import pairwise

import regex

__all__ = ["careful_sentences", "sentences", "unicode_sentences"]

_SAYS = regex.compile(r"[\p{L}\p{N}]")
_CLOSERS = r"[\p{Pe}\p{Pf}\"'*_’]*"
_ENDS = regex.compile(rf"[.!?…]+{_CLOSERS}(?=\s|$)|[。！？]+{_CLOSERS}|[।؟۔]+{_CLOSERS}|(?:\r\n?|\n)\s*?(?:\r\n?|\n)")
_ABBREVIATIONS = {
    "mr", "mrs", "ms", "dr", "prof", "st", "sr", "jr", "vs", "etc", "e.g", "i.e", "cf", "al", "fig", "no",
    "vol", "pp", "p.s", "p.p.s", "a.m", "p.m", "u.s", "u.k", "inc", "ltd", "co", "approx", "dept", "est",
}  # fmt: skip
_BEFORE = regex.compile(r"[\p{L}\p{N}.]*$")
_SMALL_NEXT = regex.compile(r"\s*\p{Ll}")

# Unicode Standard Annex 29, section 5.1: SB4 and SB11, with SB6, SB7, SB8 and SB8a that keep them from breaking
_FORMAT = r"[\p{SB=Extend}\p{SB=Format}]*"
_SB = regex.compile(
    r"(?:\r\n|\p{SB=Sep}|\p{SB=CR}|\p{SB=LF})"
    rf"|(?:\p{{SB=STerm}}|(?P<dot>\p{{SB=ATerm}})){_FORMAT}(?P<close>(?:\p{{SB=Close}}{_FORMAT})*(?P<space>(?:\p{{SB=Sp}}{_FORMAT})*))"
    r"(?P<line>\r\n|\p{SB=Sep}|\p{SB=CR}|\p{SB=LF})?"
)
_GOES_ON = regex.compile(r"[\p{SB=SContinue}\p{SB=STerm}\p{SB=ATerm}]")
_NUMERIC = regex.compile(r"\p{SB=Numeric}")
_UPPER = regex.compile(r"\p{SB=Upper}")
_LETTER_BEFORE = regex.compile(r"[\p{SB=Upper}\p{SB=Lower}]")
_LOWER_AHEAD = regex.compile(
    r"(?:(?![\p{SB=OLetter}\p{SB=Upper}\p{SB=Lower}\p{SB=Sep}\p{SB=CR}\p{SB=LF}\p{SB=STerm}\p{SB=ATerm}]).){0,200}+\p{SB=Lower}",
    regex.S,
)


def sentences(text: str) -> list[str]:
    return _parts(text, [found.end() for found in _ENDS.finditer(text)])


def careful_sentences(text: str) -> list[str]:
    ends = []
    for found in _ENDS.finditer(text):
        if not found.group().startswith((".", "…")) or not _goes_on(text, found.start(), found.end()):
            ends.append(found.end())
    return _parts(text, ends)


def _goes_on(text: str, start: int, end: int) -> bool:
    before = _BEFORE.search(text[max(0, start - 20) : start]).group()
    # "Mr. Smith", "J. Smith" and "1. First" go on; so does what begins small
    lone = len(before) == 1 and before != "I" and before.isupper()
    listed = before.isdigit() and len(before) <= 2 and not text[: start - len(before)].rpartition("\n")[2].strip()
    return lone or listed or before.lower() in _ABBREVIATIONS or bool(_SMALL_NEXT.match(text, end))


def unicode_sentences(text: str) -> list[str]:
    return _parts(text, [found.end() for found in _SB.finditer(text) if not _unbroken(text, found)])


def _unbroken(text: str, found: regex.Match[str]) -> bool:
    if found["close"] is None or found["line"] is not None:
        return False
    end = found.end()
    if found["dot"] and not found["close"]:
        letter = _LETTER_BEFORE.match(text[found.start() - 1 : found.start()]) if found.start() else None
        if _NUMERIC.match(text, end) or (letter and _UPPER.match(text, end)):
            return True
    return bool((found["dot"] and _LOWER_AHEAD.match(text, end)) or _GOES_ON.match(text, end))


def _parts(text: str, ends: list[int]) -> list[str]:
    places = [0, *ends, len(text)]
    parts = [text[start:end].strip() for start, end in pairwise(places)]
    return [part for part in parts if _SAYS.search(part)]
