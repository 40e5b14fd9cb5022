"""Constraints of one prompt that exclude each other as their arguments stand."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from verifiers_pinned.data import Instance, Prompt

from .quantities import Quantity, quantity

LOWER, CAPITAL = "ifeval/change_case:english_lowercase", "ifeval/change_case:english_capital"
LANGUAGE, COMMA = "ifeval/language:response_language", "ifeval/punctuation:no_comma"
REPEAT, QUOTED, JSON = (
    "ifeval/combination:repeat_prompt",
    "ifeval/startend:quotation",
    "ifeval/detectable_format:json_format",
)
CAPITALS, FORBIDDEN = "ifeval/change_case:capital_word_frequency", "ifeval/keywords:forbidden_words"
COUNTS = {
    "frequency": "relation",
    "let_frequency": "let_relation",
    "num_words": "relation",
    "num_sentences": "relation",
}
# Templates of which no two fit: what the one wants whole, the other begins or wraps otherwise.
EXCLUSIVE = [(LOWER, CAPITAL), (JSON, QUOTED), (JSON, REPEAT), (QUOTED, REPEAT)]

Pair = tuple[Instance, Instance, str]


def exclusive_pairs(prompt: Prompt) -> Iterator[Pair]:
    """Two instances that no response can satisfy by their words, and why."""
    for at, one in enumerate(prompt.instances):
        for other in prompt.instances[at + 1 :]:
            for first, second in ((one, other), (other, one)):
                if why := _excludes(first, second):
                    yield first, second, why
                    break


def _excludes(one: Instance, other: Instance) -> str | None:
    if (one.template, other.template) in EXCLUSIVE:
        return "both want the whole response"
    if one.template == LANGUAGE and one.params["language"] != "en" and other.template in (LOWER, CAPITAL, REPEAT):
        return "another language and English"
    if one.template == CAPITAL and other.template == CAPITALS and other.params["capital_relation"] == "less than":
        return "all in capitals, and few words in capitals"
    if one.template in (COMMA, LOWER, CAPITAL, FORBIDDEN):
        return next((why for text in needed(other) if (why := _refuses(one, text))), None)
    if one.template == REPEAT and other.template == "ifeval/length_constraints:number_words":
        long = len(one.params["prompt_to_repeat"].split())
        if other.params["relation"] == "less than" and long >= other.params["num_words"]:
            return f"the request to repeat has {long} words already"
    return "no number is left" if _no_number(one, other) else None


def needed(instance: Instance) -> list[str]:
    """The texts that a response must hold, letter by letter."""
    names = ("end_phrase", "postscript_marker", "section_spliter", "prompt_to_repeat")
    return [instance.params[name] for name in names if name in instance.params]


def _refuses(instance: Instance, text: str) -> str | None:
    if instance.template == COMMA and "," in text:
        return "no comma, and a text with one"
    if instance.template == LOWER and text != text.lower():
        return "no capital, and a text with one"
    if instance.template == CAPITAL and text != text.upper():
        return "all in capitals, and a text that is not"
    for word in instance.params.get("forbidden_words", ()):
        if re.search(rf"\b{re.escape(word)}\b", text, re.IGNORECASE):
            return f"{word!r} is forbidden and in a text to write"
    return None


def _no_number(one: Instance, other: Instance) -> bool:
    if one.template != other.template or _subject(one.params) != _subject(other.params):
        return False
    both = [
        quantity(instance.params[relation], int(instance.params[name]))
        for instance in (one, other)
        for name, relation in COUNTS.items()
        if name in instance.params
    ]
    left = both[0] & both[1] if len(both) == 2 else Quantity(None, None)
    return left.low is not None and left.high is not None and left.low > left.high


def _subject(params: Mapping[str, Any]) -> tuple[Any, Any]:
    return params.get("keyword"), params.get("letter")
