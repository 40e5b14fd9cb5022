"""The caller check: scoring loops and reward functions, asked what goes wrong in them."""

import pytest

from audit.callers import ADAPTERS, IFEVAL, NOT_ASKED, Question, fractions, questions
from audit.grading import graded
from audit.known import Place, conclude, load_known, settle_known
from verifiers_pinned.pins import load_catalogue
from verifiers_pinned.plugin import selected
from verifiers_pinned.verdicts import Verdict


def pytest_generate_tests(metafunc):
    if "caller" not in metafunc.fixturenames:
        return
    keys = {each.key for each in selected(metafunc.config)}
    cases = [
        pytest.param(caller.key, question, id=f"{question.name}-{caller.key}")
        for caller in load_catalogue().callers.values()
        if caller.implementation in keys
        for question in ADAPTERS[caller.key].asked()
        if question.name not in NOT_ASKED.get(caller.key, ())
    ]
    metafunc.parametrize(("caller", "question"), cases)


@pytest.mark.audit
def test_caller(caller, question, verifier_session, record_rows):
    adapter = ADAPTERS[caller]
    result = verifier_session.invoke_batch(caller, [adapter.invocation(each, question) for each in adapter.entries])
    rows = [
        graded(question, entry, verdict, result.answers.get(at), result.details.get(at), result.drew_random[at])
        for at, (entry, verdict) in enumerate(zip(adapter.entries, result.verdicts, strict=True))
    ]
    found = {
        Place(each.alarm, f"{caller}/{question.name}/{entry}"): each.detail
        for entry, each in zip(adapter.entries, rows, strict=True)
        if each.alarm
    }
    asked = (
        [] if Verdict.not_run in result.verdicts else [f"{caller}/{question.name}/{entry}" for entry in adapter.entries]
    )
    settled = settle_known(found, load_known("callers"), asked)
    by_entry = {place.at.rpartition("/")[2]: name for place, name in settled.ids.items()}
    columns = {
        "params": {"ids": [*question.ids], "kwargs": [*question.arguments]},
        "response_id": [f"{question.name}/{entry}" for entry in adapter.entries],
        "response": question.response,
        "verdict": [each.verdict for each in rows],
        "outcome": [each.outcome for each in rows],
        "alarm": [each.alarm for each in rows],
        "detail": [each.detail for each in rows],
        "finding": [by_entry.get(entry) for entry in adapter.entries],
        "microseconds": list(result.microseconds),
        "drew_random": list(result.drew_random),
    }
    record_rows(implementation=caller, check="caller", rows=columns)
    if not asked:
        pytest.skip(result.details[0])
    conclude(settled)


def test_every_pinned_caller_has_an_adapter():
    assert set(ADAPTERS) == set(load_catalogue().callers)


GOOD = Question("good", ["a:b"], [{}], "Yes.", (1.0, 1.0), "the response follows")
UNKNOWN = Question("unknown", ["a:b"], [{}], "Yes.", (None, None), "an id that nobody checks is not followed")


def answer(score, after=()):
    return {"value": {"follow_instruction_list": score}, "before": [], "after": list(after)}


@pytest.mark.parametrize(
    ("question", "verdict", "told", "drew", "alarm"),
    [
        (GOOD, Verdict.accept, answer([True]), False, None),
        (GOOD, Verdict.accept, answer([False]), False, "false_reject"),
        (GOOD, Verdict.accept, answer([True, False]), False, "false_reject"),
        (GOOD, Verdict.accept, answer([True], after=["x"]), False, "altered"),
        (GOOD, Verdict.accept, answer([True]), True, "altered"),
        (GOOD, Verdict.accept, {**answer([]), "value": None}, False, "non_boolean"),
        (GOOD, Verdict.crash, None, False, "crash"),
        (GOOD, Verdict.timeout, None, False, "timeout"),
        (UNKNOWN, Verdict.crash, None, False, None),
        (UNKNOWN, Verdict.timeout, None, False, "timeout"),
        (UNKNOWN, Verdict.accept, answer([False]), False, None),
        (UNKNOWN, Verdict.accept, answer([True]), False, "false_accept"),
        (UNKNOWN, Verdict.not_run, None, False, None),
    ],
)
def test_each_careless_caller_is_caught(question, verdict, told, drew, alarm):
    assert graded(question, "strict", verdict, told, None, drew).alarm == alarm


def test_strict_and_loose_are_expected_apart():
    preamble = next(each for each in questions(IFEVAL) if each.name == "preamble")
    both = {"value": {"inst_level_strict_acc": [False], "inst_level_loose_acc": [True]}, "before": [], "after": []}
    assert fractions(both["value"]) == [0.0, 1.0]
    assert graded(preamble, "both", Verdict.accept, both, None, False).alarm is None
    assert graded(preamble, "strict", Verdict.accept, answer([True]), None, False).alarm == "false_accept"
    assert graded(preamble, "loose", Verdict.accept, answer([False]), None, False).alarm == "false_reject"


def test_questions_have_names_of_their_own():
    for adapter in ADAPTERS.values():
        names = [each.name for each in adapter.asked()]
        assert len(names) == len(set(names))
