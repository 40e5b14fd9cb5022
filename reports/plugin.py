"""The pytest plugin that collects the rows of an audit, with and without xdist, and tells of them at the end."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable, Generator, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from specs import DocumentError

from . import hookspec
from .folders import joined
from .header import new_run_id, run_header
from .ledger import CaseLedger
from .sharding import Shard, shard
from .store import Run, RunWriter, StoreError, close_run, discard_run, open_run
from .summary import summary_data, summary_lines

RecordRows = Callable[..., int]
_PROPERTY = "assay_rows"
_RECORDER = pytest.StashKey["Recorder"]()
_ROWS = pytest.StashKey[int]()
_SHARES = "assay_shares"
_SELECTED = pytest.StashKey[dict[str, Any]]()


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("assay reports")
    group.addoption(
        "--report-dir",
        type=Path,
        metavar="DIR",
        help="keep the rows of this run in DIR, as Parquet and CSV (default: streams in a temporary folder)",
    )
    group.addoption(
        "--shard",
        type=shard,
        metavar="I/N",
        help="run only share I of N of the selected cases; `python -m reports merge` joins the shares",
    )


def pytest_addhooks(pluginmanager: pytest.PytestPluginManager) -> None:
    pluginmanager.add_hookspecs(hookspec)


def pytest_configure(config: pytest.Config) -> None:
    given = getattr(config, "workerinput", {}).get(_PROPERTY)
    if given is None:
        # xdist starts its workers with these.
        params = config.invocation_params
        config.invocation_params = replace(params, args=joined(list(map(str, params.args))))  # type: ignore[misc]
        controller = Controller(config)
        config.stash[_RECORDER] = Recorder(controller.directory, controller.header, "main")
        config.pluginmanager.register(controller, "assay-reports")
    else:
        told = json.loads(given)
        config.stash[_RECORDER] = Recorder(
            Path(told["directory"]),
            lambda: told["header"],
            config.workerinput["workerid"],  # type: ignore[attr-defined]
        )


# Last, when -k, -m and the other plugins have chosen what there is to share.
@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    chosen: Shard | None = config.option.shard
    if chosen is None:
        return
    cases = [item.nodeid for item in items]
    share = chosen.share(cases)
    config.stash[_SELECTED] = chosen.of_cases(cases)
    if hasattr(config, "workeroutput"):
        config.workeroutput[_SHARES] = config.stash[_SELECTED]
    config.hook.pytest_deselected(items=[item for item in items if item.nodeid not in share])
    items[:] = [item for item in items if item.nodeid in share]


def pytest_report_header(config: pytest.Config) -> str | None:
    return f"shard: {config.option.shard}" if config.option.shard else None


@pytest.fixture
def record_rows(request: pytest.FixtureRequest) -> RecordRows:
    """Record the rows of this case: `record_rows(check=..., rows={column: values}, ...)`.

    Takes the keyword arguments of `reports.store.RunWriter.append`; `case` is the test's node id unless given.
    """
    return partial(request.config.stash[_RECORDER].record, request.node)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    # Told by the last report of a case, because properties are what xdist carries to the controller for free.
    if call.when == "teardown" and "record_rows" in getattr(item, "fixturenames", ()):
        report.user_properties.append((_PROPERTY, item.stash.get(_ROWS, 0)))
    return report


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session: pytest.Session) -> None:
    recorder = session.config.stash.get(_RECORDER, None)
    if recorder is not None:
        recorder.close()


class Recorder:
    """Writes the rows of one process; makes nothing on disk before the first of them."""

    def __init__(self, directory: Path, header: Callable[[], Mapping[str, Any]], worker: str) -> None:
        self.directory = directory
        self._header = header
        self._worker = worker
        self._writer: RunWriter | None = None

    def record(self, node: pytest.Item, *, case: str | None = None, **columns: Any) -> int:
        if self._writer is None:
            open_run(self.directory, self._header())
            self._writer = RunWriter(self.directory, self._worker)
        count = self._writer.append(case=node.nodeid if case is None else case, **columns)
        node.stash[_ROWS] = node.stash.get(_ROWS, 0) + count
        return count

    def close(self) -> None:
        if self._writer is not None:
            self._writer.close()


class Controller:
    """Follows all cases of a session, closes the run and prints its summary; silent where nothing was recorded."""

    def __init__(self, config: pytest.Config) -> None:
        self.config = config
        self.run = new_run_id()
        self.kept: Path | None = config.getoption("report_dir")
        # Absolute, because a test may change the working directory.
        self.directory = (self.kept or Path(tempfile.gettempdir()) / f"assay-{self.run}").absolute()
        self.ledger = CaseLedger()
        self.closed: Run | None = None
        self.failure: str | None = None
        self._header: dict[str, Any] | None = None

    def header(self) -> dict[str, Any]:
        if self._header is None:
            told = self.config.hook.pytest_assay_run_header(config=self.config)
            shard = self.config.option.shard
            told = [*told, *([{"shard": str(shard)}] if shard else [])]
            self._header = run_header(self.run, self.config.rootpath, self.config.invocation_params.args, told)
        return self._header

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionstart(self) -> None:
        # A folder that was asked for is tried now, not after an hour of work.
        if self.kept is not None and not self.config.option.collectonly:
            try:
                open_run(self.kept, self.header())
            except StoreError as error:
                raise pytest.UsageError(f"--report-dir: {error}") from error

    @pytest.hookimpl(optionalhook=True)
    def pytest_configure_node(self, node: Any) -> None:
        told = {"directory": str(self.directory), "header": self.header()}
        node.workerinput[_PROPERTY] = json.dumps(told, default=str)

    @pytest.hookimpl(optionalhook=True)
    def pytest_xdist_node_collection_finished(self, ids: list[str]) -> None:
        self.ledger.expect(ids)

    # Only workers collect; each that lives to its end tells of the cases that were shared out.
    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any) -> None:
        told = getattr(node, "workeroutput", {}).get(_SHARES)
        if told is not None:
            self.config.stash[_SELECTED] = told

    # The case that a worker was in when it died; xdist reports it as failed and starts another worker.
    @pytest.hookimpl(optionalhook=True)
    def pytest_handlecrashitem(self, crashitem: str) -> None:
        self.ledger.crashed(crashitem)

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        self.ledger.expect(item.nodeid for item in session.items)

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        if report.failed:
            self.ledger.not_collected(report.nodeid)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        rows = dict(report.user_properties).get(_PROPERTY)
        self.ledger.reported(report.nodeid, failed=report.failed)
        if report.when == "teardown":
            self.ledger.finished(report.nodeid, rows if isinstance(rows, int) else None)

    # Last, when xdist has taken its workers down and their streams have an end.
    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self, session: pytest.Session, exitstatus: int) -> None:
        stopped = session.shouldfail or session.shouldstop or ("interrupted" if exitstatus in (2, 3) else False)
        try:
            self._close(str(stopped) if stopped else "")
        except (StoreError, DocumentError) as error:
            self.failure = str(error)
        if session.exitstatus == pytest.ExitCode.NO_TESTS_COLLECTED and self._shares().get("cases"):
            # More shares than cases: one that is empty is done, or an array of jobs would fail for it.
            session.exitstatus = pytest.ExitCode.OK
        incomplete = self.closed is not None and not self.closed.complete
        if (incomplete or self.failure) and session.exitstatus == 0:
            session.exitstatus = pytest.ExitCode.TESTS_FAILED

    def _close(self, stopped: str) -> None:
        ledger, shares = self.ledger, self._shares()
        if not (ledger.rows or ledger.lost or shares) or not (self.directory / "header.json").exists():
            return
        self.config.stash[_RECORDER].close()
        self.closed = close_run(
            self.directory,
            cases=ledger.cases,
            lost=ledger.lost,
            reasons=ledger.reasons(stopped),
            rows=ledger.rows,
            keep_streams=self.kept is None,
            summarise=summary_data,
            shares=shares,
        )

    def _shares(self) -> dict[str, Any]:
        return self.config.stash.get(_SELECTED, {})

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        if self.failure is not None:
            terminalreporter.section("rows of the audit", red=True, bold=True)
            terminalreporter.write_line(f"INCOMPLETE: {self.failure}", red=True)
        if self.closed is not None:
            terminalreporter.section("rows of the audit")
            for line in summary_lines(replace(self.closed, directory=self.kept or self.directory)):
                terminalreporter.write_line(line)

    def pytest_unconfigure(self) -> None:
        # Also reached where another plugin stopped the session before it began.
        if self.kept is not None and self.closed is None:
            discard_run(self.kept, self.run)
