"""Differences that are known, with their reasons: a new one is red, a known one xfails, one that is gone is red too."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from specs import DocumentError
from specs.documents import open_document

ROOM = Path(__file__).parent.parent / "known"
CLASSES = ["defect", "ambiguity", "by_design", "data"]
SCHEMA: Mapping[str, Any] = {
    "type": "object",
    "additionalProperties": False,
    "required": ["known"],
    "properties": {
        "known": {
            "type": "array",
            "items": {
                "type": "object",
                "additionalProperties": False,
                "required": ["id", "class", "rule", "at", "words"],
                "properties": {
                    "id": {
                        "description": "Its name in reports, unique in the file.",
                        "type": "string",
                        "pattern": "^[a-z][a-z0-9]*(-[a-z0-9]+)*$",
                    },
                    "class": {"description": "What it is, as for findings.", "enum": CLASSES},
                    "rule": {"description": "The rule that shows it.", "type": "string", "minLength": 1},
                    "at": {
                        "description": "Each place where it shows.",
                        "type": "array",
                        "minItems": 1,
                        "uniqueItems": True,
                        "items": {"type": "string"},
                    },
                    "words": {
                        "description": "What is so, and why that decides the class; in our words.",
                        "type": "string",
                        "minLength": 10,
                        "maxLength": 600,
                    },
                },
            },
        }
    },
}


class Place(NamedTuple):
    """A rule, and where it shows."""

    rule: str
    at: str


@dataclass(frozen=True)
class Settled:
    """`ids` has the known difference of each place that shows; `problems` are what makes the case red."""

    ids: Mapping[Place, str]
    problems: list[str]


def load_known(name: str, folder: Path = ROOM) -> dict[Place, str]:
    """The id of each known place, from `known/<name>.yaml`. Raises DocumentError."""
    document = open_document(folder / f"{name}.yaml", SCHEMA)
    places: dict[Place, str] = {}
    seen: set[str] = set()
    problems = []
    for number, entry in enumerate(document.data["known"]):
        if entry["id"] in seen:
            problems.append(document.problem(("known", number, "id"), f"{entry['id']} stands there twice"))
        seen.add(entry["id"])
        for at in entry["at"]:
            if (place := Place(entry["rule"], at)) in places:
                told = f"{entry['rule']} at {at} is {places[place]} already"
                problems.append(document.problem(("known", number, "at"), told))
            places[place] = entry["id"]
    if problems:
        raise DocumentError(problems)
    return places


def settle_known(found: Mapping[Place, str], known: Mapping[Place, str], asked: Collection[str]) -> Settled:
    """`found` has a detail for each place that shows; `asked` are all the `at` that the case looked at."""
    problems = [f"new: {place.rule} at {place.at}: {told}" for place, told in found.items() if place not in known]
    problems += [
        f"mended? {finding} no longer shows: {place.rule} at {place.at}"
        for place, finding in known.items()
        if place.at in asked and place not in found
    ]
    return Settled({place: known[place] for place in found if place in known}, problems)


def conclude(settled: Settled) -> None:
    """The colour of the case, as its last line."""
    import pytest

    __tracebackhide__ = True
    if settled.problems:
        pytest.fail("\n".join(settled.problems), pytrace=False)
    if settled.ids:
        pytest.xfail(", ".join(sorted(set(settled.ids.values()))))
