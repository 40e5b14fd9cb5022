"""Every published figure that can be recomputed is, for each implementation that it should hold for."""

from collections import defaultdict

import pyarrow as pa
import pytest

from audit.calls import call_rows, official_calls
from reports.published import check_published, load_figures
from reports.row import row_batch
from specs import load_probes
from verifiers_pinned import cache
from verifiers_pinned.plugin import selected

COMPARED = tuple(figure for figure in load_figures() if figure.query and figure.state in ("reproduced", "differs"))
PROBES = {figure.query["probe"] for figure in COMPARED}


def pytest_generate_tests(metafunc):
    """One case for each selected implementation and each collection of which figures should hold for it."""
    pairs = sorted({(figure.query["collection"], key) for figure in COMPARED for key in figure.implementations})
    chosen = {each.key for each in selected(metafunc.config)}
    cases = [pytest.param(key, name, id=f"{name}-{key}") for name, key in pairs if key in chosen]
    metafunc.parametrize(("implementation", "collection"), cases)


def probed(session, implementation, collection):
    """The rows of the probes that figures are about, on every official instance of a collection."""
    asked = defaultdict(list)
    for call in official_calls(collection, [(probe.id, probe.text) for probe in load_probes() if probe.id in PROBES]):
        asked[call.template].append(call)
    fixed = {"run": "published", "check": "probe", "case": "published"}
    batches = []
    for template, calls in asked.items():
        result = session.call_batch(implementation, template, [call.question for call in calls])
        place = {"collection": collection, "template": template, "implementation": implementation}
        batches.append(row_batch(call_rows(calls, result), **fixed, **place))
    return pa.Table.from_batches(batches)


@pytest.mark.audit
def test_published_figures_come_out(implementation, collection, verifier_session, catalogue, checkouts):
    found = cache.installed(catalogue, catalogue.implementations[implementation], checkouts)
    if isinstance(found, cache.Missing):
        pytest.skip(found.reason)
    checks = check_published(probed(verifier_session, implementation, collection), COMPARED)
    answered = [check for check in checks if check.implementation == implementation]
    assert answered
    assert [f"{c.figure.id}: published {c.expected}, got {c.got}" for c in answered if not c.agrees] == []
