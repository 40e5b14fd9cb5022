"""The probe check: what each pinned verifier says to responses that say nothing, on every official instance."""

import pytest

from audit.calls import call_rows, official_calls
from specs import load_probes, load_templates
from verifiers_pinned.plugin import selected
from verifiers_pinned.verdicts import Verdict

OFFICIAL = ("ifeval", "ifbench")


def pytest_generate_tests(metafunc):
    """One case for each selected implementation and each official template that it covers."""
    official = [name for name, template in load_templates().items() if template.collection in OFFICIAL]
    cases = [
        pytest.param(each.key, name, id=f"{name}-{each.key}")
        for each in selected(metafunc.config)
        for name in official
        if name in each.covers
    ]
    metafunc.parametrize(("implementation", "template"), cases)


@pytest.mark.audit
def test_probe(implementation, template, verifier_session, record_rows):
    collection = template.partition("/")[0]
    calls = official_calls(collection, [(probe.id, probe.text) for probe in load_probes()], template)
    result = verifier_session.call_batch(implementation, template, [call.question for call in calls])
    record_rows(
        collection=collection,
        template=template,
        implementation=implementation,
        check="probe",
        rows=call_rows(calls, result),
    )
    assert len(result.verdicts) == len(calls) > 0
    if set(result.verdicts) == {Verdict.not_run}:
        pytest.skip(result.details[0])
