"""Shards: balanced, the same with any workers, and merged into the run that they would have been unsplit."""

import argparse
import json
import random
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reports.__main__ import main
from reports.merging import MergeError, merge_header, merge_runs
from reports.sharding import Shard, shard
from reports.store import IncompleteRun, RunWriter, close_run, open_run, read_run, same_rows

CASES = """
import pytest

@pytest.mark.parametrize("name", "abcdefg")
def test_case(record_rows, name):
    record_rows(collection="ifeval", template=name, implementation="liar", check="probe",
                rows={"instance": [0, 1, 2], "verdict": ["accept", "reject", "crash"]})

def test_without_rows(): pass
"""
NAMES = st.lists(st.text(min_size=1, max_size=9), max_size=30, unique=True)


@given(NAMES, st.integers(1, 9), st.randoms())
def test_shards_are_a_balanced_partition_in_whatever_order(cases, of, chance):
    shuffled = chance.sample(cases, len(cases))
    shares = [Shard(index, of).share(cases) for index in range(1, of + 1)]
    assert shares == [Shard(index, of).share(shuffled) for index in range(1, of + 1)]
    assert sorted(case for share in shares for case in share) == sorted(cases)
    assert max(map(len, shares)) - min(map(len, shares)) <= 1


@given(NAMES)
def test_the_one_share_of_one_is_all(cases):
    assert Shard(1, 1).share(cases) == set(cases)


@pytest.mark.parametrize(("text", "told"), [("0/3", "no share 0 of 3"), ("4/3", "from 1/3 to 3/3"), ("3", "such as")])
def test_a_shard_that_is_none_is_refused(text, told):
    with pytest.raises(argparse.ArgumentTypeError, match=told):
        shard(text)


@pytest.fixture
def audit(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch):
    """Runs the toy session with the plugin, and the options given."""
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")

    def run(*arguments: str, source: str = CASES) -> pytest.RunResult:

        pytester.makepyfile(source)
        options = ["-p", "xdist.plugin", "-p", "reports.plugin", "-p", "no:cacheprovider", *arguments]
        return pytester.runpytest_inprocess(*options)

    return run


def test_three_shards_on_two_workers_merge_into_the_unsplit_run(audit, pytester, capsys):
    audit("--report-dir", "whole")
    for number in (1, 2, 3):
        workers = ["-n", "2"] if number > 1 else []
        audit("--report-dir", f"{number}", "--shard", f"{number}/3", *workers)
    assert main(["merge", *(f"{name}" for name in ("out", 3, 1, 2))]) == 0
    whole, merged = read_run(pytester.path / "whole"), read_run(pytester.path / "out")
    assert same_rows(whole, merged)
    assert merged.closing["cases"] == 7
    assert merged.closing["rows_sha256"] == whole.closing["rows_sha256"]
    assert main(["compare-rows", "whole", "out"]) == 0


def test_a_shard_says_which_it_is(audit, pytester):
    audit("--report-dir", "1", "--shard", "2/3", "-n", "2").stdout.fnmatch_lines(["shard: 2/3"])
    run = read_run(pytester.path / "1")
    assert run.header["shard"] == "2/3"
    assert {**run.closing["shares"], "cases_sha256": 0} == {"held": [2], "of": 3, "cases": 8, "cases_sha256": 0}


def test_an_empty_share_is_a_run_and_no_failure(audit, pytester):
    for number in range(1, 10):
        assert audit("--report-dir", f"{number}", "--shard", f"{number}/9").ret == 0
    merged = merge_runs(pytester.path / "out", [pytester.path / str(number) for number in range(1, 10)])
    assert merged.table.num_rows == 21


def test_a_shard_is_taken_of_what_k_selects(audit, pytester):
    for number, selected in ((1, "test_case"), (2, "test_without_rows")):
        audit("--report-dir", f"{number}", "--shard", f"{number}/2", "-k", selected)
    with pytest.raises(MergeError, match=r"other cases were selected \(7 and 1\): use the same options"):
        merge_runs(pytester.path / "out", [pytester.path / "1", pytester.path / "2"])


HEADER = {"git": {"commit": "c", "dirty": False}, "seed": 1, "specs": "s", "pins": {"lm_eval": {"sha256": "a"}}}


