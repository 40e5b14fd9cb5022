"""The probe check: what each pinned verifier says to responses that say nothing, on every official instance."""

import json
from collections.abc import Callable, Mapping, Sequence

import pytest

from specs import Probe, load_probes, load_templates
from verifiers_pinned.data import Instance, load_prompts
from verifiers_pinned.plugin import selected
from verifiers_pinned.session import BatchResult, Session
from verifiers_pinned.verdicts import Verdict

pytestmark = pytest.mark.audit

OFFICIAL = ("ifeval", "ifbench")


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """One case for each selected implementation and each official template that it covers."""
    official = [name for name, template in load_templates().items() if template.collection in OFFICIAL]
    metafunc.parametrize(
        ("implementation", "template"),
        [
            pytest.param(each.key, name, id=f"{name}-{each.key}")
            for each in selected(metafunc.config)
            for name in official
            if name in each.covers
        ],
    )


def probe_rows(
    calls: Sequence[tuple[str, Instance, Probe]], result: BatchResult
) -> Mapping[str, Sequence[str | float | bool | None]]:
    """The columns that tell one call from the next; params are canonical JSON."""
    return {
        "params": [json.dumps(instance.params, sort_keys=True, ensure_ascii=False) for _, instance, _ in calls],
        "prompt": [prompt for prompt, _, _ in calls],
        "instance": [instance.index for _, instance, _ in calls],
        "response_id": [probe.id for _, _, probe in calls],
        "response": [probe.text for _, _, probe in calls],
        "verdict": [verdict.value for verdict in result.verdicts],
        "detail": [result.details.get(position) for position in range(len(calls))],
        "microseconds": list(result.microseconds),
        "drew_random": list(result.drew_random),
    }


def test_probe(
    implementation: str,
    template: str,
    verifier_session: Session,
    record_rows: Callable[..., None],
    request: pytest.FixtureRequest,
) -> None:
    collection = template.partition("/")[0]
    calls = [
        (prompt.key, instance, probe)
        for prompt in load_prompts(collection)
        for instance in prompt.instances
        if instance.template == template
        for probe in load_probes()
    ]
    result = verifier_session.call_batch(implementation, template, [(i.params, probe.text) for _, i, probe in calls])
    record_rows(
        collection=collection,
        template=template,
        implementation=implementation,
        check="probe",
        case=request.node.name,
        rows=probe_rows(calls, result),
    )
    assert len(result.verdicts) == len(calls) > 0
    if set(result.verdicts) == {Verdict.not_run}:
        pytest.skip(result.details[0])
