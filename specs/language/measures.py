"""The measures: named, typed functions of text that expressions may call, declared here and computed elsewhere."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from ..documents import DocumentError, Problem, open_document
from ..schemas import ROOM, schema
from .built_ins import NAMES
from .kinds import Kind, fits, parse_kind


@dataclass(frozen=True)
class Measure:
    """One function of text: the kinds of its arguments by name, of its result, what it means and who says so."""

    id: str
    takes: Mapping[str, Kind]
    gives: Kind
    definition: str
    source: str

    @property
    def usage(self) -> str:
        return f"{self.id}({', '.join(f'{name}: {kind}' for name, kind in self.takes.items())})"

    def given(self, kinds: tuple[Kind, ...]) -> Kind | None:
        """The kind of the result for arguments of these kinds, None where they do not fit."""
        wanted = tuple(self.takes.values())
        fine = len(kinds) == len(wanted) and all(map(fits, kinds, wanted))
        return self.gives if fine else None


def load_measures(path: Path | None = None) -> dict[str, Measure]:
    """The measures of `measures.yaml` by id; raises `DocumentError` with all its problems."""
    document = open_document(path or ROOM / "measures.yaml", schema("measures"))
    measures: dict[str, Measure] = {}
    problems: list[Problem] = []
    for index, entry in enumerate(document.data["measures"]):
        name = entry["id"]
        if name in measures or name in NAMES:
            what = "stands in an earlier measure too" if name in measures else "is the name of something built in"
            problems.append(document.problem(("measures", index, "id"), f"{name!r} {what}"))
        kinds: dict[str, Kind] = {}
        for at, said in (("gives", entry["gives"]), *((f"takes.{key}", kind) for key, kind in entry["takes"].items())):
            try:
                kinds[at] = parse_kind(said)
            except ValueError as error:
                problems.append(document.problem(("measures", index, *at.split(".")), str(error)))
        if not problems:
            takes = {key: kinds[f"takes.{key}"] for key in entry["takes"]}
            measures[name] = Measure(name, takes, kinds["gives"], entry["definition"], entry["source"])
    if problems:
        raise DocumentError(problems)
    return measures