def toy(directory: Path, index: int, of: int, *, lost: tuple[str, ...] = (), cases: str = "x", **header) -> Path:
    """Shard `index` of a run in which case number n belongs to shard n."""
    told = {"run": f"r{index}", "started": f"{9 - index}", "arguments": [directory.name], "shard": f"{index}/{of}"}
    open_run(directory, {**told, **HEADER, **header})
    with RunWriter(directory) as writer:
        writer.append(check="probe", case=str(index), rows={"instance": range(index), "verdict": "accept"})
    shares = {"held": [index], "of": of, "cases": of, "cases_sha256": cases}
    close_run(directory, cases=1, lost=lost, shares=shares)
    return directory


def told_of(directory: Path) -> list[object]:
    files = [json.loads((directory / name).read_text()) for name in ("header.json", "closing.json")]
    return [*files, (directory / "rows.csv").read_bytes()]


@settings(max_examples=15, deadline=None)
@given(st.integers(2, 5), st.randoms())
def test_merging_in_any_groups_and_order_gives_the_same_run(tmp_path_factory, of, chance):
    base = tmp_path_factory.mktemp("toy")
    runs = [toy(base / f"s{index}", index, of) for index in range(1, of + 1)]
    merge_runs(base / "whole", runs)
    left = list(runs)
    while len(left) > 1:
        group = chance.sample(left, chance.randint(2, len(left)))
        left = [run for run in left if run not in group]
        out = base / f"g{random.Random(str(group)).getrandbits(40)}"
        merge_runs(out, group, partial=True)
        left.append(out)
    assert told_of(left[0]) == told_of(base / "whole")
    assert read_run(left[0]).table.num_rows == of * (of + 1) // 2


def test_a_merge_without_all_shards_is_refused_or_says_incomplete(tmp_path, capsys):
    runs = [str(toy(tmp_path / str(index), index, 4)) for index in (1, 3)]
    assert main(["merge", str(tmp_path / "out"), *runs]) == 2
    assert "not merged: shard 2/4, 4/4; name it too" in capsys.readouterr().err
    assert main(["merge", "--partial", str(tmp_path / "out"), *runs]) == 1
    assert "INCOMPLETE: not merged: shard 2/4, 4/4" in capsys.readouterr().out
    with pytest.raises(IncompleteRun, match="not merged: shard 2/4, 4/4"):
        read_run(tmp_path / "out")


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"git": {"commit": "d", "dirty": False}}, r"git\.commit is c and d"),
        ({"seed": 2}, "seed is 1 and 2"),
        ({"specs": "t"}, "specs is s and t"),
        ({"pins": {"lm_eval": {"sha256": "b"}}}, r"pins\.lm_eval\.sha256 is a and b"),
        ({"pins": {}}, r"pins\.lm_eval is .* and absent"),
        ({"of": 3}, "shards of 2 and of 3"),
        ({"cases": "y"}, "other cases were selected"),
        ({"index": 1}, "shard 1/2 is there more than once: .*one, .*two"),
        ({"lost": ("test_x",)}, "two is an incomplete shard, to be run again: lost: test_x"),
    ],
)
def test_what_does_not_belong_together_is_named(tmp_path, change, told):
    one = toy(tmp_path / "one", 1, 2)
    two = toy(tmp_path / "two", **{"index": 2, "of": 2, **change})
    with pytest.raises(MergeError, match=told):
        merge_runs(tmp_path / "out", [one, two])
    assert not (tmp_path / "out").exists()


def test_a_run_that_was_never_split_is_no_shard(tmp_path):
    open_run(tmp_path / "run", {"run": "r"})
    close_run(tmp_path / "run", cases=0)
    with pytest.raises(MergeError, match="was run without --shard"):
        merge_runs(tmp_path / "out", [tmp_path / "run"])


def test_a_killed_shard_is_refused(tmp_path):
    one = toy(tmp_path / "one", 1, 2)
    (one / "closing.json").unlink()
    with pytest.raises(MergeError, match="no closing record"):
        merge_runs(tmp_path / "out", [one])


def test_a_folder_that_holds_a_run_is_not_merged_into(tmp_path):
    one, two = (toy(tmp_path / str(index), index, 2) for index in (1, 2))
    with pytest.raises(MergeError, match="holds a run already"):
        merge_runs(one, [one, two])


def test_the_header_keeps_what_is_each_shards_own(tmp_path):
    headers = [{"run": f"r{n}", "started": str(n), "shard": f"{n}/10", "seed": 1} for n in (10, 2)]
    merged = merge_header(headers)
    assert [part["shard"] for part in merged["parts"]] == ["2/10", "10/10"]
    assert (merged["started"], merged["seed"], "shard" in merged) == ("10", 1, False)
