"""The summary: liars show as what they are, and thirty implementations fit one screen."""

from pathlib import Path

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reports.layout import ascii_line, cut, fitted, fitted_names, grouped, shares
from reports.picture import picture
from reports.row import SCHEMA, row_batch
from reports.store import Run
from reports.summary import summary_data, summary_lines

PROBES = {"empty": "", "yes": "Yes.", "number": "42"}
DETAILS = {"crash": "ZeroDivisionError: division by zero", "not_run": "no checkout given"}


def liar(name: str, verdict: str, prompts: int = 10, collection: str = "ifeval") -> pa.RecordBatch:
    """Rows of an implementation that says one thing to everything."""
    columns = {
        "prompt": [str(prompt) for prompt in range(prompts) for _ in PROBES],
        "response_id": list(PROBES) * prompts,
        "response": list(PROBES.values()) * prompts,
        "detail": DETAILS.get(verdict),
        "instance": 0,
        "verdict": verdict,
    }
    return row_batch(
        columns, collection=collection, template=f"{collection}/x:t", implementation=name, check="probe", case=name
    )


def run_of(*batches: pa.RecordBatch, **closing: object) -> Run:
    table = pa.Table.from_batches(batches, schema=SCHEMA)
    told = {"complete": True, "rows": table.num_rows, "cases": len(batches), **closing}
    return Run(Path("report"), {"run": "r1"}, table, told)


def line_with(lines: list[str], word: str, nth: int = 0) -> str:
    return [line for line in lines if word in line][nth]


LIARS = {"accepts": "accept", "rejects": "reject", "crashes": "crash", "hangs": "timeout", "absent": "not_run"}


@pytest.fixture(scope="module")
def liars() -> list[str]:
    return summary_lines(run_of(*(liar(name, verdict) for name, verdict in LIARS.items())))


def test_one_who_accepts_everything_passes_every_prompt(liars):
    assert line_with(liars, "  accepts").split() == [
        "accepts", "10", "100.0", "[72.2,100.0]", "100.0", "[72.2,100.0]", "0.0", "[0.0,27.8]", "100.0", "[72.2,100.0]",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("name", "cells"),
    [
        ("accepts", "30 . . . . ."),
        ("rejects", ". 30 . . . ."),
        ("crashes", ". . 30 . . ."),
        ("hangs", ". . . 30 . ."),
        ("absent", ". . . . . 30"),
    ],
)
def test_a_liar_shows_as_what_it_is(liars, name, cells):
    matrix = liars[[line.startswith("verdicts") for line in liars].index(True) :]
    assert line_with(matrix, f"  {name}").split()[1:] == cells.split()


def test_those_who_pass_nothing_share_a_line(liars):
    assert line_with(liars, "hangs +2").split()[2:6] == ["10", "0.0", "[0.0,27.8]", "0.0"]
    assert "  + hangs +2: crashes, rejects" in liars


def test_what_did_not_run_is_no_share(liars):
    assert line_with(liars, "absent").split() == ["absent", ".", ".", ".", ".", ".", "30"]
    assert "  30  no checkout given: absent" in line_with(liars, "no checkout given")


def test_crashes_are_named_by_template_and_exception(liars):
    assert "30  ifeval/x:t ZeroDivisionError: crashes" in line_with(liars, "ZeroDivisionError")


def test_the_end_says_that_it_is_complete_and_where_it_lies(liars):
    assert liars[-2:] == ["complete: 150 rows of 5 cases", "rows in report"]


def test_copies_that_agree_share_a_line():
    lines = summary_lines(run_of(*(liar(name, "accept") for name in ("one", "two", "three"))))
    assert line_with(lines, "one, three, two").split()[-6:] == ["30", ".", ".", ".", ".", "."]


@pytest.mark.parametrize("verdicts", [["not_run"], ["not_run", "accept"], []])
def test_a_run_in_which_nothing_ran_says_so(verdicts):
    lines = summary_lines(run_of(*(liar(f"copy {verdict}", verdict) for verdict in verdicts)))
    assert any("NOTHING RAN" in line for line in lines) == (verdicts == ["not_run"])


def test_one_more_is_not_plural():
    skips = [row_batch({"verdict": ["not_run"], "detail": f"{n}"}, implementation="a", check="x") for n in range(5)]
    assert "not run (1 more reason)" in summary_lines(run_of(*skips[:4]))
    assert "not run (2 more reasons)" in summary_lines(run_of(*skips))


def test_an_incomplete_run_shows_no_shares():
    run = run_of(liar("accepts", "accept"), complete=False, lost=["test_x"], reasons=["3 of 9 cases did not run"])
    lines = summary_lines(run)
    assert lines[0].startswith("INCOMPLETE")
    assert not any("passed by" in line for line in lines)
    assert {"INCOMPLETE: 3 of 9 cases did not run", "INCOMPLETE: lost test_x"} < set(lines)


def test_alarms_are_counted_by_kind():
    batch = row_batch({"alarm": ["unstable", None, "unstable", "vacuous"]}, check="seeds")
    assert "alarms: 2 unstable, 1 vacuous" in summary_lines(run_of(batch))


