"""The command line of the reports, and the published figures against made-up runs."""

import re
from pathlib import Path

import pytest

from reports.__main__ import main
from reports.published import check_published, load_figures, published_lines
from reports.store import RunWriter, close_run, open_run, read_run
from specs import DocumentError


def make_run(
    directory: Path, verdicts: list[str], *, lost: tuple[str, ...] = (), implementation: str = "lm_eval"
) -> Path:
    """A run in which `Yes.` gets the verdicts, one IFEval prompt of one instance each."""
    open_run(directory, {"run": directory.name, "started": "then"})
    rows = {
        "prompt": [str(number) for number in range(len(verdicts))],
        "instance": 0,
        "response_id": "yes",
        "response": "Yes.",
        "verdict": verdicts,
    }
    with RunWriter(directory) as writer:
        writer.append(
            collection="ifeval", template="t", implementation=implementation, check="probe", case="c", rows=rows
        )
    close_run(directory, cases=1, lost=lost)
    return directory


def test_a_stored_run_has_a_summary(tmp_path, capsys):
    assert main(["summary", str(make_run(tmp_path / "run", ["accept"]))]) == 0
    assert f"rows in {tmp_path / 'run'}" in capsys.readouterr().out


def test_a_stored_run_has_a_picture(tmp_path):
    run = make_run(tmp_path / "run", ["accept"])
    assert main(["picture", str(run), str(tmp_path / "out.svg")]) == 0
    assert (tmp_path / "out.svg").read_text().startswith("<svg")


@pytest.mark.parametrize("command", [["summary"], ["picture", "out.svg"], ["published"], ["compare-rows", "run"]])
def test_an_incomplete_run_is_refused_with_the_reason(tmp_path, capsys, monkeypatch, command):
    monkeypatch.chdir(tmp_path)
    make_run(tmp_path / "run", ["accept"], lost=("test_x",))
    assert main([command[0], "run", *command[1:]]) == 2
    assert capsys.readouterr().err == "reports: run is an incomplete run: lost: test_x\n"
    assert not Path("out.svg").exists()


def test_the_same_rows_are_told_to_be_the_same(tmp_path, capsys):
    one, two = (make_run(tmp_path / name, ["accept", "reject"]) for name in ("one", "two"))
    assert main(["compare-rows", str(one), str(two)]) == 0
    assert capsys.readouterr().out == "the same 2 rows\n"


def test_the_first_differences_of_two_runs_are_shown(tmp_path, capsys):
    one, two = (make_run(tmp_path / name, ["accept", last]) for name, last in (("one", "reject"), ("two", "crash")))
    assert main(["compare-rows", str(one), str(two)]) == 1
    told = capsys.readouterr().out.splitlines()[1:]
    assert [re.findall(r"only in .*/(\w+):.*'verdict': '(\w+)'", line) for line in told] == [
        [("two", "crash")],
        [("one", "reject")],
    ]


@pytest.mark.parametrize(("accepted", "agrees"), [(61, True), (60, False)])
def test_a_published_figure_is_recomputed(tmp_path, capsys, accepted, agrees):
    run = make_run(tmp_path / "run", ["accept"] * accepted + ["reject"] * (541 - accepted))
    (check,) = [c for c in check_published(read_run(run).table) if c.figure.id == "ifeval-yes-prompts"]
    assert (check.implementation, check.expected, check.agrees) == ("lm_eval", "61/541 [8.9, 14.2]", agrees)
    assert check.got.startswith(f"{accepted}/541 = ")


def test_what_cannot_be_compared_is_told_and_not_counted_against_the_run(tmp_path, capsys):
    run = make_run(tmp_path / "run", ["accept"], implementation="someone_else")
    assert main(["published", str(run)]) == 0
    told = capsys.readouterr().out
    assert "ifeval-yes-prompts: published 61/541 [8.9, 14.2], reproduced\n  not in this run" in told
    assert "not published" in told


def test_what_did_not_run_is_not_compared(tmp_path, capsys):
    assert main(["published", str(make_run(tmp_path / "run", ["not_run"] * 541))]) == 0
    told = capsys.readouterr().out
    assert "  not run: lm_eval" in told
    assert "DIFFERS" not in told


def test_a_figure_that_differs_fails_the_command(tmp_path, capsys):
    assert main(["published", str(make_run(tmp_path / "run", ["accept"]))]) == 1
    assert "DIFFERS, 1/1 = 100.0 % [20.7, 100.0]: lm_eval" in capsys.readouterr().out


def test_every_figure_has_a_line(tmp_path):
    lines = published_lines(check_published(read_run(make_run(tmp_path / "run", ["accept"])).table))
    assert {figure.id for figure in load_figures()} <= {line.partition(":")[0] for line in lines}


def broken(tmp_path: Path, old: str, new: str) -> Path:
    from reports import published

    text = published._FIGURES.read_text()
    assert old in text
    (tmp_path / "figures.yaml").write_text(text.replace(old, new, 1))
    return tmp_path / "figures.yaml"


@pytest.mark.parametrize(
    ("old", "new", "error", "message"),
    [
        ("state: reproduced", "state: reproducd", DocumentError, "did you mean 'reproduced'"),
        ("numerator: 189", "numerator: many", DocumentError, r"figures.yaml:\d+:\d+"),
        ("implementations: google_copies}", "implementations: gogle}", ValueError, "no list .* is called 'gogle'"),
        ("source: readme", "source: hearsay", ValueError, "no source is called 'hearsay'"),
        ("id: ifbench-yes-instances", "id: ifeval-yes-instances", ValueError, "same id: ifeval-yes-instances"),
    ],
)
def test_a_broken_list_of_figures_is_refused(tmp_path, old, new, error, message):
    with pytest.raises(error, match=message):
        load_figures(broken(tmp_path, old, new))
