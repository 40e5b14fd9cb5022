"""Finds where in a YAML file the characters of an expression stand, whichever way its text is written there."""

from __future__ import annotations

import re
from pathlib import Path

from ..composing import Place
from ..documents import Document, Problem
from ..problems import Steps, dotted
from .grammar import ExpressionError


def located(path: Path, document: Document, steps: Steps, source: str, error: ExpressionError) -> list[Problem]:
    """The faults of the expression that stands as `source` at `steps` of the document read from `path`."""
    start = document.composed.values[steps]
    lines = path.read_text(encoding="utf-8-sig").splitlines()
    problems = []
    for fault in error.faults:
        before = sum(len(line) + 1 for line in source.split("\n")[: fault.line - 1])
        place = place_of(lines, start, source, before + fault.column - 1)
        problems.append(Problem(document.file, *place, dotted(steps), fault.message))
    return problems


ESCAPE = re.compile(r"\\(?:x.{2}|u.{4}|U.{8}|.)")


def place_of(lines: list[str], start: Place, value: str, offset: int) -> Place:
    """Where the character `offset` of the text `value` stands, which is written from `start` on.

    Plain, quoted, literal and folded texts are all walked alike: white space may have become other white space.
    """
    line, column = start.line - 1, start.column - 1
    quote = lines[line][column : column + 1]
    if quote in ("|", ">"):
        line, column = line + 1, 0
    elif quote in ("'", '"'):
        column += 1
    here = Place(line + 1, column + 1)
    for character in value[: offset + 1]:
        escape = ESCAPE.match(lines[line], column) if quote == '"' else None
        if escape or character.isspace():
            here, column = Place(line + 1, column + 1), escape.end() if escape else column + 1
            continue
        while not lines[line][column:].strip() and line + 1 < len(lines):
            line, column = line + 1, 0
        # indentation, and white space that folding made one space
        column += len(lines[line][column:]) - len(lines[line][column:].lstrip())
        here, column = Place(line + 1, column + 1), column + (2 if quote == character == "'" else 1)
    return here
