"""What changed from one run to another: verdicts, witnesses, published figures, and what is new or gone."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from .counts import idle, verdict_counts
from .matching import match_rows
from .published import check_published
from .store import Run

ANSWER = ("verdict", "alarm")
EXAMPLES = 3
KINDS = ("implementation", "template", "case")


@dataclass(frozen=True)
class Example:
    """A question whose answer changed; `old` and `new` are the answers, with what was raised."""

    params: str | None
    response_id: str | None
    response: str | None
    old: str
    new: str

    @property
    def kind(self) -> str:
        """`accept -> crash`, without what was raised."""
        return " -> ".join(answer.partition(":")[0] for answer in (self.old, self.new))


@dataclass(frozen=True)
class Change:
    """The changed answers of one implementation to one template in one check, out of `asked` in both runs.

    `kinds` counts each `accept -> reject`; `examples` have the shortest responses, one a kind first.
    """

    implementation: str
    versions: tuple[str | None, str | None]
    template: str
    check: str
    asked: int
    kinds: dict[str, int]
    examples: list[Example]

    @property
    def count(self) -> int:
        return sum(self.kinds.values())


@dataclass(frozen=True)
class Changes:
    """All of it; `pins` and `figures` map a name to what it was and what it is, None where it was not there."""

    rows: dict[str, int]  # old, new, both
    pins: dict[str, tuple[str | None, str | None]]
    verdicts: list[Change]
    witnesses: list[Change]
    figures: dict[str, tuple[str | None, str | None]]
    appeared: dict[str, list[str]]  # by kind: implementation, template, case
    gone: dict[str, list[str]]

    @property
    def any(self) -> bool:
        """Whether anything changed that a row can show."""
        rows = self.rows
        return bool(self.verdicts or self.witnesses or self.figures) or not rows["old"] == rows["new"] == rows["both"]

    def json(self) -> dict[str, Any]:
        """Everything as JSON values."""
        return {"changed": self.any, **asdict(self)}


Place = tuple[str, str, str]  # implementation, template, check
Counted = tuple[int, dict[str, int], list[Example]]


def changes(old: Run, new: Run) -> Changes:
    """Compare two runs question by question; the order of rows, the times and the names of tests do not matter.

    What did not run is not there: an implementation whose checkout was given in one run only appears or is gone.
    """
    tables = [_that_ran(run.table) for run in (old, new)]
    match = match_rows(tables[0], tables[1], ANSWER)
    versions = [_versions(run) for run in (old, new)]
    before, after = (table.take(pa.array(at)) for table, at in zip(tables, (match.old, match.new), strict=True))
    found = [
        Change(key, (versions[0].get(key), versions[1].get(key)), template, check, asked, kinds, examples)
        for (key, template, check), (asked, kinds, examples) in _changed(before, after).items()
    ]
    names = [_names(table) for table in tables]
    return Changes(
        rows={"old": tables[0].num_rows, "new": tables[1].num_rows, "both": len(match.old)},
        pins=_unequal(*versions),
        verdicts=[change for change in found if change.check != "witness"],
        witnesses=[change for change in found if change.check == "witness"],
        figures=_unequal(*(_figures(table) for table in tables)),
        appeared={kind: sorted(names[1][kind] - names[0][kind]) for kind in KINDS},
        gone={kind: sorted(names[0][kind] - names[1][kind]) for kind in KINDS},
    )


def answers(table: pa.Table) -> pa.Array:
    """`reject`, or `accept (vacuous)` where the alarm says more than the verdict."""
    verdict = pc.fill_null(table["verdict"], "no verdict")
    says_more = pc.fill_null(pc.not_equal(table["alarm"], table["verdict"]), False)
    with_alarm = pc.binary_join_element_wise(verdict, pc.fill_null(table["alarm"], ""), " (")
    with_alarm = pc.binary_join_element_wise(with_alarm, pa.scalar(""), ")")
    told = pc.if_else(says_more, with_alarm, verdict)
    return told.combine_chunks() if isinstance(told, pa.ChunkedArray) else told


def _that_ran(table: pa.Table) -> pa.Table:
    absent = pa.array(idle(verdict_counts(table)), pa.string())
    return table.filter(pc.invert(pc.fill_null(pc.is_in(table["implementation"], absent), False)))


def _changed(old: pa.Table, new: pa.Table) -> dict[Place, Counted]:
    """By place, in order: how many questions were asked there, and what became of those that changed."""
    place = ["implementation", "template", "check"]
    before, after = answers(old), answers(new)
    asked = {
        (row["implementation"], row["template"], row["check"]): row["count_all"]
        for row in old.group_by(place).aggregate([([], "count_all")]).to_pylist()
    }
    where = pc.indices_nonzero(pc.not_equal(before, after))
    columns = [*place, "params", "response_id", "response", "detail"]
    rows = old.select(columns).take(where).to_pylist()
    details = new["detail"].take(where).to_pylist()
    told = zip(rows, before.take(where).to_pylist(), after.take(where).to_pylist(), details, strict=True)
    groups: dict[Place, list[Example]] = {}
    for row, was, now, detail in told:
        example = Example(
            row["params"], row["response_id"], row["response"], _said(was, row["detail"]), _said(now, detail)
        )
        groups.setdefault((row["implementation"], row["template"], row["check"]), []).append(example)
    ordered = sorted(groups, key=lambda each: tuple(map(str, each)))
    return {each: (asked[each], *_kinds(groups[each])) for each in ordered}


def _said(answer: str, detail: str | None) -> str:
    return answer if detail is None else f"{answer}: {detail}"


def _kinds(examples: Sequence[Example]) -> tuple[dict[str, int], list[Example]]:
    """How often each kind of change came, the most frequent first, and some examples."""
    kinds: dict[str, list[Example]] = {}
    for example in sorted(examples, key=lambda each: (len(each.response or ""), each.response or "")):
        kinds.setdefault(example.kind, []).append(example)
    ordered = sorted(kinds.items(), key=lambda item: (-len(item[1]), item[0]))
    first = [of_kind[0] for _, of_kind in ordered] + [each for _, of_kind in ordered for each in of_kind[1:]]
    return {kind: len(of_kind) for kind, of_kind in ordered}, first[:EXAMPLES]


def _names(table: pa.Table) -> dict[str, set[str]]:
    rows = table.group_by(["check", "template", "implementation"]).aggregate([]).to_pylist()
    names: dict[str, set[str]] = {kind: set() for kind in KINDS}
    for row in rows:
        names["case"].add(" ".join(row[name] or "-" for name in ("check", "template", "implementation")))
        for kind in ("implementation", "template"):
            names[kind] |= {row[kind]} - {None}
    return names


def _versions(run: Run) -> dict[str, str]:
    pins = run.header.get("pins") or {}
    return {key: str(pin.get("version")) for key, pin in pins.items() if isinstance(pin, dict)}


def _figures(table: pa.Table) -> dict[str, str]:
    checks = check_published(table)
    return {f"{check.figure.id} {check.implementation}": check.got for check in checks if check.got is not None}


def _unequal(old: dict[str, str], new: dict[str, str]) -> dict[str, tuple[str | None, str | None]]:
    names: Iterable[str] = sorted({*old, *new})
    return {name: (old.get(name), new.get(name)) for name in names if old.get(name) != new.get(name)}
