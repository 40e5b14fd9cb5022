"""Transforms and wrong prompts: how many passing verdicts on natural responses survive. Counts, and no alarms."""

import pytest

from audit.calls import Call
from audit.cases import verifier_cases
from audit.questions import natural_calls
from audit.retention import GROUPS, MOST_OTHERS, transformed, wrong_prompts
from specs import load_transforms


def pytest_generate_tests(metafunc):
    verifier_cases(metafunc, lambda template: template.collection not in ("ifeval", "ifrlvr"))


@pytest.mark.audit
def test_transforms(implementation, template, verifier_session, settle):
    ask(settle, verifier_session, implementation, "transform", transformed(natural_calls(template.name)))


@pytest.mark.audit
def test_wrong_prompt(implementation, template, verifier_session, settle):
    """Each call has a seed of its own, or equal questions would get equal answers from one that draws."""
    ask(settle, verifier_session, implementation, "wrong_prompt", wrong_prompts(natural_calls(template.name)))


def ask(settle, session, implementation, check, calls):
    if not calls:
        pytest.skip("no sample response is about this template")
    calls = [*calls, *settle.witnesses(calls[0].template, check)]
    questions = [call.question for call in calls]
    result = session.call_batch(implementation, calls[0].template, questions, seeds=range(len(calls)))
    settle(calls, result, check=check, implementation=implementation)


ONE = Call("t", {"n": 1}, "original", "One line.", "a", 0)


def test_each_edit_of_a_group_is_a_known_transform():
    assert {name for names in GROUPS.values() for name in names} <= {each.id for each in load_transforms()}


def test_an_edited_response_keeps_its_prompt_and_arguments():
    calls = transformed([ONE])
    assert len(calls) == 1 + sum(map(len, GROUPS.values()))
    assert {(call.prompt, call.instance, call.params["n"]) for call in calls} == {("a", 0, 1)}
    assert next(call.response for call in calls if call.response_id == "case/upper_case") == "ONE LINE."


def test_edits_are_the_same_each_time():
    assert transformed([ONE]) == transformed([ONE])


def test_a_response_goes_to_prompts_with_the_same_arguments_only():
    same, other = Call("t", {"n": 1}, "original", "Two.", "b", 1), Call("t", {"n": 2}, "original", "x", "c", 0)
    told = [(call.response_id, call.prompt, call.instance) for call in wrong_prompts([ONE, same, other])[3:]]
    assert told == [("of/a", "b", 1), ("of/b", "a", 0)]


def test_a_response_goes_to_a_few_other_prompts():
    many = [Call("t", {}, "original", "x", str(at), 0) for at in range(MOST_OTHERS + 9)]
    assert len(wrong_prompts(many)) == len(many) * (1 + MOST_OTHERS)
