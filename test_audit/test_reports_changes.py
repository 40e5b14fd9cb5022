"""What changed between two runs: all of it is told, nothing else is, and soon enough."""

import json
import random
import time
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reports.__main__ import main
from reports.change_lines import change_lines
from reports.changes import changes
from reports.matching import match_rows
from reports.row import SCHEMA, row_batch
from reports.store import Run, RunWriter, close_run, open_run

TEXTS = ["Yes.", "", "a longer response"]
BASE = {"response": TEXTS, "response_id": ["yes", "empty", "long"], "verdict": ["accept", "accept", "reject"]}


def batch(
    implementation: str = "copy", template: str = "ifeval/x:t", check: str = "probe", **columns
) -> pa.RecordBatch:
    rows = {**BASE, "params": {"n": 1}, **columns}
    return row_batch(rows, implementation=implementation, template=template, collection="ifeval", check=check)


def run_of(*batches: pa.RecordBatch, version: str = "1.0") -> Run:
    pins = {"copy": {"version": version}}
    return Run(Path("r"), {"run": "r", "pins": pins}, pa.Table.from_batches(batches, schema=SCHEMA), {"complete": True})


def test_a_run_is_unchanged_from_itself_in_whatever_order():
    one, two = batch(), batch(template="ifeval/x:u")
    found = changes(run_of(one, two), run_of(two, one))
    assert not found.any
    assert change_lines(found) == ["nothing changed in 6 rows"]


def test_a_renamed_test_changes_nothing():
    assert not changes(run_of(batch(case=["a", "b", "c"])), run_of(batch(case="renamed"))).any


def test_a_changed_verdict_is_told_with_its_version_and_the_shortest_example():
    new = batch(verdict=["reject", "accept", "crash"], detail=[None, None, "IndexError: x"])
    lines = change_lines(changes(run_of(batch()), run_of(new, version="1.1")))
    assert lines == [
        "3 rows before, 3 now, 3 asked the same",
        "pin copy: 1.0 -> 1.1",
        "2 verdicts changed",
        "  copy@1.0 -> 1.1 ifeval/x:t probe: 2 of 3: 1 accept -> reject, 1 reject -> crash",
        "    {\"n\":1} 'Yes.'",
        "      accept -> reject",
        "    {\"n\":1} 'a longer response'",
        "      reject -> crash: IndexError: x",
    ]


def test_an_alarm_that_comes_up_is_a_change():
    (change,) = changes(run_of(batch()), run_of(batch(alarm=[None, "vacuous", None]))).verdicts
    assert change.kinds == {"accept -> accept (vacuous)": 1}


def test_witnesses_are_told_apart():
    found = changes(run_of(batch(check="witness")), run_of(batch(check="witness", verdict="reject")))
    assert not found.verdicts
    assert "2 answers to witnesses changed" in change_lines(found)


def test_what_is_new_or_gone_is_named():
    found = changes(run_of(batch(), batch("gone")), run_of(batch(template="ifeval/x:u"), batch("came")))
    assert found.any
    assert found.appeared["implementation"] == ["came"]
    assert found.gone["implementation"] == ["gone"]
    assert found.appeared["template"] == ["ifeval/x:u"]
    assert "2 gone cases: probe ifeval/x:t copy, probe ifeval/x:t gone" in change_lines(found)


def test_one_who_did_not_run_before_is_new_and_has_no_changed_verdict():
    found = changes(run_of(batch(), batch("c", verdict="not_run")), run_of(batch(), batch("c")))
    assert (found.verdicts, found.appeared["implementation"]) == ([], ["c"])


def test_a_published_figure_that_changed_is_told():
    rows = {"prompt": ["1", "2", "3"], "instance": 0}
    found = changes(run_of(batch("lm_eval", **rows)), run_of(batch("lm_eval", **rows, verdict="reject")))
    was, now = found.figures["ifeval-empty-unguarded lm_eval"]
    assert (was[:3], now[:3]) == ("1/1", "0/1")


def test_a_repeated_question_changes_no_more_often_than_it_must():
    old = batch(response="x", response_id="x", verdict=["accept", "accept", "reject"])
    new = batch(response="x", response_id="x", verdict=["crash", "reject", "accept"])
    (change,) = changes(run_of(old), run_of(new)).verdicts
    assert change.kinds == {"accept -> crash": 1}


ROWS = st.lists(st.tuples(st.sampled_from("ab"), st.sampled_from(["accept", "reject"])), max_size=8)


def table(rows: list[tuple[str, str]]) -> pa.Table:
    columns = {"response": [text for text, _ in rows], "verdict": [verdict for _, verdict in rows]}
    return pa.Table.from_batches([row_batch(columns, check="c")], schema=SCHEMA)


@settings(deadline=None)
@given(ROWS, ROWS)
def test_matching_pairs_all_it_can_and_loses_none(old, new):
    match = match_rows(table(old), table(new), ["verdict"])
    assert sorted([*match.old, *match.only_old]) == list(range(len(old)))
    assert sorted([*match.new, *match.only_new]) == list(range(len(new)))
    assert all(old[one][0] == new[other][0] for one, other in zip(match.old, match.new, strict=True))
    texts = [[text for text, _ in rows] for rows in (old, new)]
    assert len(match.old) == sum(min(side.count(text) for side in texts) for text in "ab")
    same = sum(old[one] == new[other] for one, other in zip(match.old, match.new, strict=True))
    assert same == sum(min(old.count(row), new.count(row)) for row in set(old))


def stored(directory: Path, verdict: str) -> str:
    open_run(directory, {"run": directory.name})
    with RunWriter(directory) as writer:
        writer.append(implementation="copy", template="t", check="probe", case="c", rows={**BASE, "verdict": verdict})
    close_run(directory, cases=1)
    return str(directory)


@pytest.mark.parametrize(("verdict", "status"), [("accept", 0), ("reject", 1)])
def test_the_command_exits_with_1_where_something_changed(tmp_path, capsys, verdict, status):
    runs = [stored(tmp_path / "old", "accept"), stored(tmp_path / "new", verdict)]
    assert main(["compare", *runs]) == status
    capsys.readouterr()
    assert main(["compare", *runs, "--json"]) == status
    told = json.loads(capsys.readouterr().out)
    assert told["changed"] is bool(status)
    assert sum(sum(change["kinds"].values()) for change in told["verdicts"]) == 3 * status


def test_three_hundred_thousand_rows_are_compared_in_seconds():
    chance = random.Random(1)
    count = 300_000
    verdicts = chance.choices(["accept", "reject"], k=count)
    rows = {"response": [f"response {n % 5000}" for n in range(count)], "response_id": None, "prompt": None}
    rows["prompt"] = [str(n // 5000) for n in range(count)]
    old = row_batch({**rows, "verdict": verdicts}, implementation="a", template="t", check="c")
    changed = list(verdicts)
    for at in range(0, count, 1000):
        changed[at] = "crash"
    new = row_batch({**rows, "verdict": changed}, implementation="a", template="t", check="c").take(
        pa.array(np.random.default_rng(1).permutation(count))
    )
    begin = time.process_time()
    found = changes(run_of(old), run_of(new))
    assert time.process_time() - begin < 5
    assert sum(change.count for change in found.verdicts) == count // 1000
