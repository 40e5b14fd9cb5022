"""Hostile input: what each verifier does with responses and arguments that nobody meant."""

import pytest

from audit.cases import verifier_cases
from audit.extremes import extreme_calls
from audit.hostile import hostile_calls


def pytest_generate_tests(metafunc):
    verifier_cases(metafunc)


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
