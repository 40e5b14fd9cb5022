"""The divergence check: where the copies of one template say different things of the same text."""

import pytest

from audit.calls import Call, call_rows
from audit.cases import template_cases
from audit.divergence import (
    clusters,
    common_result,
    divergence_calls,
    smallest_splits,
    split,
    told_split,
    version_of,
    voters,
)
from reports.row import SIBLINGS
from verifiers_pinned.verdicts import Verdict

YES, NO, CRASH, UNASKED = Verdict.accept, Verdict.reject, Verdict.crash, Verdict.not_run
VOTES = {"a": [YES, YES, NO], "b": [YES, YES, NO], "liar": [YES, NO, NO], "gone": [UNASKED] * 3}


def pytest_generate_tests(metafunc):
    template_cases(metafunc)


@pytest.mark.audit
def test_divergence(siblings, template, verifier_session, catalogue, record_rows, settle):
    """One that is pinned as not checking the template has no vote: it would part from all others everywhere."""
    pins = [catalogue.implementations[key] for key in siblings]
    pins = [pin for pin in pins if template.name not in pin.unchecked]
    own = divergence_calls(template)
    calls = [*own, *settle.witnesses(template.name, "divergence")]
    verdicts = {}
    for pin in pins:
        result = verifier_session.call_batch(pin.key, template.name, [call.question for call in calls])
        verdicts[pin.key] = result.verdicts
        rows = {**call_rows(calls, result), "alarm": None}
        names = {"template": template.name, "implementation": pin.key, "check": "divergence"}
        record_rows(collection=template.collection, rows=rows, **names)
    told = [at for at in range(len(calls)) if at >= len(own) or len(split(verdicts, at)) > 1]
    if told:
        asked = version_of(catalogue.implementations[key] for key in voters(verdicts))
        settle_split(settle, [calls[at] for at in told], common_result(verdicts, told), asked)


def settle_split(settle, calls, result, version):
    """The verdict of a split is left empty in its row: it is nobody's."""
    alarms = ["diverges" if at in result.details else None for at in range(len(calls))]
    verdicts = [None if alarm else verdict.value for alarm, verdict in zip(alarms, result.verdicts, strict=True)]
    nothing = [None] * len(calls)
    columns = {"alarms": alarms, "verdict": verdicts, "microseconds": nothing, "drew_random": nothing}
    settle(calls, result, check="divergence", implementation=SIBLINGS, version=version, **columns)


def test_clusters_hold_those_that_always_agree():
    assert clusters(VOTES) == [("a", "b"), ("gone",), ("liar",)]


def test_a_split_names_the_few():
    assert told_split(split(VOTES, 1)) == "accept: 2 others; reject: liar"


def test_what_was_not_asked_has_no_vote():
    assert split(VOTES, 0) == {YES: ["a", "b", "liar"]}
    assert split({"gone": [UNASKED]}, 0) == {}


def test_who_was_not_asked_is_no_voter():
    assert voters(VOTES) == ["a", "b", "liar"]


def test_a_crash_is_a_side_of_its_own():
    assert told_split(split({"a": [NO], "b": [CRASH]}, 0)) == "crash: b; reject: a"


def test_each_split_has_its_shortest_input():
    calls = [Call("t", {}, name, text) for name, text in (("long", "long text"), ("short", "x"), ("other", "yy"))]
    votes = {"a": [YES, YES, YES], "b": [YES, YES, NO], "liar": [NO, NO, YES]}
    assert smallest_splits(calls, votes) == {"accept: 2 others; reject: liar": 1, "accept: 2 others; reject: b": 2}


def test_siblings_are_one_where_they_agree():
    result = common_result(VOTES, [0, 1])
    assert result.verdicts == [YES, YES]
    assert result.details == {1: "accept: 2 others; reject: liar"}
