"""A case is green, known or red for the right reason, and no finding swallows its neighbours."""

import json
import shlex

import pytest
from hypothesis import given
from hypothesis import strategies as st

from audit.adjudications import Adjudications
from audit.lock import Place, merge_lock, read_lock, write_lock
from audit.settling import Asked, Case, command, settle
from specs import DocumentError

TEMPLATE = "ifeval/length_constraints:number_words"
PARAMS = {"num_words": 3, "relation": "less than"}
CASE = Case(TEMPLATE, "toy", "1", "probe")
WHERE = Place("toy-crash", TEMPLATE, "probe", "toy@1")
FINDING = f"""
id: toy-crash
template: {TEMPLATE}
class: defect
title: A toy crashes where there are no words
words: Any response is shorter or longer, so there is an answer.
checks: [probe]
alarms: [crash]
implementations: [toy]
when: len(words(text)) == 0
witnesses: [{{params: {json.dumps(PARAMS)}, response: ""}}]
date: 2026-01-31
"""


def adjudicated(folder, finding=FINDING, lock=None) -> Adjudications:
    path = folder / "ifeval" / "toy-crash.yaml"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(finding, encoding="utf-8")
    loaded = Adjudications.load(folder)
    return Adjudications(loaded.findings, {WHERE: "crash"} if lock is None else lock, loaded.path)


def asked(response: str, verdict: str = "reject", witness: str | None = None) -> Asked:
    return Asked(PARAMS, response, verdict, verdict if verdict in ("crash", "timeout") else None, None, witness)


WITNESS = asked("", "crash", "toy-crash")


def test_a_case_without_alarms_is_green(tmp_path):
    told = settle(CASE, [asked("a"), asked("b", "accept")], Adjudications({}, {}, tmp_path))
    assert (told.problems, told.unlocked, told.ids) == ([], [], [])


def test_alarms_of_a_finding_are_known(tmp_path):
    told = settle(CASE, [asked("a"), asked(" ", "crash"), WITNESS], adjudicated(tmp_path))
    assert (told.problems, told.unlocked) == ([], [])
    assert told.findings == [None, "toy-crash", "toy-crash"]
    assert told.witnessed == {WHERE: "crash"}


@pytest.mark.parametrize(
    "other",
    [
        asked("a", "crash"),
        asked(" ", "timeout"),
        asked("a", "reject")._replace(alarm="vacuous"),
    ],
    ids=["elsewhere", "another-kind", "both"],
)
def test_an_alarm_beside_the_finding_is_red(tmp_path, other):
    told = settle(CASE, [WITNESS, other], adjudicated(tmp_path))
    assert len(told.problems) == 1
    assert "in 1 call, explained by no finding" in told.problems[0]


@pytest.mark.parametrize(
    "case", [CASE._replace(implementation="other"), CASE._replace(check="hostile")], ids=["copy", "check"]
)
def test_a_finding_covers_its_copies_and_checks_only(tmp_path, case):
    told = settle(case, [WITNESS], adjudicated(tmp_path))
    assert any("crash in 1 call" in problem for problem in told.problems)


def test_a_finding_that_reaches_too_far_covers_nothing(tmp_path):
    wide = FINDING.replace("when: len(words(text)) == 0", "when: len(words(text)) < 3")
    told = settle(CASE, [WITNESS, asked("a"), asked("b"), asked("c d e")], adjudicated(tmp_path, wide))
    assert "1 of the 3 inputs that meet its `when` alarm here" in told.problems[0]
    assert told.findings == [None] * 4


def test_half_of_the_inputs_are_enough_and_copies_of_one_count_once(tmp_path):
    wide = FINDING.replace("when: len(words(text)) == 0", "when: len(words(text)) < 3")
    calls = [WITNESS, *[asked("a", "reject")] * 5, asked("a b c")]
    assert settle(CASE, calls, adjudicated(tmp_path, wide)).problems == []


def test_calls_that_were_not_made_count_neither_way(tmp_path):
    calls = [WITNESS, asked(" ", "unsupported"), asked("\n", "not_run"), asked("  ", "unsupported")]
    assert settle(CASE, calls, adjudicated(tmp_path)).problems == []


