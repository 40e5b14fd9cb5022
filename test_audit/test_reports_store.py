"""The store: rows survive kills, cuts and full disks, and a run with rows missing is refused."""

import errno
import itertools
import json
import os
import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reports.row import SCHEMA, row_batch
from reports.store import (
    IncompleteRun,
    RunWriter,
    StoreError,
    close_run,
    discard_run,
    in_order,
    open_run,
    read_run,
    rows_digest,
    same_rows,
)
from reports.streams import StreamWriter, read_stream, read_streams, stream_files

VERDICTS = ("accept", "reject", "crash", "timeout", "unsupported", "not_run")
HEADER = {"run": "r", "started": "then"}


@pytest.fixture
def directory(tmp_path):
    open_run(tmp_path / "run", HEADER)
    return tmp_path / "run"


def record(directory: Path, worker: str = "gw0", cases: int = 3, rows: int = 4, start: int = 0) -> None:
    with RunWriter(directory, worker) as writer:
        for case in range(start, start + cases):
            columns = {"instance": range(rows), "verdict": [VERDICTS[(case + row) % 6] for row in range(rows)]}
            writer.append(check="probe", case=f"case {case}", rows=columns)


def test_rows_come_back(directory):
    record(directory)
    closed = close_run(directory, cases=3, rows=12)
    assert closed.complete
    assert read_run(directory).table.equals(closed.table)
    assert not stream_files(directory)


def test_the_order_of_cases_and_workers_does_not_matter(tmp_path):
    for name, plan in (("one", [("gw0", 0), ("gw1", 2)]), ("two", [("gw7", 2), ("gw1", 0)])):
        open_run(tmp_path / name, {**HEADER, "run": name})
        for worker, start in plan:
            record(tmp_path / name, worker, cases=2, start=start)
        close_run(tmp_path / name, cases=4)
    assert same_rows(read_run(tmp_path / "one"), read_run(tmp_path / "two"))


@settings(deadline=None)
@given(st.permutations(range(4)), st.integers(0, 3))
def test_streams_join_in_any_order_and_grouping(order, cut):
    batches = [row_batch({"instance": [n, n + 1], "verdict": "accept"}, case=f"c{n}") for n in range(4)]
    parts = [pa.Table.from_batches([batches[n]], schema=SCHEMA) for n in order]
    left, right = pa.concat_tables([*parts[:cut], SCHEMA.empty_table()]), pa.concat_tables(parts[cut:])
    assert in_order(pa.concat_tables([left, right])).equals(in_order(pa.Table.from_batches(batches)))


def test_a_changed_row_changes_the_digest_and_a_time_does_not():
    def digest(**columns):
        return rows_digest(pa.Table.from_batches([row_batch({"verdict": ["accept", "reject"], **columns})]))

    assert digest(microseconds=[1.0, 2.0]) == digest(run="other")
    assert digest() != digest(detail="")
    assert digest(response="") != digest()
    assert digest(instance=[0, 1]) != digest(instance=[1, 0])


def test_a_run_without_closing_record_is_refused(directory):
    record(directory)
    with pytest.raises(IncompleteRun, match="no closing record"):
        read_run(directory)
    assert read_run(directory, incomplete=True).table.num_rows == 12


def test_lost_cases_make_an_incomplete_run_that_says_so(directory):
    record(directory)
    close_run(directory, cases=3, lost=["test_x"], reasons=["2 of 5 cases did not run"])
    with pytest.raises(IncompleteRun, match="2 of 5 cases did not run; lost: test_x"):
        read_run(directory)
    assert stream_files(directory)


def test_rows_that_were_recorded_and_are_not_there_are_noticed(directory):
    record(directory)
    assert close_run(directory, cases=3, rows=13).closing["reasons"] == ["13 rows were recorded and 12 are there"]


def test_a_stream_that_is_cut_after_the_closing_is_noticed(directory):
    record(directory)
    close_run(directory, cases=3, keep_streams=True)
    (path,) = stream_files(directory)
    os.truncate(path, path.stat().st_size - 100)
    with pytest.raises(IncompleteRun, match="12 rows were closed and 8 are there"):
        read_run(directory)


@pytest.fixture(scope="module")
def stream(tmp_path_factory):
    """The bytes of a whole stream of three cases, and a path to write cut copies to."""
    directory = tmp_path_factory.mktemp("stream")
    open_run(directory, HEADER)
    record(directory)
    (path,) = stream_files(directory)
    return path.read_bytes(), directory / "cut.arrows"


@settings(deadline=None)  # writes a file an example
@given(data=st.data())
def test_a_cut_stream_gives_a_head_of_its_cases(stream, data):
    content, path = stream
    length = data.draw(st.integers(0, len(content) - 1))
    path.write_bytes(content[:length])
    check_salvage(path, length)


