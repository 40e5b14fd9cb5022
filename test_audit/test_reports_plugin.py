"""The reporting plugin in small sessions of its own: with and without workers, killed, stopped, and silent."""

import json
from pathlib import Path

import pytest

from reports.store import IncompleteRun, Run, read_run, same_rows

CASES = """
import os, signal, pytest

VERDICTS = ["accept", "reject", "crash"]

@pytest.mark.parametrize("name", ["a", "b", "c", "d"])
def test_case(record_rows, name):
    record_rows(collection="ifeval", template=name, implementation="liar", check="probe",
                rows={"instance": [0, 1, 2], "verdict": VERDICTS, "params": {"n": 1}})
"""
KILLED = (
    CASES
    + """
def test_killed(record_rows):
    os.kill(os.getpid(), signal.SIGKILL)
"""
)


@pytest.fixture
def audit(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch):
    """Runs a toy session with the plugin; the result, with what it printed."""
    monkeypatch.setenv("TMPDIR", str(pytester.path))
    monkeypatch.setattr("tempfile.tempdir", str(pytester.path))
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")

    def run(source: str, *arguments: str, conftest: str = "") -> pytest.RunResult:
        pytester.makeconftest(conftest)
        pytester.makepyfile(source)
        options = ["-p", "xdist.plugin", "-p", "reports.plugin", "-p", "no:cacheprovider", *arguments]
        return pytester.runpytest_inprocess(*options, no_reraise_ctrlc=True)

    return run


def kept(pytester: pytest.Pytester, name: str = "out", **options: bool) -> Run:
    return read_run(pytester.path / name, **options)


@pytest.mark.parametrize("workers", [[], ["-n", "2"]], ids=["alone", "two-workers"])
def test_rows_arrive_with_their_case(audit, pytester, workers):
    assert audit(CASES, "--report-dir", "out", *workers).ret == 0
    run = kept(pytester)
    assert run.complete
    assert run.closing["cases"] == 4
    assert run.table.num_rows == 12
    assert run.table["case"][0].as_py() == "test_rows_arrive_with_their_case.py::test_case[a]"
    assert run.table["params"][0].as_py() == '{"n":1}'


def test_workers_do_not_change_the_rows(audit, pytester):
    audit(CASES, "--report-dir", "one")
    audit(CASES, "--report-dir", "two", "-n", "2")
    assert same_rows(kept(pytester, "one"), kept(pytester, "two"))


def test_a_run_without_rows_is_silent(audit, pytester):
    result = audit("def test_nothing(): pass")
    result.stdout.no_fnmatch_line("*rows of the audit*")
    assert not list(pytester.path.glob("assay-*"))


def test_a_report_directory_without_rows_is_not_left_behind(audit, pytester):
    audit("def test_nothing(): pass", "--report-dir", "out")
    assert not (pytester.path / "out").exists()


def test_a_session_that_another_plugin_stops_leaves_nothing_behind(audit, pytester):
    hook = "import pytest\ndef pytest_sessionstart(): raise pytest.UsageError('no')"
    audit(CASES, "--report-dir", "out", conftest=hook)
    assert not (pytester.path / "out").exists()


def test_without_a_report_directory_a_temporary_one_is_named(audit, pytester):
    result = audit(CASES)
    (directory,) = pytester.path.glob("assay-*")
    result.stdout.fnmatch_lines([f"*{directory.name}*"])
    assert read_run(directory).table.num_rows == 12
    assert not (directory / "rows.parquet").exists()


def test_a_killed_worker_loses_only_its_unfinished_case(audit, pytester):
    result = audit(KILLED, "--report-dir", "out", "-n", "1")
    assert result.ret != 0
    result.stdout.fnmatch_lines(["*INCOMPLETE*", "*test_killed*"])
    with pytest.raises(IncompleteRun, match="test_killed"):
        kept(pytester)
    run = kept(pytester, incomplete=True)
    assert run.table.num_rows == 12
    assert run.closing["lost"] == [f"{Path(pytester.path).name.rstrip('0123456789')}.py::test_killed"]


