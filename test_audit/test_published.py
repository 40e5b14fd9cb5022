"""Every published figure that can be recomputed is, for each implementation that it should hold for."""

from collections import defaultdict

import pyarrow as pa
import pytest

from reports.published import check_published, load_figures
from reports.row import row_batch
from specs import load_probes
from verifiers_pinned import cache
from verifiers_pinned.data import load_prompts
from verifiers_pinned.pins import Catalogue
from verifiers_pinned.plugin import selected
from verifiers_pinned.session import Session

COMPARED = tuple(figure for figure in load_figures() if figure.query and figure.state in ("reproduced", "differs"))


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """One case for each selected implementation and each collection of which figures were published."""
    if "collection" in metafunc.fixturenames:
        cases = [
            pytest.param(key, collection, id=f"{collection}-{key}")
            for collection in sorted({figure.query["collection"] for figure in COMPARED})
            for key in (each.key for each in selected(metafunc.config))
            if any(key in figure.implementations and figure.query["collection"] == collection for figure in COMPARED)
        ]
        metafunc.parametrize(("implementation", "collection"), cases)


def probed(session: Session, implementation: str, collection: str, probes: tuple[str, ...]) -> pa.Table:
    """The rows of the named probes on every official instance of a collection."""
    texts = {probe.id: probe.text for probe in load_probes() if probe.id in probes}
    asked = defaultdict(list)
    for prompt in load_prompts(collection):
        for instance in prompt.instances:
            asked[instance.template] += [(prompt.key, instance, name) for name in texts]
    batches = []
    for template, calls in asked.items():
        result = session.call_batch(implementation, template, [(each.params, texts[name]) for _, each, name in calls])
        rows = {
            "params": [each.params for _, each, _ in calls],
            "prompt": [key for key, _, _ in calls],
            "instance": [each.index for _, each, _ in calls],
            "response_id": [name for _, _, name in calls],
            "response": [texts[name] for _, _, name in calls],
            "verdict": [verdict.value for verdict in result.verdicts],
        }
        fixed = {"collection": collection, "template": template, "implementation": implementation}
        batches.append(row_batch(rows, run="published", check="probe", case="published", **fixed))
    return pa.Table.from_batches(batches)


@pytest.mark.audit
def test_published_figures_come_out(
    implementation: str, collection: str, verifier_session: Session, catalogue: Catalogue, checkouts: dict
) -> None:
    missing = cache.installed(catalogue, catalogue.implementations[implementation], checkouts)
    if isinstance(missing, cache.Missing):
        pytest.skip(missing.reason)
    probes = tuple({figure.query["probe"] for figure in COMPARED})
    checks = check_published(probed(verifier_session, implementation, collection, probes), COMPARED)
    answered = [check for check in checks if check.implementation == implementation]
    assert answered
    assert [f"{c.figure.id}: published {c.expected}, got {c.got}" for c in answered if not c.agrees] == []
