"""The pytest plugin of the audit: the fixture that settles a case, and the option that writes the lock anew."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import hypothesis
import pytest

from reports.files import StoreError
from reports.plugin import RecordRows
from specs import DocumentError
from verifiers_pinned.plugin import catalogue_of, needs_pins
from verifiers_pinned.session import BatchResult

from . import settling
from .adjudications import WITNESS, Adjudications
from .calls import Call, call_rows
from .lock import Place, merge_lock, write_lock
from .settling import Asked, Case, Settlement

_ADJUDICATIONS = pytest.StashKey[Adjudications]()
_PROPERTY = "assay_witnesses"


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("assay")
    group.addoption(
        "--adjudications", type=Path, metavar="DIR", help="findings and their lock (default: specs/adjudications)"
    )
    group.addoption(
        "--relock", action="store_true", help="write anew what the lock says of the witnesses that this run sends"
    )


# By the clock a test fails for what else the machine does.
hypothesis.settings.register_profile("assay", deadline=None)
hypothesis.settings.load_profile("assay")


def pytest_configure(config: pytest.Config) -> None:
    if config.getoption("relock") and not hasattr(config, "workerinput"):
        config.pluginmanager.register(Locksmith(config), "assay-relock")


def pytest_sessionstart(session: pytest.Session) -> None:
    config = session.config
    if config.getoption("relock") or (needs_pins(config) and not config.option.collectonly):
        adjudications_of(config)


def adjudications_of(config: pytest.Config) -> Adjudications:
    """The findings and their lock, read once; a wrong file is a usage error."""
    if _ADJUDICATIONS not in config.stash:
        try:
            config.stash[_ADJUDICATIONS] = Adjudications.load(config.getoption("adjudications"))
        except DocumentError as error:
            raise pytest.UsageError(f"the findings are wrong:\n{error}") from None
    return config.stash[_ADJUDICATIONS]


class Settler:
    """Records the rows of a case and gives it its colour; the last line of a check."""

    def __init__(self, node: pytest.Item, record: RecordRows) -> None:
        self._node, self._record = node, record
        self._adjudications = adjudications_of(node.config)

    def witnesses(self, template: str, check: str) -> list[Call]:
        """The witnesses of the template's findings, to be sent behind the check's own calls."""
        return self._adjudications.witness_calls(template, check)

    def __call__(
        self,
        calls: Sequence[Call],
        result: BatchResult,
        *,
        check: str,
        implementation: str,
        version: str | None = None,
        alarms: Sequence[str | None] | None = None,
        **columns: Any,
    ) -> None:
        """Green without alarms, xfail where findings cover all of them, red otherwise; the rows are kept in any case.

        `alarms` has one item a call where the check knows more than verdicts tell; `columns` are those of rows.
        `version` is the pin's where it is not given. Rows of witnesses are recorded under the check `witness`.
        """
        __tracebackhide__ = True
        template = calls[0].template
        case = Case(template, implementation, version or self._version(implementation), check)
        rows = {**call_rows(calls, result), **columns}
        if alarms is not None:
            rows["alarm"] = list(alarms)
        settled = settling.settle(case, list(_asked(calls, rows)), self._adjudications)
        self._keep(case, {**rows, "finding": settled.findings})
        if relock := self._node.config.getoption("relock"):
            # properties of the report are what xdist carries to the controller
            self._node.user_properties.append((_PROPERTY, json.dumps([*settled.witnessed.items()])))
        _conclude(case, rows, settled, relock)

    def _version(self, implementation: str) -> str:
        return catalogue_of(self._node.config).implementations[implementation].source.version

    def _keep(self, case: Case, rows: dict[str, list[Any]]) -> None:
        own = [not name.startswith(WITNESS) for name in rows["response_id"]]
        for check, wanted in ((case.check, True), ("witness", False)):
            chosen = {
                name: [value for value, mine in zip(column, own, strict=True) if mine is wanted]
                for name, column in rows.items()
            }
            if not chosen["verdict"]:
                continue
            self._record(
                collection=case.template.partition("/")[0],
                template=case.template,
                implementation=case.implementation,
                check=check,
                rows=chosen,
            )


def _asked(calls: Sequence[Call], rows: dict[str, list[Any]]) -> list[Asked]:
    columns = zip(calls, rows["verdict"], rows["alarm"], rows["detail"], strict=True)
    return [
        Asked(call.params, call.response, verdict, alarm, detail, _witness(call.response_id))
        for call, verdict, alarm, detail in columns
    ]


def _witness(name: str) -> str | None:
    return name.removeprefix(WITNESS) if name.startswith(WITNESS) else None


def _conclude(case: Case, rows: dict[str, list[Any]], settled: Settlement, relock: bool) -> None:
    __tracebackhide__ = True
    problems = [*settled.problems, *([] if relock else settled.unlocked)]
    if problems:
        pytest.fail("\n".join([f"{case.check} of {case.template}, {case.implementation}", *problems]), pytrace=False)
    if set(rows["verdict"]) == {"not_run"}:
        pytest.skip(rows["detail"][0])
    if settled.ids:
        pytest.xfail(", ".join(settled.ids))


@pytest.fixture
def settle(request: pytest.FixtureRequest, record_rows: RecordRows) -> Settler:
    """`settle(calls, result, check=..., implementation=...)`, the last line of a check; see `Settler`."""
    return Settler(request.node, record_rows)


class Locksmith:
    """Gathers what all workers saw of the witnesses and writes the lock when the session ends."""

    def __init__(self, config: pytest.Config) -> None:
        self.config = config
        self.seen: dict[Place, str] = {}
        self.told = ""

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.when == "call":
            for name, value in report.user_properties:
                if name == _PROPERTY:
                    self.seen.update((Place(*place), said) for place, said in json.loads(str(value)))

    def pytest_sessionfinish(self) -> None:
        pins = catalogue_of(self.config).implementations.values()
        versions = {each.key: each.source.version for each in pins}
        try:
            # read again, because findings and lock may have been added to since this run began
            adjudications = Adjudications.load(self.config.getoption("adjudications"))
            lock = merge_lock(adjudications.lock, self.seen, adjudications.asks, versions)
            write_lock(adjudications.path, lock)
        except (DocumentError, StoreError) as error:
            self.told = f"the lock was not written: {error}"
            return
        self.told = f"{adjudications.path}: {len(self.seen):,} of {len(lock):,} answers to witnesses are from this run"

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        if self.told:
            terminalreporter.write_line(self.told)
