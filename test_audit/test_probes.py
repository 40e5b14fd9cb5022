"""The probe check: what each pinned verifier says to responses that say nothing, on official or drawn instances."""

import pytest

from audit.cases import verifier_cases
from audit.questions import probe_calls
from specs import load_probes


def pytest_generate_tests(metafunc):
    verifier_cases(metafunc)


@pytest.mark.audit
def test_probe(implementation, template, verifier_session, settle):
    calls = probe_calls(template, [(probe.id, probe.text) for probe in load_probes()])
    assert calls
    calls += settle.witnesses(template.name, "probe")
    result = verifier_session.call_batch(implementation, template.name, [call.question for call in calls])
    settle(calls, result, check="probe", implementation=implementation)