def crowd(implementations: int) -> list[pa.RecordBatch]:
    """Implementations of which no two agree, in three collections, with crashes of many kinds."""
    batches = []
    for number in range(implementations):
        collection = ("ifeval", "ifbench", "ifrlvr")[number % 3]
        name = f"implementation_with_a_long_name_{number}"
        batches.append(liar(name, "accept", prompts=200 + number, collection=collection))
        columns = {"verdict": "crash", "detail": f"Error{number}: \u2603\n" * 30, "response_id": ["yes"] * (number + 1)}
        batches.append(row_batch(columns, template=f"ifeval/{'t' * 60}:{number}", implementation=name, check="x"))
        skipped = {"verdict": ["not_run"], "detail": f"reason {number} " * 30}
        batches.append(row_batch(skipped, implementation=name, check="x"))
    return batches


@pytest.mark.parametrize("complete", [True, False])
def test_thirty_three_implementations_that_all_differ_fit_one_screen(complete):
    reasons = [f"not collected: {'x' * 200}"] * 9
    closing = {} if complete else {"reasons": reasons, "lost": ["y" * 300] * 50}
    lines = summary_lines(run_of(*crowd(33), complete=complete, **closing))
    assert len(lines) <= 40
    assert max(map(len, lines)) <= 100
    assert all(line.isascii() and line.isprintable() for line in lines)


@settings(max_examples=20, deadline=None)
@given(st.integers(1, 40), st.integers(20, 60))
def test_a_summary_never_outgrows_its_height(implementations, height):
    run = run_of(*(liar(f"copy_{n}", "accept", prompts=1 + n % 7) for n in range(implementations)))
    assert len(summary_lines(run, height=height)) <= height


def test_a_name_that_fits_goes_before_one_that_would_be_cut():
    assert fitted(["if_verifiable_ifbench", "lm_eval", "helm"], 20) == ("helm, lm_eval +1", ("if_verifiable_ifbench",))


def test_a_name_is_whole_where_closer_columns_make_room():
    lines = summary_lines(run_of(liar("checks_few_bangs", "accept", prompts=120)))
    assert line_with(lines, "  checks_few_bangs").split()[1:3] == ["120", "100.0"]


def test_names_that_do_not_fit_are_told_once():
    names = [f"implementation_{number:02d}" for number in range(12)]
    lines = summary_lines(run_of(*(liar(name, "accept") for name in names)))
    assert sum("implementation_11" in line for line in lines) == 1


def test_names_that_do_not_fit_are_told_where_there_is_room():
    names = [f"implementation_{number:02d}" for number in range(12)]
    lines = summary_lines(run_of(*(liar(name, "accept") for name in names)))
    assert all(any(name in line for line in lines) for name in names)


def test_an_empty_run_is_a_summary_too():
    assert summary_lines(run_of())[-2:] == ["complete: 0 rows of 0 cases", "rows in report"]


def test_the_data_holds_every_level_and_guard():
    rows = summary_data(run_of(liar("accepts", "accept")).table)["acceptance"]
    assert len(rows) == (len(PROBES) + 1) * 3 * 2


def test_a_picture_is_the_same_twice_and_loads_nothing(liars):
    svg = picture(liars, title="t")
    assert svg == picture(liars, title="t")
    assert "url(http" not in svg
    assert "ZeroDivisionError" in svg.replace("&#160;", " ")


@given(st.lists(st.text("abc_", min_size=1, max_size=30), min_size=1, max_size=9, unique=True), st.integers(12, 80))
def test_fitted_names_fit_and_account_for_all(names, width):
    text = fitted_names(names, width)
    shown, _, more = text.partition(" +")
    assert len(text) <= width
    assert len(shown.split(", ")) + int(more or 0) == len(names)


@given(st.lists(st.integers(1, 30), min_size=1, max_size=5), st.integers(5, 40))
def test_shares_fit_the_room_and_leave_nobody_out(wanted, room):
    given_lines = shares(wanted, room)
    assert sum(given_lines) <= room
    assert all(1 <= got <= want for got, want in zip(given_lines, wanted, strict=True))
    assert sum(given_lines) == min(room, sum(wanted))


@given(st.dictionaries(st.text("ab", min_size=1, max_size=4), st.sampled_from(["x", "y", "z"])))
def test_groups_are_a_partition_by_cells(cells):
    groups = grouped({name: [cell] for name, cell in cells.items()})
    assert sorted(name for group in groups for name in group.names) == sorted(cells)
    assert all(cells[name] == group.cells[0] for group in groups for name in group.names)
    assert len({group.cells for group in groups}) == len(groups)


@given(st.text())
def test_any_text_becomes_one_printable_line(text):
    line = ascii_line(text, 50)
    assert line.isascii()
    assert line.isprintable()
    assert len(line) <= 50


def test_what_is_cut_ends_in_dots():
    assert (cut("abcdef", 6), cut("abcdefg", 6)) == ("abcdef", "abcd..")
