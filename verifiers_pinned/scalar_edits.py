"""Changes single values in the text of a YAML file and leaves all else as it stands: comments, order and quotes."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from specs.composing import BOOLEAN, INTEGER, NULL, NUMBER, compose
from specs.problems import Steps

from .errors import PinError

# What needs no quotes as a value, in a block or between braces, unless it then is read as something else than text.
PLAIN = re.compile(r"[A-Za-z0-9_./][A-Za-z0-9_./+!-]*")
OTHER = (NULL, BOOLEAN, INTEGER, NUMBER)


def edited(text: str, changes: Mapping[Steps, str | int]) -> str:
    """The text with the value at each place (keys and indices from the top) replaced by a new one.

    Raises PinError where a place does not exist or its value is written in a way that cannot be replaced in place.
    """
    composed = compose(text)
    lines = text.split("\n")
    # From the last to the first, so that earlier columns stay right.
    for steps in sorted(changes, key=lambda each: composed.values.get(each, (0, 0)), reverse=True):
        place = composed.values.get(steps)
        if place is None:
            raise PinError(f"there is no {'.'.join(map(str, steps))}")
        line, start = lines[place.line - 1], place.column - 1
        old = _written(line[start:], _at(composed.data, steps))
        if old is None:
            raise PinError(f"line {place.line}, column {place.column}: write the value on one line, without escapes")
        lines[place.line - 1] = line[:start] + _token(changes[steps], old[0]) + line[start + len(old) :]
    return "\n".join(lines)


def _at(data: Any, steps: Steps) -> Any:
    for step in steps:
        data = data[step]
    return data


def _written(rest: str, value: object) -> str | None:
    """How `value` stands at the head of `rest`."""
    forms = (f'"{value}"', f"'{value}'", str(value))
    return next((form for form in forms if rest.startswith(form)), None)


def _token(value: str | int, quote: str) -> str:
    if isinstance(value, int):
        return str(value)
    if quote not in "\"'":
        if PLAIN.fullmatch(value) and not any(other.fullmatch(value) for other in OTHER):
            return value
        quote = '"'
    return f"{quote}{value}{quote}"
