"""Reads the pin files: one source a file, checked against the schema, then against each other, all problems at once."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from specs.documents import Document, DocumentError, Problem, open_document, read_document

from .coverage import Coverage, expand
from .pin_checks import check_across, check_document
from .pin_folders import PINS
from .pins import Catalogue
from .records import Archive, Caller, Checkout, Data, Entry, Implementation, Member, Replacement, Resource, Source

ROOM = Path(__file__).parent


def schema(name: str) -> dict[str, Any]:
    """The JSON Schema `_schema/<name>.json`."""
    loaded: dict[str, Any] = json.loads((ROOM / "_schema" / f"{name}.json").read_text(encoding="utf-8"))
    return loaded


def read_collections() -> dict[str, tuple[str, ...]]:
    """Each published collection with the full names of its templates."""
    found = read_document(ROOM / "collections.yaml", schema("collections"))
    return {name: tuple(f"{name}/{id_}" for id_ in ids) for name, ids in found.items()}


def read_catalogue(directories: Sequence[Path] | None = None) -> Catalogue:
    """See `pins.load_catalogue`."""
    collections = read_collections()
    pin_schema = schema("pin")
    documents: list[Document] = []
    problems: list[Problem] = []
    for path in _pin_paths(directories):
        try:
            document = open_document(path, pin_schema)
        except DocumentError as error:
            problems += error.problems
            continue
        problems += check_document(document, path.stem, collections)
        documents.append(document)
    problems += check_across(documents)
    if problems:
        raise DocumentError(problems)
    return _catalogue(documents, collections)


def _pin_paths(directories: Sequence[Path] | None) -> Iterator[Path]:
    for directory in [PINS] if directories is None else directories:
        yield from sorted(directory.glob("*.yaml"))


def pin_path(key: str, directories: Sequence[Path]) -> Path:
    """The file that pins the source `key`, which is its name."""
    return next(path for path in _pin_paths(directories) if path.stem == key)


def _catalogue(documents: Sequence[Document], collections: Mapping[str, tuple[str, ...]]) -> Catalogue:
    catalogue: dict[str, dict[str, Any]] = {
        kind: {} for kind in ("implementations", "callers", "data", "resources", "archives", "checkouts")
    }
    for document in documents:
        pin = document.data
        source = _source(pin)
        catalogue["archives" if isinstance(source, Archive) else "checkouts"][source.key] = source
        for key, each in pin.get("implementations", {}).items():
            catalogue["implementations"][key] = _implementation(key, each, source, collections)
        for key, each in pin.get("callers", {}).items():
            catalogue["callers"][key] = _caller(key, each, source)
        for key, each in pin.get("data", {}).items():
            catalogue["data"][key] = Data(key, source, Member(**each["member"]), each["rows"])
        for key, each in pin.get("resources", {}).items():
            members = tuple(Member(**member) for member in each["members"])
            catalogue["resources"][key] = Resource(key, source, each["root"], members)
    return Catalogue(**catalogue)


def _source(pin: Mapping[str, Any]) -> Source:
    if pin["kind"] == "checkout":
        return Checkout(pin["name"], pin["commit"], pin["license"], pin["repository"])
    return Archive(
        key=pin["name"],
        name=pin["name"],
        version=pin["version"],
        file=pin["file"],
        sha256=pin["sha256"],
        bytes=pin["bytes"],
        requires_python=pin["requires_python"],
        license=pin["license"],
        repository=pin.get("repository"),
        default=pin["default"],
    )


def _implementation(
    key: str, pin: Mapping[str, Any], source: Source, collections: Mapping[str, tuple[str, ...]]
) -> Implementation:
    coverage: Coverage = expand(pin, collections)
    entry = pin["entry"]
    return Implementation(
        key=key,
        collection=pin["collection"],
        style=pin["style"],
        source=source,
        members={name: Member(**member) for name, member in pin["members"].items()},
        entry=Entry(**{**entry, "arguments": tuple(entry.get("arguments", ()))}),
        replacements={name: _replacements(each) for name, each in pin.get("replacements", {}).items()},
        stand_ins=_stand_ins(pin),
        requires=tuple(pin["requires"]),
        needs=tuple(pin["needs"]),
        covers=coverage.covers,
        not_covered=coverage.not_covered,
        parameters=coverage.parameters,
        constants=coverage.constants,
        only=coverage.only,
        unchecked=tuple(pin.get("unchecked", ())),
    )


def _caller(key: str, pin: Mapping[str, Any], source: Source) -> Caller:
    return Caller(
        key=key,
        implementation=pin["implementation"],
        source=source,
        member=Member(**pin["member"]),
        symbols=tuple(pin["symbols"]),
        cut=pin.get("cut", False),
        replacements=_replacements(pin.get("replacements", [])),
        stand_ins=_stand_ins(pin),
    )


def _replacements(pins: Sequence[Mapping[str, Any]]) -> tuple[Replacement, ...]:
    return tuple(Replacement(**each) for each in pins)


def _stand_ins(pin: Mapping[str, Any]) -> dict[str, tuple[str, ...]]:
    return {name: tuple(objects) for name, objects in pin.get("stand_ins", {}).items()}
