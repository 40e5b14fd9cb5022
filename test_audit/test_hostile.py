"""Hostile input: what each verifier does with responses and arguments that nobody meant."""

import pytest

from audit.calls import Call
from audit.cases import verifier_cases
from audit.extremes import hostile_params, telling_responses
from audit.hostile import DEEP, HUGE, brief_responses
from audit.questions import drawn_params, usual_params


def pytest_generate_tests(metafunc):
    verifier_cases(metafunc)


def hostile_calls(template):
    """Each to drawn arguments and to others; what is large, and costs seconds in some verifiers, to the others only."""
    drawn, others = drawn_params(template, "upstream")[0], usual_params(template)
    asked = [(each, params) for params in (drawn, others) for each in brief_responses()]
    asked += [(each, others) for each in (*DEEP.items(), *HUGE.items())]
    return [Call(template.name, params, *response) for response, params in asked]


def extreme_calls(template):
    small = drawn_params(template, "small")[0]
    return [
        Call(template.name, params, name, text)
        for params in hostile_params(template, small)
        for name, text in telling_responses(params)
    ]


@pytest.mark.audit
def test_hostile_responses(implementation, template, verifier_session, settle):
    calls = [*hostile_calls(template), *settle.witnesses(template.name, "hostile")]
    result = verifier_session.call_batch(implementation, template.name, [call.question for call in calls])
    settle(calls, result, check="hostile", implementation=implementation)


@pytest.mark.audit
def test_hostile_params(implementation, template, verifier_session, settle):
    calls = [*extreme_calls(template), *settle.witnesses(template.name, "hostile_params")]
    if not calls:
        pytest.skip("nothing of the template can be made hostile")
    result = verifier_session.call_batch(implementation, template.name, [call.question for call in calls])
    settle(calls, result, check="hostile_params", implementation=implementation)
