"""What a schema cannot say about pin files: that names exist where they are used, and exist once."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from specs.documents import Document, Problem, did_you_mean

from .coverage import covered_collections

OF_ONE_KIND = {"checkout": ("version", "file", "sha256", "bytes", "requires_python", "default"), "wheel": ("commit",)}


def check_document(document: Document, stem: str, collections: Mapping[str, tuple[str, ...]]) -> Iterator[Problem]:
    """Problems inside one pin file whose name without its ending is `stem`."""
    pin = document.data
    if pin["name"] != stem:
        yield document.problem(["name"], f"the file is called '{stem}.yaml', so the name is '{stem}'")
    for key in OF_ONE_KIND[pin["kind"]]:
        if key in pin:
            yield document.problem([], f"a {pin['kind']} has no '{key}'", key=key)
    hashes: dict[str, str] = {}
    for steps, member in _members(pin):
        if hashes.setdefault(member["path"], member["sha256"]) != member["sha256"]:
            yield document.problem(
                [*steps, "sha256"], f"another sha256 than elsewhere in this file for {member['path']}"
            )
    for key, each in pin.get("implementations", {}).items():
        yield from _check_implementation(document, ["implementations", key], each, collections)


def _members(pin: Mapping[str, Any]) -> Iterator[tuple[list[str | int], Mapping[str, str]]]:
    for key, each in pin.get("implementations", {}).items():
        for name, member in each["members"].items():
            yield ["implementations", key, "members", name], member
    for kind in ("callers", "data"):
        for key, each in pin.get(kind, {}).items():
            yield [kind, key, "member"], each["member"]
    for key, each in pin.get("resources", {}).items():
        for index, member in enumerate(each["members"]):
            yield ["resources", key, "members", index], member


def _check_implementation(
    document: Document, at: list[str | int], pin: Mapping[str, Any], collections: Mapping[str, tuple[str, ...]]
) -> Iterator[Problem]:
    members = pin["members"]
    if pin["entry"]["module"] not in members:
        yield _unknown(document, [*at, "entry", "module"], pin["entry"]["module"], members, "member")
    yield from _check_entry(document, [*at, "entry"], pin["style"], pin["entry"])
    for module in pin.get("replacements", {}):
        if module not in members:
            yield _unknown(document, [*at, "replacements"], module, members, "member", key=module)
    for module in pin.get("stand_ins", {}):
        if module in members:
            yield document.problem(
                [*at, "stand_ins"], f"'{module}' is a member; a stand-in is another module", key=module
            )
    yield from _check_coverage(document, at, pin, collections)


def _check_entry(document: Document, at: list[str | int], style: str, entry: Mapping[str, Any]) -> Iterator[Problem]:
    if ("method" in entry) != (style == "method"):
        yield document.problem(at, "'method' belongs to style 'method', and to no other")
    arguments = entry.get("arguments", [])
    if bool(arguments) == (style == "class"):
        yield document.problem(at, "'arguments' belong to every style but 'class'")
    elif arguments and "text" not in arguments:
        yield document.problem([*at, "arguments"], "the response is not passed: 'text' is missing")
    if "**params" in arguments[:-1]:
        yield document.problem([*at, "arguments"], "'**params' comes last")


def _check_coverage(
    document: Document, at: list[str | int], pin: Mapping[str, Any], collections: Mapping[str, tuple[str, ...]]
) -> Iterator[Problem]:
    covers = pin["covers"]
    named = covered_collections(covers)
    for collection in [pin["collection"], *named]:
        if collection not in collections:
            yield _unknown(document, [*at, "covers"], collection, collections, "collection")
    templates = [name for collection in named for name in collections.get(collection, ())]
    left_out = covers["except"] if isinstance(covers, Mapping) else {}
    for name in left_out:
        if name not in templates:
            yield _unknown(document, [*at, "covers", "except"], name, templates, "template", key=name)
    kept = [name for name in templates if name not in left_out]
    for name in pin.get("templates", {}):
        if name not in kept:
            yield _unknown(document, [*at, "templates"], name, kept, "covered template", key=name)
    for index, name in enumerate(pin.get("unchecked", [])):
        if name not in kept:
            yield _unknown(document, [*at, "unchecked", index], name, kept, "covered template")


def check_across(documents: Sequence[Document]) -> Iterator[Problem]:
    """Problems between pin files: keys given twice, resources and implementations that no file declares."""
    kinds = ("implementations", "callers", "data", "resources")
    known: dict[str, dict[str, str]] = {kind: {} for kind in kinds}
    sources: dict[str, str] = {}
    for document in documents:
        first = sources.setdefault(document.data["name"], document.file)
        if first != document.file:
            yield document.problem(["name"], f"'{document.data['name']}' is declared in {first} too")
        for kind in kinds:
            for key in document.data.get(kind, {}):
                first = known[kind].setdefault(key, document.file)
                if first != document.file:
                    yield document.problem([kind], f"'{key}' is declared in {first} too", key=key)
    for document in documents:
        for key, each in document.data.get("implementations", {}).items():
            for index, need in enumerate(each["needs"]):
                if need not in known["resources"]:
                    at = ["implementations", key, "needs", index]
                    yield _unknown(document, at, need, known["resources"], "resource")
        for key, each in document.data.get("callers", {}).items():
            around = each["implementation"]
            if around not in document.data.get("implementations", {}):
                at = ["callers", key, "implementation"]
                yield _unknown(document, at, around, known["implementations"], "implementation of this source")


def _unknown(
    document: Document, at: Iterable[str | int], word: str, known: Iterable[str], kind: str, *, key: str | None = None
) -> Problem:
    return document.problem(at, f"no {kind} is called '{word}'{did_you_mean(word, known)}", key=key)
