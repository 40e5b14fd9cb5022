"""Calls that ask whether a verdict survives: of an edited response, and of a response to another prompt."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from random import Random

from oracles.transforms import apply_transform

from .calls import Call

GROUPS = {
    "whitespace": ("append_blank_line", "double_spaces", "trailing_spaces", "indent_lines", "windows_line_ends"),
    "case": ("upper_case", "lower_case"),
    "prefix": ("prefix_sentence",),
    "word_shuffle": ("shuffle_words",),
    "lexical_replacement": ("replace_words",),
}
"""The five groups of edits under which retention is counted, by the ids of `specs/transforms.yaml`."""

MOST_OTHERS = 12
"""To how many other prompts a response is sent at most."""


def transformed(originals: Sequence[Call]) -> list[Call]:
    """Each response as it is, and after each edit; the row's `response_id` is `group/edit`."""
    edits = [(group, name) for group, names in GROUPS.items() for name in names]
    return [
        *originals,
        *(
            Call(each.template, each.params, f"{group}/{name}", _edited(name, each), each.prompt, each.instance)
            for each in originals
            for group, name in edits
        ),
    ]


def _edited(name: str, call: Call) -> str:
    return apply_transform(name, call.response, Random(f"{name} {call.prompt}"))


def wrong_prompts(originals: Sequence[Call]) -> list[Call]:
    """Each response on its own prompt, and on others whose instance of the template has the same arguments."""
    return [*originals, *(call for at, call in enumerate(originals) for call in _elsewhere(call, at, originals))]


def _elsewhere(call: Call, at: int, originals: Sequence[Call]) -> Iterator[Call]:
    arguments = json.dumps(call.params, sort_keys=True)
    # those that follow first, so that each prompt gets as many strange responses as it lends
    others = [
        other
        for other in (*originals[at + 1 :], *originals[:at])
        if other.prompt != call.prompt and json.dumps(other.params, sort_keys=True) == arguments
    ]
    for other in others[:MOST_OTHERS]:
        yield Call(call.template, other.params, f"of/{call.prompt}", call.response, other.prompt, other.instance)
