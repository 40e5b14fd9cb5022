"""Whether two runs gave the same rows, and where they first differ."""

from __future__ import annotations

from collections import Counter
from typing import Any, NamedTuple

from .row import STABLE
from .store import Run, same_rows

Row = tuple[Any, ...]


class Difference(NamedTuple):
    """A row that one of the runs has more often than the other."""

    run: str  # the directory that has it
    row: dict[str, Any]  # without the columns that are null


def row_differences(one: Run, other: Run, *, most: int = 10) -> list[Difference]:
    """The first rows that are not in both runs, in canonical order; empty where the runs are the same."""
    if same_rows(one, other):
        return []
    rows_one, rows_other = _counted(one), _counted(other)
    found = [(row, one.directory) for row in (rows_one - rows_other).elements()]
    found += [(row, other.directory) for row in (rows_other - rows_one).elements()]
    found.sort(key=lambda pair: (["" if value is None else str(value) for value in pair[0]], str(pair[1])))
    return [Difference(str(directory), _told(row)) for row, directory in found[:most]]


def _counted(run: Run) -> Counter[Row]:
    columns = [run.table[name].to_pylist() for name in STABLE]
    return Counter(zip(*columns, strict=True))


def _told(row: Row) -> dict[str, Any]:
    return {name: value for name, value in zip(STABLE, row, strict=True) if value is not None}
