"""How many passing verdicts survive an edit of the response, or its being sent to another prompt."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from .layout import Columns, grouped
from .statistics import percent_interval

CHECKS = ("transform", "wrong_prompt")
ORIGINAL = "original"
ELSEWHERE = "wrong_prompt"
"""The group of responses that were sent to another prompt; edits are in the group before the `/` of their id."""

_PLACE = ("collection", "implementation", "template", "prompt", "instance")


def retention(table: pa.Table) -> list[dict[str, Any]]:
    """One record for each collection, implementation and group: `kept` of `passing` verdicts.

    A verdict counts where the original response passed: on the same instance, or, for a response to another prompt, on
    its own. What is not accepted afterwards was not kept, a crash and a timeout among it.
    """
    rows = table.filter(pc.is_in(table["check"], pa.array(CHECKS)))
    columns = [*_PLACE, "check", "response_id", "verdict"]
    told = rows.select(columns).to_pylist()
    passing = {(row["check"], _place(row)) for row in told if row["response_id"] == ORIGINAL and _accepted(row)}
    homes = _homes(told, passing)
    counts: dict[tuple[str, str, str], Counter[str]] = {}
    for row in told:
        group, _, name = row["response_id"].partition("/")
        if row["response_id"] == ORIGINAL:
            continue
        if row["check"] == ELSEWHERE:
            group, passed = ELSEWHERE, (*_owner(row), name) in homes
        else:
            passed = (row["check"], _place(row)) in passing
        if passed:
            count = counts.setdefault((row["collection"], row["implementation"], group), Counter())
            count.update(passing=1, kept=_accepted(row))
    return [
        {"collection": key[0], "implementation": key[1], "group": key[2], **count}
        for key, count in sorted(counts.items())
    ]


def _accepted(row: Mapping[str, Any]) -> bool:
    return bool(row["verdict"] == "accept")


def _place(row: Mapping[str, Any]) -> tuple[Any, ...]:
    return tuple(row[name] for name in _PLACE)


def _owner(row: Mapping[str, Any]) -> tuple[str, str, str]:
    return row["collection"], row["implementation"], row["template"]


def _homes(rows: Sequence[Mapping[str, Any]], passing: set[tuple[str, Any]]) -> set[tuple[str, ...]]:
    """Whose response to which prompt passed there."""
    return {
        (*_owner(row), row["prompt"])
        for row in rows
        if row["response_id"] == ORIGINAL and (row["check"], _place(row)) in passing
    }


def retention_lines(records: Sequence[Mapping[str, Any]], width: int) -> list[str]:
    """A table, a block a collection: the share of passing verdicts that was kept, with its interval."""
    groups = list(dict.fromkeys(record["group"] for record in records))
    lines = []
    for collection in dict.fromkeys(record["collection"] for record in records):
        cells: dict[str, list[str]] = {}
        for record in records:
            if record["collection"] == collection:
                row = cells.setdefault(record["implementation"], ["-"] * (1 + len(groups)))
                row[1 + groups.index(record["group"])] = percent_interval(record["kept"], record["passing"])
                row[0] = str(max(int(row[0]) if row[0] != "-" else 0, record["passing"]))
        blocks = grouped(cells)
        columns = Columns(("most passing", *groups), blocks, width)
        lines += [columns.head(collection).text, *(line.text for line in columns.block(blocks, 1000))]
    return lines
