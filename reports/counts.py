"""Counts over the rows of a run: verdicts, kinds of crash, kinds of alarm, and what did not run and why."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from .row import SIBLINGS, WORDS

VERDICTS = WORDS["verdict"]
_EXCEPTION = re.compile(r"[A-Za-z_][\w.]*")


@dataclass
class Reason:
    """A reason that several rows share: how many rows, and of which implementations."""

    label: str
    count: int = 0
    implementations: set[str] = field(default_factory=set)


def verdict_counts(table: pa.Table) -> dict[str, dict[str, int]]:
    """For each implementation, by name: how many rows have each verdict, zeros included."""
    counts: dict[str, dict[str, int]] = {}
    known = table.filter(pc.and_(pc.is_valid(table["verdict"]), pc.not_equal(table["implementation"], SIBLINGS)))
    grouped = known.group_by(["implementation", "verdict"]).aggregate([([], "count_all")])
    for row in grouped.to_pylist():
        verdicts = counts.setdefault(str(row["implementation"]), dict.fromkeys(VERDICTS, 0))
        verdicts[row["verdict"]] = row["count_all"]
    return dict(sorted(counts.items()))


def idle(counts: Mapping[str, Mapping[str, int]]) -> list[str]:
    """The implementations of `verdict_counts` that have no other verdict than `not_run`."""
    return [name for name, verdicts in counts.items() if 0 < verdicts["not_run"] == sum(verdicts.values())]


def nothing_ran(table: pa.Table) -> bool:
    """Whether there are verdicts and none of them is an answer of a verifier."""
    return bool(pc.unique(table["verdict"].drop_null()).to_pylist() == ["not_run"])


def crash_kinds(table: pa.Table) -> list[Reason]:
    """Kinds of crash, `template exception`, the most frequent first."""
    crashes = table.filter(pc.equal(table["verdict"], "crash"))
    return _reasons(crashes, ["template", "detail"], lambda row: f"{row['template']} {_exception(row['detail'])}")


def not_run_reasons(table: pa.Table) -> list[Reason]:
    """Why rows have the verdict `not_run`, the most frequent reason first."""
    skipped = table.filter(pc.equal(table["verdict"], "not_run"))
    return _reasons(skipped, ["detail"], lambda row: row["detail"] or "no reason given")


def alarm_counts(table: pa.Table) -> dict[str, int]:
    """How many rows alarm, by kind, the most frequent first."""
    alarms = table["alarm"].drop_null().value_counts().to_pylist()
    return {row["values"]: row["counts"] for row in sorted(alarms, key=lambda row: (-row["counts"], row["values"]))}


def _exception(detail: str | None) -> str:
    found = _EXCEPTION.match(detail or "")
    return found.group() if found else "without a word"


def _reasons(table: pa.Table, columns: list[str], label: Callable[[Mapping[str, Any]], str]) -> list[Reason]:
    reasons: dict[str, Reason] = {}
    for row in table.group_by([*columns, "implementation"]).aggregate([([], "count_all")]).to_pylist():
        name = label(row)
        reason = reasons.setdefault(name, Reason(name))
        reason.count += row["count_all"]
        reason.implementations.add(str(row["implementation"]))
    return sorted(reasons.values(), key=lambda reason: (-reason.count, reason.label))
