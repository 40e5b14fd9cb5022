"""Builds plain data and the place of each value from YAML text, without ever running what the text says.

The scalars are those of YAML 1.2's core schema, so `yes`, `no`, `on`, `off`, `2024-05-01`, `12:30` and `1_000` stay
text; only `true`, `false`, `null`, decimal integers and decimal numbers are anything else. Anchors, aliases, tags and
more than one document are refused.
"""

from __future__ import annotations

import math
import re
from typing import Any, NamedTuple, NoReturn

import yaml

from .problems import Steps, quoted

DEEPEST = 32
MOST_VALUES = 20_000
LONGEST_INTEGER = 18

# libyaml where PyYAML was built with it; the plain loader gives the same events
Loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)

NULL = re.compile(r"(?:~|null|Null|NULL)?")
BOOLEAN = re.compile(r"true|True|TRUE|false|False|FALSE")
INTEGER = re.compile(r"[-+]?[0-9]+", re.ASCII)
NUMBER = re.compile(
    r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?|[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN)", re.ASCII
)


class Place(NamedTuple):
    """Line and column, from 1."""

    line: int
    column: int


class ComposeError(Exception):
    """The text is no document of ours: where, and why."""

    def __init__(self, place: Place, steps: Steps, message: str) -> None:
        super().__init__(message)
        self.place, self.steps, self.message = place, steps, message


class Composed(NamedTuple):
    """Data, the place of each value and of each mapping's key, and what could be read but is not allowed."""

    data: Any
    values: dict[Steps, Place]
    keys: dict[Steps, Place]
    refused: list[ComposeError]


def compose(text: str) -> Composed:
    """The one document in `text`; raises `ComposeError` where reading cannot go on."""
    loader = None
    try:
        loader = Loader(text)
        return _Composer(loader).document()
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        what = ", ".join(part for part in (error.context, error.problem) if part)
        raise ComposeError(_place(mark), (), f"not YAML: {what}") from None
    except (yaml.YAMLError, ValueError, OverflowError) as error:
        # the pure Python scanner lets chr() and int() complain about escapes and versions
        raise ComposeError(Place(1, 1), (), f"not YAML: {error}") from None
    finally:
        if loader is not None:
            loader.dispose()


def _place(mark: Any) -> Place:
    return Place(1, 1) if mark is None else Place(mark.line + 1, mark.column + 1)


class _Composer:
    def __init__(self, loader: Any) -> None:
        self.loader = loader
        self.values: dict[Steps, Place] = {}
        self.keys: dict[Steps, Place] = {}
        self.refused: list[ComposeError] = []
        self.count = 0

    def document(self) -> Composed:
        # events, not PyYAML's own nodes: limits hold before anything deep or large is built
        self.loader.get_event()
        if self.loader.check_event(yaml.StreamEndEvent):
            self.stop(Place(1, 1), (), "the file is empty")
        self.loader.get_event()
        data = self.value(())
        self.loader.get_event()
        if not self.loader.check_event(yaml.StreamEndEvent):
            self.stop(_place(self.loader.peek_event().start_mark), (), "a second document begins; a file holds one")
        return Composed(data, self.values, self.keys, self.refused)

    def value(self, steps: Steps) -> Any:
        event = self.loader.get_event()
        place = _place(event.start_mark)
        self.values[steps] = place
        self.count += 1
        if self.count > MOST_VALUES:
            self.stop(place, steps, f"more than {MOST_VALUES} values in one file")
        if len(steps) > DEEPEST:
            self.stop(place, steps[:3], f"nested deeper than {DEEPEST} levels")
        if isinstance(event, yaml.AliasEvent) or event.anchor is not None:
            self.stop(place, steps, "anchors and aliases (&, *) are not allowed; write the value out")
        if event.tag is not None:
            self.stop(
                place,
                steps,
                f"tags are not allowed, and {quoted(event.tag)} is one; put text that begins with ! in quotes",
            )
        if isinstance(event, yaml.MappingStartEvent):
            return self.mapping(steps)
        if isinstance(event, yaml.SequenceStartEvent):
            return self.sequence(steps)
        return self.scalar(event, place, steps)

    def mapping(self, steps: Steps) -> dict[str, Any]:
        found: dict[str, Any] = {}
        while not self.loader.check_event(yaml.MappingEndEvent):
            place = _place(self.loader.peek_event().start_mark)
            key = self.value((*steps, "<key>"))
            if not isinstance(key, str):
                self.refuse(place, steps, f"the key {quoted(key)} is not text; put it in quotes")
                key = quoted(key)
            below = (*steps, key)
            if key in found:
                first = self.keys[below].line
                self.refuse(place, steps, f"duplicate key {quoted(key)}; it stands in line {first} already")
            else:
                self.keys[below] = place
            found[key] = self.value(below)
        self.loader.get_event()
        return found

    def sequence(self, steps: Steps) -> list[Any]:
        found: list[Any] = []
        while not self.loader.check_event(yaml.SequenceEndEvent):
            found.append(self.value((*steps, len(found))))
        self.loader.get_event()
        return found

    def scalar(self, event: Any, place: Place, steps: Steps) -> Any:
        text: str = event.value
        # a quoted or block scalar is text whatever it looks like
        if event.style or not event.implicit[0]:
            return self.text(text, place, steps)
        if NULL.fullmatch(text):
            return None
        if BOOLEAN.fullmatch(text):
            return text.lower() == "true"
        if INTEGER.fullmatch(text):
            # int() of a long text is slow and, past 4,300 digits, an error
            if len(text) > LONGEST_INTEGER:
                self.refuse(
                    place, steps, f"the integer {quoted(text)} has too many digits; put it in quotes if it is text"
                )
                return 0
            return int(text)
        if NUMBER.fullmatch(text):
            return self.number(text, place, steps)
        return self.text(text, place, steps)

    def number(self, text: str, place: Place, steps: Steps) -> float:
        number = float(text) if "n" not in text.lower() else math.nan
        if not math.isfinite(number):
            self.refuse(place, steps, f"{quoted(text)} is not a finite number; put it in quotes if it is text")
            return 0.0
        return number

    def text(self, text: str, place: Place, steps: Steps) -> str:
        if any("\ud800" <= character <= "\udfff" for character in text):
            self.refuse(place, steps, "half of a surrogate pair is not a character")
            return text.encode("utf-8", "replace").decode("utf-8")
        return text

    def refuse(self, place: Place, steps: Steps, message: str) -> None:
        self.refused.append(ComposeError(place, steps, message))

    def stop(self, place: Place, steps: Steps, message: str) -> NoReturn:
        raise ComposeError(place, steps, message)
