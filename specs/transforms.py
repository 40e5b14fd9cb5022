"""The transforms: edits of a response that are made on purpose to see whether a verdict changes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from .documents import Document, DocumentError, Problem, open_document
from .schemas import ROOM, schema


class Example(NamedTuple):
    """A text, and what becomes of it whatever the random generator's state."""

    before: str
    after: str


@dataclass(frozen=True)
class Transform:
    """One edit; `group` says what it touches. Where it is not `deterministic`, a random generator decides too."""

    id: str
    group: str
    description: str
    deterministic: bool
    examples: tuple[Example, ...]


def load_transforms(path: Path | None = None) -> tuple[Transform, ...]:
    """The transforms of `transforms.yaml` in its order; raises `DocumentError` with all its problems."""
    document = _document(path)
    transforms = tuple(
        Transform(**{**entry, "examples": tuple(Example(**example) for example in entry["examples"])})
        for entry in document.data["transforms"]
    )
    problems: list[Problem] = []
    seen: set[str] = set()
    for index, transform in enumerate(transforms):
        if transform.id in seen:
            message = f"{transform.id!r} stands in an earlier transform too"
            problems.append(document.problem(("transforms", index, "id"), message))
        seen.add(transform.id)
    if problems:
        raise DocumentError(problems)
    return transforms


def load_synonyms(path: Path | None = None) -> Mapping[str, str]:
    """What stands for which word in a lexical replacement, both in lower case."""
    synonyms: Mapping[str, str] = _document(path).data["synonyms"]
    return synonyms


def _document(path: Path | None) -> Document:
    return open_document(path or ROOM / "transforms.yaml", schema("transforms"))
