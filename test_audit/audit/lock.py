"""The lock: what each implementation@version said to the witness of each finding, in a file that a run writes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import NamedTuple

import yaml

from reports.files import write_whole
from reports.row import WORDS
from specs import DocumentError, Problem
from specs.composing import ComposeError, compose
from specs.documents import Validator
from specs.problems import shown_path
from specs.schemas import schema

ALARMS = frozenset(WORDS["alarm"])
HEAD = "# What each implementation said to the witness of each finding. Written by `pytest -m audit --relock`.\n"


class Place(NamedTuple):
    """One witness as one implementation was asked about it; `implementation` is `key@version`."""

    finding: str
    template: str
    check: str
    implementation: str


Lock = Mapping[Place, str]
"""The kind of alarm at each place, or the verdict where there was no alarm."""


def read_lock(path: Path) -> dict[Place, str]:
    """The lock in the file at `path`, empty where there is none. Raises DocumentError."""
    if not path.exists():
        return {}
    file = shown_path(path)
    try:
        # grows past the size that documents written by hand may have
        composed = compose(path.read_text(encoding="utf-8"))
    except ComposeError as error:
        raise DocumentError([Problem(file, *error.place, "document", error.message)]) from None
    except (OSError, UnicodeDecodeError) as error:
        raise DocumentError([Problem(file, 1, 1, "document", f"cannot be read: {error}")]) from None
    for wrong in Validator(schema("lock")).iter_errors(composed.data):
        message = f"{wrong.message}; remove the file and write it again with --relock"
        place = composed.values[tuple(wrong.absolute_path)]
        raise DocumentError([Problem(file, *place, wrong.json_path, message)])
    return {
        Place(finding, template, check, implementation): said
        for finding, templates in composed.data["witnesses"].items()
        for template, checks in templates.items()
        for check, implementations in checks.items()
        for implementation, said in implementations.items()
    }


def merge_lock(old: Lock, seen: Lock, asks: Callable[[Place], bool], versions: Mapping[str, str]) -> dict[Place, str]:
    """The lock after a run that saw `seen`: what was not asked stays, unless it can never be asked again.

    That is so where no finding `asks` it any more, or where its key is pinned in another version by now.
    """

    def may_come_back(place: Place) -> bool:
        key, _, version = place.implementation.partition("@")
        return asks(place) and versions.get(key, version) == version

    return {**{place: said for place, said in old.items() if may_come_back(place)}, **seen}


def write_lock(path: Path, lock: Lock) -> None:
    """Write it sorted, one line for each implementation, whole or not at all. Raises StoreError."""
    tree: dict[str, dict[str, dict[str, dict[str, str]]]] = {}
    for place in sorted(lock):
        checks = tree.setdefault(place.finding, {}).setdefault(place.template, {})
        checks.setdefault(place.check, {})[place.implementation] = lock[place]
    text = HEAD + yaml.safe_dump({"witnesses": tree}, sort_keys=False, default_flow_style=False, width=1000)
    write_whole(path, lambda stream: stream.write(text.encode()))