@pytest.mark.parametrize(
    ("verdict", "locked", "told"),
    [
        ("reject", "crash", "mended? toy@1 on the witness of finding toy-crash says reject"),
        ("crash", "reject", "new? toy@1"),
        ("crash", None, "not in the lock: toy@1"),
        ("crash", "timeout", "changed: toy@1"),
        ("accept", "reject", "changed: toy@1"),
    ],
)
def test_a_witness_that_says_other_than_the_lock_is_red(tmp_path, verdict, locked, told):
    lock = {} if locked is None else {WHERE: locked}
    settled = settle(CASE, [asked("", verdict, "toy-crash")], adjudicated(tmp_path, lock=lock))
    assert settled.problems == []
    assert settled.unlocked[0].startswith(told)
    assert "--relock\n  again:    python -m verifiers_pinned verdict" in settled.unlocked[0]


def test_a_witness_of_an_implementation_that_is_not_there_is_passed_over(tmp_path):
    told = settle(CASE, [asked("", "not_run", "toy-crash")], adjudicated(tmp_path, lock={}))
    assert (told.problems, told.unlocked, told.witnessed) == ([], [], {})


def test_a_witness_that_was_not_sent_is_red(tmp_path):
    assert "was not sent" in settle(CASE, [asked("a")], adjudicated(tmp_path)).problems[0]


def test_a_witness_beside_its_own_finding_is_red(tmp_path):
    beside = FINDING.replace('response: ""', "response: a")
    told = settle(CASE, [asked("a", "reject", "toy-crash")], adjudicated(tmp_path, beside))
    assert "does not meet its own `when: len(words(text)) == 0`" in told.problems[0]


def test_the_smallest_counterexample_is_shown(tmp_path):
    calls = [asked("bb", "crash"), asked("b", "crash")._replace(params={"num_words": 12}), asked("b", "crash")]
    (problem,) = settle(CASE, calls, Adjudications({}, {}, tmp_path)).problems
    assert "crash in 3 calls" in problem
    assert "response: 'b'" in problem
    assert '"num_words": 12' in problem


@pytest.mark.parametrize("response", ['it\'s "$HOME" -x', "-x", "", "a\nb", "\ud800", "\0", "x" * 5000])
def test_the_command_asks_the_same_again(response):
    words = shlex.split(command(CASE._replace(implementation="lm_eval"), asked(response)))
    if words[0] == "printf":
        assert json.loads(words[2])["text"] == response
        expected = "| python -m verifiers_pinned verdict --jsonl - --implementation lm_eval"
        assert words[3:] == expected.split(" ")
    else:
        assert words[4:] == [
            TEMPLATE,
            "--params",
            json.dumps(PARAMS),
            f"--text={response}",
            "--implementation",
            "lm_eval",
        ]


places = st.builds(
    Place,
    st.sampled_from("ab"),
    st.sampled_from(["x/y:z", "x/y:w"]),
    st.just("c"),
    st.sampled_from(["k@1", "k@2", "l@1"]),
)
locks = st.dictionaries(places, st.sampled_from(["crash", "accept"]))


@given(locks)
def test_a_lock_is_read_as_it_was_written(tmp_path_factory, lock):
    path = tmp_path_factory.getbasetemp() / "lock.yaml"
    write_lock(path, lock)
    assert read_lock(path) == lock


@given(locks, locks)
def test_merging_keeps_what_was_not_asked_and_drops_what_cannot_be(old, seen):
    lock = merge_lock(old, seen, lambda place: place.finding == "a", {"k": "2"})
    assert {**lock, **seen} == lock
    for place in old:
        assert (place in lock) is (place in seen or (place.finding == "a" and place.implementation != "k@1"))


@pytest.mark.parametrize(
    "text", ["", "witnesses: 3", "witnesses: {a: {b: {c: {d: crash}}}}", "a: [", "witnesses: {}\nx: 1"]
)
def test_a_broken_lock_is_told_with_its_place(tmp_path, text):
    (tmp_path / "lock.yaml").write_text(text, encoding="utf-8")
    with pytest.raises(DocumentError, match=r"lock.yaml:\d+:\d+: "):
        read_lock(tmp_path / "lock.yaml")
