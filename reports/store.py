"""The rows of a run on disk: written case by case, closed once, and read back only if they are all there."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet

from .files import StoreError, read_json, write_json, write_whole
from .row import SCHEMA, STABLE, RowError, row_batch
from .streams import StreamWriter, read_streams, stream_files

__all__ = [
    "IncompleteRun",
    "RowError",
    "Run",
    "RunWriter",
    "StoreError",
    "close_run",
    "closing_record",
    "discard_run",
    "open_run",
    "read_run",
    "rows_digest",
    "same_rows",
    "write_run",
]

FORMAT = 1
Summarise = Callable[[pa.Table], Mapping[str, Any]]
_HEADER, _CLOSING, _ROWS, _CSV, _SUMMARY = "header.json", "closing.json", "rows.parquet", "rows.csv", "summary.json"


class IncompleteRun(StoreError):
    """A run without all its rows, which no report is made of; says what is missing."""


@dataclass(frozen=True)
class Run:
    """A run as read back: `table` is in canonical order, `closing` empty where there is no closing record."""

    directory: Path
    header: dict[str, Any]
    table: pa.Table
    closing: dict[str, Any] = field(default_factory=dict)

    @property
    def complete(self) -> bool:
        """Whether the closing record says that every case left its rows."""
        return self.closing.get("complete") is True


def open_run(directory: Path, header: Mapping[str, Any]) -> None:
    """Make the directory of a run and its header; the workers of one run may all do so. Raises StoreError.

    A directory that holds another run is refused, never overwritten.
    """
    path = directory / _HEADER
    if path.exists():
        other = read_json(path)
        if other.get("run") != header["run"]:
            raise StoreError(
                f"{directory} holds the run of {other.get('started', 'an unknown time')}; "
                "name another directory, or remove that one first"
            )
        return
    try:
        directory.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise StoreError(f"cannot make the directory {directory}: {error.strerror}; name another one") from error
    write_json(path, {"format": FORMAT, **header})


def discard_run(directory: Path, run: str) -> None:
    """Take back the header of a run that recorded nothing, and the directory if nothing else is in it."""
    header = directory / _HEADER
    if stream_files(directory) or not header.exists() or read_json(header).get("run") != run:
        return
    header.unlink()
    if not any(directory.iterdir()):
        directory.rmdir()


class RunWriter:
    """What one worker appends its rows with, to a stream file of its own; `directory` has its header already."""

    def __init__(self, directory: Path | str, worker: str = "main") -> None:
        self.directory = Path(directory)
        self.run = str(read_json(self.directory / _HEADER)["run"])
        self.rows = 0
        self._stream = StreamWriter(self.directory, worker)

    def append(
        self,
        *,
        collection: str | None = None,
        template: str | None = None,
        implementation: str | None = None,
        check: str,
        case: str,
        rows: Mapping[str, object],
    ) -> int:
        """Write the rows of a case as one batch and return their number. Raises RowError or StoreError.

        `rows` maps columns to sequences of one length or to one value for all. A column named by keyword holds for
        the whole batch; `collection`, `template` and `implementation` may instead differ by row, in `rows`.
        """
        batch = row_batch(
            rows,
            run=self.run,
            collection=collection,
            template=template,
            implementation=implementation,
            check=check,
            case=case,
        )
        if batch.num_rows:
            self._stream.append(batch)
            self.rows += batch.num_rows
        return int(batch.num_rows)

    def close(self) -> None:
        """End the stream; a run whose stream has no end is salvaged, not lost."""
        self._stream.close()

    def __enter__(self) -> RunWriter:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def close_run(
    directory: Path,
    *,
    cases: int,
    lost: Sequence[str] = (),
    reasons: Sequence[str] = (),
    rows: int | None = None,
    keep_streams: bool = False,
    summarise: Summarise | None = None,
    shares: Mapping[str, Any] | None = None,
) -> Run:
    """Join the streams, write rows.parquet and rows.csv, and last of all the closing record. Raises StoreError.

    `rows` is how many rows the finished cases say they wrote: fewer found make the run incomplete, as are `lost`
    cases and `reasons`. With `keep_streams` the streams stay the only copy; an incomplete run keeps them always.
    `shares` is what `sharding.Shard.of_cases` says, for a run that is one share of another.
    """
    files = stream_files(directory)
    table, torn = read_streams(files)
    table = in_order(table)
    told = list(reasons)
    if rows is not None and table.num_rows < rows:
        told.append(f"{rows:,} rows were recorded and {table.num_rows:,} are there")
    if torn and not told and not lost:
        told.append(f"no end in {', '.join(path.name for path in torn)}")
    closing = closing_record(table, cases=cases, lost=lost, reasons=told, shares=shares)
    if not keep_streams:
        _write_rows(directory, table, closing, summarise)
    # Until here a kill leaves a run without closing record and with all its streams.
    write_json(directory / _CLOSING, closing)
    if closing["complete"] and not keep_streams:
        for path in files:
            path.unlink()
    return Run(directory, read_json(directory / _HEADER), table, closing)


def closing_record(
    table: pa.Table, *, cases: int, lost: Sequence[str], reasons: Sequence[str], shares: Mapping[str, Any] | None
) -> dict[str, Any]:
    """The last word of a run, whose rows are in canonical order."""
    return {
        "complete": not (reasons or lost),
        "rows": table.num_rows,
        "rows_sha256": _digest_in_order(table),
        "cases": cases,
        "lost": list(lost),
        "reasons": list(reasons),
        **({"shares": dict(shares)} if shares else {}),
    }


def write_run(
    directory: Path, header: Mapping[str, Any], table: pa.Table, closing: Mapping[str, Any], summarise: Summarise
) -> None:
    """A whole run at once, the closing record last. Raises StoreError; another run is never overwritten."""
    open_run(directory, header)
    _write_rows(directory, table, closing, summarise)
    write_json(directory / _CLOSING, closing)


def _write_rows(directory: Path, table: pa.Table, closing: Mapping[str, Any], summarise: Summarise | None) -> None:
    # Parquet keeps the repetitive columns as dictionaries by itself.
    write_whole(directory / _ROWS, lambda out: pa.parquet.write_table(table, out, compression="zstd"))
    write_whole(directory / _CSV, lambda out: pa.csv.write_csv(table, out))
    if summarise is not None and closing["complete"]:
        write_json(directory / _SUMMARY, summarise(table))


def read_run(directory: Path | str, *, incomplete: bool = False) -> Run:
    """A closed run. Raises IncompleteRun where rows are missing, unless `incomplete` asks for what there is."""
    directory = Path(directory)
    if not (directory / _HEADER).exists():
        raise StoreError(f"{directory} holds no run: it has no {_HEADER}")
    header = read_json(directory / _HEADER)
    closing = read_json(directory / _CLOSING) if (directory / _CLOSING).exists() else {}
    if not incomplete:
        _refuse_incomplete(directory, closing)
    run = Run(directory, header, _rows_of(directory, closing), closing)
    if not incomplete and run.table.num_rows != closing["rows"]:
        raise IncompleteRun(f"{directory}: {closing['rows']:,} rows were closed and {run.table.num_rows:,} are there")
    return run


def _refuse_incomplete(directory: Path, closing: Mapping[str, Any]) -> None:
    if not closing:
        raise IncompleteRun(f"{directory} has no closing record: the run was killed, or is still going")
    if closing.get("complete") is not True:
        lost = closing.get("lost", [])
        told = [*closing.get("reasons", []), *([f"lost: {', '.join(lost)}"] if lost else [])]
        raise IncompleteRun(f"{directory} is an incomplete run: {'; '.join(told)}")


def _rows_of(directory: Path, closing: Mapping[str, Any]) -> pa.Table:
    rows = directory / _ROWS
    if rows.exists() and closing:
        try:
            return pa.parquet.read_table(rows, partitioning=None).cast(SCHEMA)
        except (pa.ArrowException, OSError, ValueError) as error:
            raise StoreError(f"cannot read {rows}: {error}") from error
    table, _ = read_streams(stream_files(directory))
    return in_order(table)


def in_order(table: pa.Table) -> pa.Table:
    """The rows sorted by every stable column, so that neither workers nor time show in their order."""
    return table.sort_by([(name, "ascending") for name in STABLE])


def rows_digest(table: pa.Table) -> str:
    """SHA-256 of the rows in canonical order as CSV, without the columns that change from run to run."""
    return _digest_in_order(in_order(table))


def _digest_in_order(table: pa.Table) -> str:
    sink = pa.BufferOutputStream()
    pa.csv.write_csv(table.select(list(STABLE)), sink)
    return hashlib.sha256(sink.getvalue()).hexdigest()


def same_rows(one: Run | pa.Table, other: Run | pa.Table) -> bool:
    """Whether two runs of an audit gave the same rows, in whatever order and time."""
    tables = [item.table if isinstance(item, Run) else item for item in (one, other)]
    return rows_digest(tables[0]) == rows_digest(tables[1])
