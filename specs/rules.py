"""What a template's file must keep to beyond its JSON Schema, each rule with the place where it is broken."""

from __future__ import annotations

import re
from collections.abc import Iterator

from jsonschema import Draft202012Validator

from .complaints import complaints
from .documents import Document, Problem, did_you_mean
from .draw_rules import draw_problems
from .flags import load_flags
from .wording import placeholders

METASCHEMA = Draft202012Validator(Draft202012Validator.META_SCHEMA)
NAMES = {"type": "array", "items": {"type": "string"}}
# what the rules about wording take for granted; a file with a misspelt keyword still has this shape
SHAPE = Draft202012Validator(
    {
        "required": ["wording", "parameters"],
        "properties": {
            "wording": {"type": "string"},
            "parameters": {
                "type": "object",
                "required": ["schema"],
                "properties": {
                    "schema": {
                        "type": "object",
                        "required": ["properties"],
                        "properties": {"properties": {"type": "object"}},
                    },
                    "unworded": NAMES,
                    "shown": {"type": "object"},
                },
            },
            "constants": {"type": "object"},
        },
    }
)


def rule_problems(document: Document, place: str, sound: bool) -> Iterator[Problem]:
    """Every broken rule that can be told; `place` is the id that the file's path says.

    Where the file is not `sound` under its JSON Schema, only the rules that do not depend on what is wrong are tried.
    """
    name = document.data.get("id", place)
    if name != place and isinstance(name, str):
        yield document.problem(("id",), f"{name!r} does not fit the file's place, which says {place!r}")
    if sound:
        wrong = list(schema_problems(document))
        yield from wrong
        # values are held against the schema, so only a sound one can tell
        if not wrong:
            yield from draw_problems(document)
        yield from flag_problems(document)
    if sound or SHAPE.is_valid(document.data):
        yield from wording_problems(document)


def schema_problems(document: Document) -> Iterator[Problem]:
    """What is wrong with `parameters.schema` as a schema, and what it says of parameters that it does not have."""
    place = ("parameters", "schema")
    parameters = document.data["parameters"]["schema"]
    for error in METASCHEMA.iter_errors(parameters):
        for complaint in complaints(error):
            yield document.problem((*place, *complaint.steps), complaint.message, key=complaint.key)
    properties = parameters["properties"]
    for index, name in enumerate(parameters["required"]):
        if name not in properties:
            message = f"{name!r} is required but not among the properties{did_you_mean(name, properties)}"
            yield document.problem((*place, "required", index), message)
    for name, declared in properties.items():
        below = (*place, "properties", name)
        pattern = declared.get("pattern")
        if pattern is not None and (reason := _unreadable(pattern)):
            yield document.problem((*below, "pattern"), f"{pattern!r} is not a regular expression: {reason}")
        else:
            yield from _example_problems(document, below)


def _unreadable(pattern: str) -> str | None:
    try:
        re.compile(pattern)
    except (re.error, OverflowError, RecursionError) as error:
        return str(error)
    return None


def _example_problems(document: Document, place: tuple[str, ...]) -> Iterator[Problem]:
    declared = document.data["parameters"]["schema"]["properties"][place[-1]]
    validator = Draft202012Validator(declared)
    for index, example in enumerate(declared.get("examples", ())):
        for error in validator.iter_errors(example):
            for complaint in complaints(error):
                yield document.problem((*place, "examples", index, *complaint.steps), complaint.message)


def wording_problems(document: Document) -> Iterator[Problem]:
    data, parameters = document.data, document.data["parameters"]
    properties, constants = parameters["schema"]["properties"], data.get("constants", {})
    named = placeholders(data["wording"])
    for name in dict.fromkeys(named):
        if name not in properties and name not in constants:
            hint = did_you_mean(name, [*properties, *constants])
            yield document.problem(("wording",), f"{{{name}}} is neither a parameter nor a constant{hint}")
    unworded = parameters.get("unworded", [])
    for name in properties:
        if name not in named and name not in unworded:
            message = f"{name!r} does not stand in the wording; add {{{name}}} there, or name it under 'unworded'"
            yield document.problem(("parameters", "schema", "properties"), message, key=name)
    for index, name in enumerate(unworded):
        if name not in properties or name in named:
            why = "does stand in the wording" if name in properties else "is not a parameter"
            hint = "" if name in properties else did_you_mean(name, properties)
            yield document.problem(("parameters", "unworded", index), f"{name!r} {why}{hint}")
    for name in parameters.get("shown", {}):
        if name not in named or name not in properties:
            hint = did_you_mean(name, properties)
            yield document.problem(("parameters", "shown"), f"{name!r} is no parameter in the wording{hint}", key=name)
    for name in constants:
        if name in properties:
            yield document.problem(
                ("constants",), f"{name!r} is a parameter's name; give the constant another", key=name
            )


def flag_problems(document: Document) -> Iterator[Problem]:
    known = [flag.id for flag in load_flags()]
    for index, flag in enumerate(document.data.get("flags", ())):
        if flag not in known:
            yield document.problem(("flags", index), f"{flag!r} is not in flags.yaml{did_you_mean(flag, known)}")
