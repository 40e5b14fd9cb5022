"""The flags: properties of templates that an auditor wants to know, each said once."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from pathlib import Path

from .documents import DocumentError, open_document
from .schemas import ROOM, schema


@dataclass(frozen=True)
class Flag:
    """What is true of a template that carries it, and what follows for an audit."""

    id: str
    description: str
    effect: str


@cache
def load_flags(path: Path = ROOM / "flags.yaml") -> tuple[Flag, ...]:
    """The flags of `flags.yaml` in its order; raises `DocumentError` with all its problems."""
    document = open_document(path, schema("flags"))
    flags = tuple(Flag(**entry) for entry in document.data["flags"])
    first = {flag.id: index for index, flag in reversed(list(enumerate(flags)))}
    problems = [
        document.problem(("flags", index, "id"), f"{flag.id!r} stands in an earlier flag too")
        for index, flag in enumerate(flags)
        if first[flag.id] != index
    ]
    if problems:
        raise DocumentError(problems)
    return flags
