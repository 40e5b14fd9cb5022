"""Joins the shards of one run into the run that they would have been unsplit.

What is merged is a run like any other and remembers its parts, so shards may be merged in any order and in any groups,
and the result is the same.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa

from .row import SCHEMA
from .store import Run, StoreError, closing_record, in_order, read_run, write_run
from .summary import summary_data

# What is each shard's own. All else in a header decides the rows, and has to be the same.
OWN = ("run", "started", "platform", "arguments", "shard", "parts")


class MergeError(StoreError):
    """Runs that are not the shards of one run, or not all of them; says which and what differs."""


def merge_runs(out: Path, runs: Sequence[Path], *, partial: bool = False) -> Run:
    """Write the run that the shards make up to the folder `out`.

    Raises MergeError where they do not belong together, where one is there twice or is incomplete, or where one is
    missing: with `partial` the result then is an incomplete run, to be merged with the rest later.
    """
    parts = [read_run(run, incomplete=True) for run in runs]
    for part in parts:
        _refuse_unfit(part)
    for part in parts[1:]:
        _refuse_stranger(parts[0], part)
    held = _held(parts)
    reasons = missing(held, parts[0].closing["shares"]["of"])
    if reasons and not partial:
        raise MergeError(f"{reasons[0]}; name it too, or merge these for now with --partial")
    merged = merge_header([part.header for part in parts])
    table = in_order(_renamed(pa.concat_tables(part.table for part in parts), merged["run"]))
    shares = {**parts[0].closing["shares"], "held": held}
    cases = sum(part.closing["cases"] for part in parts)
    closing = closing_record(table, cases=cases, lost=(), reasons=reasons, shares=shares)
    if (out / "header.json").exists():
        raise MergeError(f"{out} holds a run already; name another directory")
    write_run(out, merged, table, closing, summary_data)
    return Run(out, merged, table, closing)


def missing(held: Iterable[int], of: int) -> list[str]:
    """Why a run of these shares is incomplete, in one line, or nothing where it is not."""
    absent = sorted(set(range(1, of + 1)) - set(held))
    return [f"not merged: shard {', '.join(f'{index}/{of}' for index in absent)}"] if absent else []


def merge_header(headers: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """What the headers agree in, and under `parts` what is each shard's own, in the order of the shards."""
    parts = [part for header in headers for part in header.get("parts", [_own(header)])]
    parts.sort(key=lambda part: int(part["shard"].partition("/")[0]))
    shared = {name: value for name, value in headers[0].items() if name not in OWN}
    digest = hashlib.sha256("\n".join(part["run"] for part in parts).encode()).hexdigest()
    return {"run": f"merged-{digest[:16]}", "started": min(part["started"] for part in parts), **shared, "parts": parts}


def _own(header: Mapping[str, Any]) -> dict[str, Any]:
    return {name: header[name] for name in OWN if name in header}


def _refuse_unfit(part: Run) -> None:
    where, shares = part.directory, part.closing.get("shares")
    if not part.closing:
        raise MergeError(f"{where} has no closing record: the shard was killed, or is still going")
    if not shares:
        raise MergeError(f"{where} is not a shard: it was run without --shard")
    wrong = [reason for reason in part.closing["reasons"] if reason not in missing(shares["held"], shares["of"])]
    if lost := part.closing["lost"]:
        wrong.append(f"lost: {', '.join(lost)}")
    if wrong:
        raise MergeError(f"{where} is an incomplete shard, to be run again: {'; '.join(wrong)}")
    if part.table.num_rows != part.closing["rows"]:
        raise MergeError(f"{where}: {part.closing['rows']:,} rows were closed and {part.table.num_rows:,} are there")


def _refuse_stranger(first: Run, part: Run) -> None:
    """Refuse two parts whose headers or selections differ, naming the places."""
    where = f"{first.directory} and {part.directory} are not of one run"
    found = list(_differences(_shared(first.header), _shared(part.header)))
    one, other = (run.closing["shares"] for run in (first, part))
    if one["of"] != other["of"]:
        found.append(f"shards of {one['of']} and of {other['of']}")
    elif one["cases_sha256"] != other["cases_sha256"]:
        found.append(f"other cases were selected ({one['cases']:,} and {other['cases']:,}): use the same options")
    if found:
        raise MergeError(f"{where}: {'; '.join(found)}")


def _shared(header: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in header.items() if name not in OWN}


def _differences(one: Any, other: Any, at: str = "") -> Iterable[str]:
    if isinstance(one, Mapping) and isinstance(other, Mapping):
        for name in sorted({*one, *other}):
            yield from _differences(one.get(name), other.get(name), f"{at}.{name}" if at else name)
    elif one != other:
        yield f"{at} is {_told(one)} and {_told(other)}"


def _told(value: Any) -> str:
    return "absent" if value is None else str(value)


def _held(parts: Sequence[Run]) -> list[int]:
    counts = Counter(index for part in parts for index in part.closing["shares"]["held"])
    of = parts[0].closing["shares"]["of"]
    if twice := [index for index, count in sorted(counts.items()) if count > 1]:
        places = [str(part.directory) for part in parts if twice[0] in part.closing["shares"]["held"]]
        raise MergeError(f"shard {twice[0]}/{of} is there more than once: {', '.join(places)}")
    return sorted(counts)


def _renamed(table: pa.Table, run: str) -> pa.Table:
    return table.set_column(0, SCHEMA.field("run"), pa.repeat(pa.scalar(run, pa.string()), table.num_rows))
