"""The colours of a case in small sessions with two workers, the rows that it leaves, and the lock that it writes."""

import re

import pytest

from audit.lock import Place, read_lock, write_lock
from reports.store import read_run

TEMPLATE = "ifeval/punctuation:no_comma"
CHECK = """
import pytest
from audit.calls import Call
from verifiers_pinned.session import BatchResult
from verifiers_pinned.verdicts import Verdict

CRASHES = {
    "green": [], "known": ["", " "], "beside": ["", " ", "d"], "uncovered": [" ", "b c"], "mended": [],
    "new": [""], "unlocked": ["", " "], "wide": ["", " "], "absent": [],
}

@pytest.mark.parametrize("name", CRASHES)
def test_toy(settle, name):
    calls = [Call("TEMPLATE", {}, f"text{at}", text) for at, text in enumerate(["a", " ", "b c", "d"])]
    calls += settle.witnesses("TEMPLATE", "toy")
    result = BatchResult.blank(len(calls))
    for at, call in enumerate(calls):
        verdict = Verdict.crash if call.response in CRASHES[name] else Verdict.reject
        result.put(at, Verdict.not_run if name == "absent" else verdict)
    settle(calls, result, check="toy", implementation=name, version="1")
""".replace("TEMPLATE", TEMPLATE)
FINDING = f"""
id: toy
template: {TEMPLATE}
class: defect
title: A toy crashes on a blank response
words: A blank response holds no comma, so there is an answer.
checks: [toy]
alarms: [crash]
implementations: [known, beside, mended, unlocked]
when: is_blank(text)
witnesses: [{{params: {{}}, response: ""}}]
date: 2026-01-31
"""
WIDE = (
    FINDING.replace("id: toy", "id: wide")
    .replace("is_blank(text)", "len(text) < 9")
    .replace("[known, beside, mended, unlocked]", "[wide]")
)
LOCKED = {"crash": ["known", "beside", "mended", "wide"], "reject": ["green", "uncovered", "new"]}
LOCK = {
    Place(finding, TEMPLATE, "toy", f"{name}@1"): said
    for finding in ("toy", "wide")
    for said, names in LOCKED.items()
    for name in names
}


@pytest.fixture
def session(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch):
    """Runs the toy check; the colour of each case is added to what it printed."""
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    plugins = [f"-p{name}" for name in ("xdist.plugin", "verifiers_pinned.plugin", "reports.plugin", "audit.plugin")]
    folder = pytester.path / "adjudications"
    (folder / "ifeval").mkdir(parents=True)
    (folder / "ifeval" / "toy.yaml").write_text(FINDING, encoding="utf-8")
    (folder / "ifeval" / "wide.yaml").write_text(WIDE, encoding="utf-8")
    write_lock(folder / "lock.yaml", LOCK)
    pytester.makepyfile(CHECK)

    def run(*options: str) -> pytest.RunResult:
        offline = ["-pno:cacheprovider", "-mnot (audit or panel)"]
        kept = ["--adjudications", "adjudications", "--report-dir", "out"]
        return pytester.runpytest_inprocess(*plugins, *offline, *kept, "-rA", *options)

    return run


def colours(result: pytest.RunResult) -> dict[str, str]:
    return {name: colour for colour, name in re.findall(r"^([A-Z]+) .*test_toy\[(\w+)\]", result.stdout.str(), re.M)}


def rows(pytester: pytest.Pytester) -> list[dict]:
    return read_run(pytester.path / "out").table.to_pylist()


def test_every_situation_has_its_colour_and_leaves_its_rows(session, pytester):
    result = session("-n2")
    red = dict.fromkeys(["beside", "uncovered", "mended", "new", "unlocked", "wide"], "FAILED")
    assert colours(result) == {"green": "PASSED", "known": "XFAIL", **red}
    result.assert_outcomes(passed=1, xfailed=1, failed=6, skipped=1)
    for lines in (
        ["XFAIL *known? - toy"],
        [
            "toy of *no_comma, beside",
            "crash in 1 call, explained by no finding*",
            "*response: 'd'",
            "*--implementation b*",
        ],
        ["toy of *, uncovered", "crash in 2 calls, explained by no finding*", "*response: ' '"],
        ["mended? mended@1 on the witness of finding toy says reject, and the lock says crash*"],
        ["toy of *, new", "crash in 2 calls*", "*response: ''", "new? new@1 on the witness of finding toy*"],
        ["not in the lock: unlocked@1 on the witness of finding toy says crash; *run again with --relock"],
        ["finding wide reaches too far: 2 of the 5 inputs that meet its `when` alarm here*"],
        ["complete: 54 rows of 9 cases"],
    ):
        result.stdout.fnmatch_lines(lines)
    known = [row for row in rows(pytester) if row["implementation"] == "known"]
    assert [row["finding"] for row in known if row["alarm"]] == ["toy"] * 3
    assert {row["check"] for row in known} == {"toy", "witness"}


def test_relock_writes_what_the_workers_saw(session, pytester):
    other = Place("toy", TEMPLATE, "toy", "another@7")
    path = pytester.path / "adjudications" / "lock.yaml"
    write_lock(path, {**LOCK, other: "timeout"})
    result = session("-n2", "--relock", "-k", "known or mended or unlocked")
    result.stdout.fnmatch_lines(["*6 of 17 answers to witnesses are from this run"])
    assert colours(result) == {"known": "XFAIL", "mended": "PASSED", "unlocked": "XFAIL"}
    lock = read_lock(path)
    seen = {place.implementation: said for place, said in lock.items() if place.finding == "toy"}
    assert seen["mended@1"] == "reject"
    assert seen["unlocked@1"] == seen["known@1"] == "crash"
    assert {place: lock[place] for place in LOCK if "mended" not in place.implementation}.items() <= LOCK.items()
    assert lock[other] == "timeout"


def test_a_wrong_finding_is_told_before_any_case_runs(session, pytester):
    path = pytester.path / "adjudications" / "ifeval" / "toy.yaml"
    path.write_text(FINDING.replace("is_blank", "is_blnk"), encoding="utf-8")
    result = session("--relock")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["*toy.yaml:10:7: when: there is no measure 'is_blnk'; did you mean 'is_blank'?"])