def test_a_stream_cut_near_any_boundary_gives_a_head_of_its_cases(stream):
    content, path = stream
    for length in range(len(content) - 1, 0, -7):
        path.write_bytes(content[:length])
        check_salvage(path, length)


def check_salvage(path: Path, length: int) -> None:
    batches, ended = read_stream(path)
    assert not ended
    for case, batch in enumerate(batches):
        batch.validate(full=True)
        assert batch["case"].to_pylist() == [f"case {case}"] * 4
        assert batch["verdict"].to_pylist() == [VERDICTS[(case + row) % 6] for row in range(4)]


def test_a_tail_of_zeros_is_a_cut(stream):
    # What some file systems leave after a power cut.
    content, path = stream
    path.write_bytes(content[:-8] + bytes(4096))
    batches, ended = read_stream(path)
    assert (len(batches), ended) == (3, False)


def test_two_workers_of_one_name_have_two_files(directory):
    record(directory, "gw0", start=0)
    record(directory, "gw0", start=3)
    table, torn = read_streams(stream_files(directory))
    assert (table.num_rows, torn) == (24, [])


def test_a_killed_process_loses_only_what_it_had_not_appended(directory):
    source = (
        "import os, sys; from reports.store import RunWriter; w = RunWriter(sys.argv[1], 'gw0')\n"
        "for case in 'ab': w.append(check='probe', case=case, rows={'instance': [0, 1]})\n"
        "os.kill(os.getpid(), 9)"
    )
    subprocess.run([sys.executable, "-c", source, str(directory)], cwd=Path(__file__).parent.parent)
    assert read_run(directory, incomplete=True).table["case"].to_pylist() == ["a", "a", "b", "b"]


def test_a_full_disk_keeps_the_cases_before_it(directory, monkeypatch):
    writer = RunWriter(directory, "gw0")
    writer.append(check="probe", case="a", rows={"instance": [0]})
    write, calls = os.write, itertools.count()

    def full(file: int, data: bytes) -> int:
        if next(calls):
            raise OSError(errno.ENOSPC, "No space left on device")
        return write(file, data[:100])

    monkeypatch.setattr(os, "write", full)
    with pytest.raises(StoreError, match=r"rows-gw0-.*No space left on device; its earlier rows are kept"):
        writer.append(check="probe", case="b", rows={"instance": [0]})
    monkeypatch.undo()
    writer.append(check="probe", case="c", rows={"instance": [0]})
    writer.close()
    assert close_run(directory, cases=2).table["case"].to_pylist() == ["a", "c"]


def test_a_disk_that_is_full_at_the_close_leaves_no_half_file(directory, tmp_path):
    record(directory, rows=200)
    source = (
        "import resource, signal, sys; from pathlib import Path; from reports.store import close_run\n"
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN); resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))\n"
        "close_run(Path(sys.argv[1]), cases=3)"
    )
    done = subprocess.run(
        [sys.executable, "-c", source, str(directory)], cwd=Path(__file__).parent.parent, capture_output=True, text=True
    )
    assert "StoreError: cannot write" in done.stderr
    assert "nothing of it was kept" in done.stderr
    assert not [path.name for path in directory.iterdir() if "partial" in path.name or path.name == "rows.csv"]
    assert read_run(directory, incomplete=True).table.num_rows == 600


def test_another_run_is_refused(directory):
    with pytest.raises(StoreError, match="holds the run of then; name another directory"):
        open_run(directory, {"run": "other", "started": "now"})
    open_run(directory, HEADER)


def test_discarding_leaves_what_others_put_there(directory):
    (directory / "notes.txt").write_text("mine")
    discard_run(directory, "r")
    assert [path.name for path in directory.iterdir()] == ["notes.txt"]


def test_a_directory_without_a_run_is_named(tmp_path):
    with pytest.raises(StoreError, match="holds no run: it has no header"):
        read_run(tmp_path)


def test_a_broken_closing_record_is_named(directory):
    (directory / "closing.json").write_text('{"complete": tr')
    with pytest.raises(StoreError, match="is not JSON"):
        read_run(directory)


def test_a_stream_of_other_columns_is_refused(directory, monkeypatch):
    monkeypatch.setattr("reports.streams.SCHEMA", pa.schema([("other", pa.string())]))
    StreamWriter(directory, "gw0").close()
    monkeypatch.undo()
    with pytest.raises(StoreError, match="has other columns"):
        read_run(directory, incomplete=True)


def test_the_csv_has_the_rows_too(directory):
    record(directory)
    close_run(directory, cases=3)
    lines = (directory / "rows.csv").read_text().splitlines()
    assert lines[0].split(",")[0] == '"run"'
    assert len(lines) == 13
    assert json.loads((directory / "closing.json").read_text())["rows"] == 12
