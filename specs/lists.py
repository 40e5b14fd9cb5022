"""The lists of words and texts from which parameters are drawn."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from types import MappingProxyType

from .documents import open_document
from .schemas import ROOM, schema

Lists = Mapping[str, tuple[str, ...]]


@cache
def load_words(path: Path = ROOM / "words.yaml") -> Lists:
    """The lists of `words.yaml` by name; raises `DocumentError` with all its problems."""
    return _lists(path, "words")


@cache
def load_texts(path: Path = ROOM / "texts.yaml") -> Lists:
    """The lists of `texts.yaml` by name; raises `DocumentError` with all its problems."""
    return _lists(path, "texts")


def _lists(path: Path, kind: str) -> Lists:
    lists = open_document(path, schema(kind)).data["lists"]
    return MappingProxyType({name: tuple(entry[kind]) for name, entry in lists.items()})
