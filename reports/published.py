"""Published figures about verifiers, each recomputed from the rows of a run where that can be done."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa

from specs import read_document

from .acceptance import ANY, acceptance
from .layout import grouped
from .statistics import proportion, wilson
from .summary import content_free_probes

_FIGURES = Path(__file__).with_name("published") / "figures.yaml"


@dataclass(frozen=True)
class Figure:
    """A published figure; `query` and `implementations` are empty where nothing can recompute it."""

    id: str
    sentence: str
    value: Mapping[str, Any]
    source: str
    state: str  # reproduced | differs | not_comparable | not_available
    why: str
    query: Mapping[str, str]
    implementations: tuple[str, ...]  # empty with a query: all in the run

    @property
    def expected(self) -> str:
        """The value as it is written: `61/541 [8.9, 14.2]`, `130 to 136/344`."""
        low, high = _range(self.value["numerator"])
        interval = self.value.get("interval")
        count = f"{low}" if low == high else f"{low} to {high}"
        return f"{count}/{self.value['denominator']}" + (f" [{interval[0]}, {interval[1]}]" if interval else "")


class Check(NamedTuple):
    """What a run gives for a figure and an implementation.

    `agrees` is None where the two are not to be compared; `got` is None where nothing was measured, the
    implementation not in the run or not run.
    """

    figure: Figure
    implementation: str | None
    expected: str
    got: str | None
    agrees: bool | None


def load_figures(path: Path = _FIGURES) -> tuple[Figure, ...]:
    """The published figures; raises specs.DocumentError with all that is wrong, ValueError on unknown names."""
    data = read_document(path, json.loads(_FIGURES.with_suffix(".json").read_text(encoding="utf-8")))
    figures = tuple(_figure(entry, data) for entry in data["figures"])
    ids = [figure.id for figure in figures]
    if repeated := sorted({name for name in ids if ids.count(name) > 1}):
        raise ValueError(f"{path}: figures with the same id: {', '.join(repeated)}")
    return figures


def check_published(table: pa.Table, figures: Iterable[Figure] | None = None) -> list[Check]:
    """Every figure against every implementation it should hold for and that the run has probed.

    A figure without a query, or whose implementations the run lacks, gives one check that compares nothing.
    """
    counts: dict[tuple[str, ...], Mapping[str, Any]] = {
        (row["collection"], row["probe"], row["level"], row["guard"], row["implementation"]): row
        for row in acceptance(table, content_free_probes()).to_pylist()
    }
    checks: list[Check] = []
    for figure in load_figures() if figures is None else figures:
        checks += _checks(figure, counts)
    return checks


def published_lines(checks: Sequence[Check]) -> list[str]:
    """A line for each figure, and one below it for each group of implementations that give the same."""
    lines: list[str] = []
    for figure in dict.fromkeys(check.figure.id for check in checks):
        mine = [check for check in checks if check.figure.id == figure]
        lines.append(f"{figure}: published {mine[0].expected}, {mine[0].figure.state}")
        if mine[0].figure.why:
            lines.append(f"    {mine[0].figure.why}")
        cells = {check.implementation: [_told(check)] for check in mine if check.implementation is not None}
        lines += [f"  {group.cells[0]}: {', '.join(group.names)}" for group in grouped(cells)]
        if not cells and mine[0].figure.query:
            lines.append("  not in this run")
    return lines


def _figure(entry: Mapping[str, Any], data: Mapping[str, Any]) -> Figure:
    query = dict(entry.get("query", {}))
    wanted = query.pop("implementations", ())
    if isinstance(wanted, str) and wanted != "all":
        if wanted not in data["implementations"]:
            raise ValueError(f"figure {entry['id']}: no list of implementations is called {wanted!r}")
        wanted = data["implementations"][wanted]
    if entry["source"] not in data["sources"]:
        raise ValueError(f"figure {entry['id']}: no source is called {entry['source']!r}")
    return Figure(
        entry["id"],
        entry["sentence"],
        entry["value"],
        data["sources"][entry["source"]],
        entry["state"],
        entry.get("why", ""),
        query,
        () if wanted == "all" else tuple(wanted),
    )


def _checks(figure: Figure, counts: Mapping[tuple[str, ...], Mapping[str, Any]]) -> list[Check]:
    query = figure.query
    if not query:
        return [Check(figure, None, figure.expected, None, None)]
    probe = ANY if query["probe"] == "any_content_free" else query["probe"]
    place = (query["collection"], probe, query["level"], query["guard"])
    there = {key[-1]: row for key, row in counts.items() if key[:-1] == place}
    found = [_check(figure, name, there[name]) for name in figure.implementations or there if name in there]
    return found or [Check(figure, None, figure.expected, None, None)]


def _check(figure: Figure, implementation: str, counts: Mapping[str, Any]) -> Check:
    accepted, total = counts["accepted"], counts["total"]
    if not total:
        return Check(figure, implementation, figure.expected, None, None)
    low, high = _range(figure.value["numerator"])
    agrees = low <= accepted <= high and total == figure.value["denominator"]
    if interval := figure.value.get("interval"):
        agrees = agrees and [round(100 * end, 1) for end in wilson(accepted, total) or ()] == interval
    comparable = figure.state in ("reproduced", "differs")
    return Check(figure, implementation, figure.expected, proportion(accepted, total), agrees if comparable else None)


def _range(numerator: int | Mapping[str, int]) -> tuple[int, int]:
    return (numerator, numerator) if isinstance(numerator, int) else (numerator["from"], numerator["to"])


def _told(check: Check) -> str:
    if check.got is None:
        return "not run"
    words = {True: "agrees", False: "DIFFERS", None: "not compared"}
    return f"{words[check.agrees]}, {check.got}"
