"""Reads how many of something a prompt asks for: `at least 3`, `fewer than ten`, `no more than twice`, `exactly 4`."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

# fmt: off
WORDS = [
    "zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve",
    "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen", "twenty",
]
ORDINALS = ["zeroth", "first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth"]
# fmt: on
TENS = {"thirty": 30, "forty": 40, "fifty": 50, "sixty": 60, "hundred": 100}
OTHERS = {"once": 1, "single": 1, "twice": 2, "thrice": 3, "a": 1, "an": 1}
VALUES = {**{word: value for value, word in enumerate(WORDS)}, **TENS, **OTHERS}

_NUMBER = rf"(?P<n>\d[\d,]*|{'|'.join(sorted(VALUES, key=len, reverse=True))})\b"
# What may stand between a comparison and its number: "at least the following 3", "a minimum of about 3".
_FILL = r"(?:\s+(?:the|of|a|an|total|use|about|following|is|should|be))*[\s:(\"']*"
# What may stand between a number and "or more": "3 times or more", "3 words in total or more".
_UNIT = r"[\s)\"']*(?:[\w-]+\s+){0,3}?"
LEAST, MORE, LESS, MOST, EXACT = "at least", "more than", "less than", "at most", "exactly"
_BEFORE = {
    MOST: r"at most|no more than|not more than|up to|max(?:imum)?(?: of)?|not (?:to )?exceed(?:ing)?|no longer than",
    LEAST: r"at least|at minimum|min(?:imum)?(?: of)?|no (?:less|fewer) than|not less than|atleast|no shorter than",
    MORE: r"(?<!no )(?<!not )(?:more|greater|longer) than|over|exceed(?:s|ing)?|above",
    LESS: r"(?<!no )(?<!not )(?:less|fewer|lower|shorter) than|under|below",
    EXACT: r"exactly|precisely|only",
}
_AFTER = {
    LEAST: r"(?:or|and) (?:more|greater|above)|at (?:least|minimum)|minimum",
    MOST: r"(?:or|and) (?:less|fewer|below)",
}

_TURNED = {MORE: MOST, LESS: LEAST}
_NEGATION = re.compile(r"\b(?:avoid|not|never|don't|without)\b[^.!?\d]{0,40}$")
_RANGE = re.compile(rf"\b{_NUMBER}\s*(?:to|-|–|and|or)\s*{_NUMBER.replace('<n>', '<m>')}")
AROUND = 70


class Quantity(NamedTuple):
    """The whole numbers from `low` to `high`, None where there is no end."""

    low: int | None
    high: int | None

    def __str__(self) -> str:
        if self.low == self.high:
            return f"exactly {self.low}"
        if self.low is not None and self.high is not None:
            return f"{self.low} to {self.high}"
        return f"at most {self.high}" if self.low is None else f"at least {self.low}"

    def __and__(self, other: Quantity) -> Quantity:
        lows = [each for each in (self.low, other.low) if each is not None]
        highs = [each for each in (self.high, other.high) if each is not None]
        return Quantity(max(lows, default=None), min(highs, default=None))


def quantity(relation: str, number: int) -> Quantity:
    return {
        LEAST: Quantity(number, None),
        MORE: Quantity(number + 1, None),
        LESS: Quantity(None, number - 1),
        MOST: Quantity(None, number),
        EXACT: Quantity(number, number),
    }[relation]


def asked_quantities(text: str) -> dict[Quantity, str]:
    """Each comparison with a number that `text` holds, with the words around it, in lower case."""
    low = " ".join(text.lower().split())
    found: dict[Quantity, str] = {}
    for asked, match in _matches(low):
        around = low[max(0, match.start() - AROUND) : match.end() + AROUND]
        found[asked] = f"{found.get(asked, '')} {around}"
    return found


def _matches(low: str) -> Iterator[tuple[Quantity, re.Match[str]]]:
    for relation, words in _BEFORE.items():
        for match in re.finditer(rf"\b(?:{words}){_FILL}{_NUMBER}", low):
            # "avoid using it more than twice" asks for at most two
            turned = relation in _TURNED and _NEGATION.search(low[: match.start()])
            yield quantity(_TURNED[relation] if turned else relation, value_of(match["n"])), match
    for relation, words in _AFTER.items():
        for match in re.finditer(rf"\b{_NUMBER}(?=\+|{_UNIT}(?:{words}))", low):
            yield quantity(relation, value_of(match["n"])), match
    for match in re.finditer(r"\b(\d+)\+", low):
        yield quantity(LEAST, int(match[1])), match
    for match in _RANGE.finditer(low):
        yield Quantity(value_of(match["n"]), value_of(match["m"])), match


def numbers(text: str) -> set[int]:
    """Every number that `text` holds, in digits, as a word or as an ordinal."""
    return set(_numbers(text.lower()))


def _numbers(low: str) -> Iterator[int]:
    for match in re.finditer(rf"(?<![\w.]){_NUMBER}", low):
        yield value_of(match["n"])
    for match in re.finditer(r"(?<!\w)(\d+)(?:st|nd|rd|th|%|x)", low):
        yield int(match[1])
    for value, word in enumerate(ORDINALS):
        if re.search(rf"\b{word}\b", low):
            yield value


def value_of(number: str) -> int:
    return VALUES[number] if number in VALUES else int(number.replace(",", ""))
