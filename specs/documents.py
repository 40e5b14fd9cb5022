"""Reads one YAML file against its JSON Schema and names everything wrong in it at once, by file, line and column."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from jsonschema import Draft202012Validator, ValidationError
from jsonschema.validators import extend

from .complaints import Complaint, complaints
from .composing import Composed, ComposeError, Place, compose
from .problems import DocumentError, Problem, did_you_mean, dotted, in_order, shown_path

__all__ = ["Document", "DocumentError", "Problem", "did_you_mean", "examine", "open_document", "read_document"]

LARGEST_BYTES = 256 * 1024
MOST_PROBLEMS = 100

# What YAML would refuse or, worse, silently fold into a line break: raw NEL, LS and PS count as breaks in YAML 1.1.
UNWELCOME = re.compile("[^\n\r\\x20-\\x7e\\xa0-\\u2027\\u202a-\\ud7ff\\ue000-\\ufffd\\U00010000-\\U0010ffff]|\r(?!\n)")


def _unique_items(_validator: Any, wanted: bool, instance: Any, _schema: Any) -> Iterator[ValidationError]:
    if (
        wanted
        and isinstance(instance, list)
        and len({json.dumps(item, sort_keys=True) for item in instance}) < len(instance)
    ):
        yield ValidationError("an item stands twice")


# the library compares every two items of a list that it cannot sort: minutes for a hostile file within the limits
Validator: Any = extend(Draft202012Validator, {"uniqueItems": _unique_items})  # type: ignore[no-untyped-call]


@dataclass(frozen=True)
class Document:
    """A file's plain data, and where each value of it stands, for those who check more than a schema can say."""

    file: str
    data: dict[str, Any]
    composed: Composed

    def problem(self, steps: Iterable[str | int], message: str, *, key: str | None = None) -> Problem:
        """A problem with the value at `steps`, placed at its key `key` where that is given."""
        return _problem(self.file, self.composed, Complaint(tuple(steps), message, key))


def read_document(path: Path, schema: Mapping[str, Any]) -> dict[str, Any]:
    """The data of the YAML file at `path`, valid under `schema` (Draft 2020-12).

    Raises `DocumentError` with all problems, whatever bytes the file holds: not UTF-8, control characters, tabs, more
    than 256 KiB, no YAML, anchors, aliases, tags, duplicate keys, more than 32 levels, no mapping at the top, or not
    what the schema says.
    """
    return open_document(path, schema).data


def open_document(path: Path, schema: Mapping[str, Any]) -> Document:
    """As `read_document`, with the places, so that a caller can report its own problems by line and column."""
    document, problems = examine(path, schema)
    if problems:
        raise DocumentError(_cut(in_order(problems)))
    return document


def examine(path: Path, schema: Mapping[str, Any]) -> tuple[Document, list[Problem]]:
    """A file that holds a mapping and all that is wrong with it, for a caller that goes on to look for more.

    Raises `DocumentError` only where there is no mapping to look at.
    """
    file = shown_path(path)
    text = _text(path, file)
    try:
        composed = compose(text)
    except ComposeError as error:
        raise DocumentError([Problem(file, *error.place, dotted(error.steps), error.message)]) from None
    problems = [Problem(file, *error.place, dotted(error.steps), error.message) for error in composed.refused]
    if not isinstance(composed.data, dict):
        problems.append(_problem(file, composed, Complaint((), "the top level is not a mapping of keys to values")))
        raise DocumentError(_cut(in_order(problems)))
    return Document(file, composed.data, composed), problems + _schema_problems(file, composed, schema)


def _text(path: Path, file: str) -> str:
    try:
        with path.open("rb") as stream:
            raw = stream.read(LARGEST_BYTES + 1)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise DocumentError([Problem(file, 1, 1, "document", f"cannot be read: {reason}")]) from None
    if len(raw) > LARGEST_BYTES:
        raise DocumentError([Problem(file, 1, 1, "document", f"larger than {LARGEST_BYTES // 1024} KiB")])
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        place = _place_of(raw[: error.start].decode("utf-8", "replace"))
        message = f"not UTF-8: byte 0x{raw[error.start]:02x}; save the file as UTF-8"
        raise DocumentError([Problem(file, *place, "document", message)]) from None
    unwelcome = [_unwelcome(file, text, found) for found in UNWELCOME.finditer(text, 0)]
    if unwelcome:
        raise DocumentError(_cut(unwelcome))
    return text


def _unwelcome(file: str, text: str, found: re.Match[str]) -> Problem:
    character = found.group()
    if character == "\t":
        message = 'a tab; indent with spaces, and write a tab in a text as "\\t" in double quotes'
    else:
        escape = f"\\x{ord(character):02x}" if ord(character) < 256 else f"\\u{ord(character):04x}"
        message = f'the character U+{ord(character):04X} stands here bare; write it as "{escape}" in double quotes'
    return Problem(file, *_place_of(text[: found.start()]), "document", message)


def _place_of(before: str) -> Place:
    return Place(before.count("\n") + 1, len(before) - before.rfind("\n"))


def _schema_problems(file: str, composed: Composed, schema: Mapping[str, Any]) -> list[Problem]:
    problems: list[Problem] = []
    for error in Validator(schema).iter_errors(composed.data):
        for complaint in complaints(error):
            problems.append(_problem(file, composed, complaint))
            if len(problems) > MOST_PROBLEMS:
                return problems
    return problems


def _problem(file: str, composed: Composed, complaint: Complaint) -> Problem:
    steps = complaint.steps
    place = composed.keys.get((*steps, complaint.key)) if complaint.key is not None else composed.values.get(steps)
    while place is None:
        place = composed.values.get(steps)
        steps = steps[:-1]
    return Problem(file, *place, dotted(complaint.steps), complaint.message)


def _cut(problems: list[Problem]) -> list[Problem]:
    """At most `MOST_PROBLEMS`, the last of which says that there are more."""
    if len(problems) <= MOST_PROBLEMS:
        return problems
    kept = problems[: MOST_PROBLEMS - 1]
    return [
        *kept,
        problems[MOST_PROBLEMS - 1]._replace(path="document", message="more problems follow; mend these first"),
    ]
