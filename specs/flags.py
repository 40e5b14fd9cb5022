"""The flags of templates and the traps of examples: what an auditor wants to know, each said once."""

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


@dataclass(frozen=True)
class Trap:
    """What makes an example worth asking: an input that readings or verifiers are likely to part over."""

    id: str
    description: str


@cache
def load_flags(path: Path = ROOM / "flags.yaml") -> tuple[Flag, ...]:
    """The flags of `flags.yaml` in its order; raises `DocumentError` with all its problems."""
    return tuple(Flag(**entry) for entry in _entries(path, "flags"))


@cache
def load_traps(path: Path = ROOM / "flags.yaml") -> tuple[Trap, ...]:
    """The traps of `flags.yaml` in its order; raises `DocumentError` with all its problems."""
    return tuple(Trap(**entry) for entry in _entries(path, "traps"))


def _entries(path: Path, key: str) -> list[dict[str, str]]:
    document = open_document(path, schema("flags"))
    problems = []
    for key_of, what in (("flags", "flag"), ("traps", "trap")):
        ids = [entry["id"] for entry in document.data.get(key_of, ())]
        problems += [
            document.problem((key_of, index, "id"), f"{name!r} stands in an earlier {what} too")
            for index, name in enumerate(ids)
            if name in ids[:index]
        ]
    if problems:
        raise DocumentError(problems)
    entries: list[dict[str, str]] = document.data.get(key, [])
    return entries
