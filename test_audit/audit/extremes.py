"""Hostile arguments within a template's schema: metacharacters where a text is asked for, ends where a number is."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import pairwise
from typing import Any

from specs import ParameterError, Template

from .calls import Call, Response
from .questions import drawn_params

METACHARACTERS = (".", ".*", "(", "[a", "\\", "a|b", "$^", "c++", "%s", "{0}", " ", "\u00e9", "\U0001f44d")
NUMBERS = (0, 1, 1_000_000)


def hostile_params(template: Template, params: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """`params` with one argument after the other replaced, as far as the schema allows."""
    return [changed for changed in _replaced(template, params) if changed != params and _allowed(template, changed)]


def _replaced(template: Template, params: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    for name, schema in template.parameters["properties"].items():
        if "enum" in schema or name not in params:
            continue
        yield from ({**params, name: value} for value in _values(schema))


def _values(schema: Mapping[str, Any]) -> tuple[Any, ...]:
    kind = schema["type"]
    if kind == "string":
        return METACHARACTERS
    if kind == "array":
        return tuple([value] for value in METACHARACTERS)
    ends = [schema[end] for end in ("minimum", "maximum") if end in schema]
    return tuple(dict.fromkeys([*ends, *NUMBERS])) if kind in ("integer", "number") else ()


def _allowed(template: Template, params: Mapping[str, Any]) -> bool:
    try:
        template.check_params(params)
    except ParameterError:
        return False
    return True


def telling_responses(params: Mapping[str, Any]) -> list[Response]:
    """Texts in which arguments may be looked for: without them, with them, they alone, and the spans that they name."""
    values = [value for each in params.values() for value in (each if isinstance(each, list) else [each])]
    said = " ".join(str(value) for value in values)
    return [
        ("plain", "A plain answer. It has two sentences.\n\nAnd a second paragraph."),
        ("with_arguments", f"Here they are: {said}. {said}"),
        ("arguments_alone", said),
        *spans(params),
    ]


def extreme_calls(template: Template) -> list[Call]:
    """Telling responses to small arguments with one of them made hostile."""
    small = drawn_params(template, "small")[0]
    return [
        Call(template.name, params, name, text)
        for params in hostile_params(template, small)
        for name, text in telling_responses(params)
    ]


def spans(params: Mapping[str, Any]) -> Iterator[Response]:
    """The part of each text argument between two numbers, counted in characters and in words."""
    numbers = [int(value) for value in params.values() if isinstance(value, int | float)]
    for text in (value for value in params.values() if isinstance(value, str) and " " in value):
        for first, last in pairwise(numbers):
            yield "span_of_characters", text[first:last]
            yield "span_of_words", " ".join(text.split()[first:last])