def test_a_replaced_worker_does_not_write_into_the_stream_of_the_dead(audit, pytester):
    source = KILLED.replace("def test_case", "def test_zlast") + CASES.replace("test_case", "test_after")
    audit(source, "--report-dir", "out", "-n", "1")
    run = kept(pytester, incomplete=True)
    assert len(list((pytester.path / "out").glob("*.arrows"))) == 2
    assert run.table.num_rows == 24


def test_a_case_that_fails_before_its_rows_is_lost(audit, pytester):
    result = audit(CASES + "\ndef test_broken(record_rows): raise OSError", "--report-dir", "out")
    result.stdout.fnmatch_lines(["*INCOMPLETE*"])
    assert kept(pytester, incomplete=True).closing["lost"][0].endswith("test_broken")


def test_a_case_that_fails_after_its_rows_is_not_lost(audit, pytester):
    audit(CASES.replace('{"n": 1}})', "{\"n\": 1}})\n    assert name != 'b'"), "--report-dir", "out")
    assert kept(pytester).table.num_rows == 12


@pytest.mark.parametrize("workers", [[], ["-n", "1"]], ids=["alone", "one-worker"])
def test_stopping_at_the_first_failure_is_incomplete(audit, pytester, workers):
    audit(CASES + "\n    assert name != 'b'", "-x", "--report-dir", "out", *workers)
    with pytest.raises(IncompleteRun, match="cases did not run: stopping after 1 failures"):
        kept(pytester)


def test_a_collection_error_is_incomplete(audit, pytester):
    pytester.makepyfile(test_bad="import nowhere_to_be_found")
    audit(CASES, "--continue-on-collection-errors", "--report-dir", "out")
    with pytest.raises(IncompleteRun, match="not collected: test_bad"):
        kept(pytester)


def test_an_interrupted_session_is_incomplete(audit, pytester):
    audit(CASES + "\ndef test_stop(): raise KeyboardInterrupt\ndef test_never(): pass", "--report-dir", "out")
    with pytest.raises(IncompleteRun, match="2 of 6 cases did not run"):
        kept(pytester)


def test_another_run_is_never_overwritten(audit, pytester):
    audit(CASES, "--report-dir", "out")
    before = kept(pytester)
    result = audit(CASES, "--report-dir", "out")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["*out holds the run of*name another directory*"])
    assert kept(pytester).header == before.header


def test_an_unwritable_report_directory_is_told_before_any_case_runs(audit, pytester):
    (pytester.path / "file").write_text("")
    result = audit(CASES, "--report-dir", "file/out")
    result.stderr.fnmatch_lines(["*cannot make the directory file/out*"])
    assert result.ret == pytest.ExitCode.USAGE_ERROR


def test_other_plugins_contribute_to_the_header(audit, pytester):
    hook = "def pytest_assay_run_header(config): return {'seed': 7, 'pins': {'liar': '1.0'}}"
    audit(CASES, "--report-dir", "out", "-n", "1", conftest=hook)
    header = json.loads((pytester.path / "out" / "header.json").read_text())
    assert (header["seed"], header["pins"]) == (7, {"liar": "1.0"})
    assert header["packages"]["pytest"] == pytest.__version__
    assert header["arguments"][-2:] == ["-n", "1"]


def test_a_test_that_changes_directory_does_not_move_the_rows(audit, pytester):
    source = CASES.replace("    record_rows", "    os.chdir('/')\n    record_rows")
    audit(source, "--report-dir", "out").stdout.fnmatch_lines(["rows in out"])
    assert kept(pytester).table.num_rows == 12


def test_broken_probes_do_not_take_the_rows_with_them(audit, pytester, monkeypatch):
    from specs import DocumentError, Problem

    def broken() -> None:
        raise DocumentError([Problem("probes.yaml", 1, 1, "probes", "is broken")])

    monkeypatch.setattr("reports.summary.load_probes", broken)
    result = audit(CASES, "--report-dir", "out")
    result.stdout.fnmatch_lines(["INCOMPLETE: probes.yaml:1:1: probes: is broken"])
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    assert kept(pytester, incomplete=True).table.num_rows == 12
