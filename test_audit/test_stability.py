"""The stability check: the same question, and another verdict under another seed, in another process or in threads."""

import pytest

from audit.calls import Call, call_rows
from audit.cases import verifier_cases
from audit.questions import usual_params
from audit.stability import OTHER_SEED, TEXTS, THREADS, needs_language, stability_calls, told_threads, unstable
from verifiers_pinned.session import Session


def pytest_generate_tests(metafunc):
    verifier_cases(metafunc, needs_language if metafunc.function is test_threads else lambda template: True)


@pytest.fixture(scope="module")
def other_session(catalogue, checkouts):
    """A second process with other seeds, for hashes, the global generator and langdetect."""
    with Session(catalogue, checkouts=checkouts, seed=OTHER_SEED, hash_seed=OTHER_SEED) as session:
        yield session


@pytest.mark.audit
def test_stability(implementation, template, verifier_session, other_session, settle):
    calls = [*stability_calls(template), *settle.witnesses(template.name, "stability")]
    result, told = unstable(verifier_session, other_session, implementation, template, calls)
    settle_unstable(settle, calls, result, told, "stability", implementation)


def settle_unstable(settle, calls, result, told, check, implementation):
    rows = call_rows(calls, result)
    alarms = ["unstable" if at in told else alarm for at, alarm in enumerate(rows["alarm"])]
    details = [told.get(at, detail) for at, detail in enumerate(rows["detail"])]
    settle(calls, result, check=check, implementation=implementation, alarms=alarms, detail=details)


# No part of the audit, whose rows are the same each time: a race is lost or won. `-m "audit or slow" -k threads`
@pytest.mark.slow
def test_threads(implementation, template, verifier_session, settle):
    """What is loaded at the first call is loaded by eight threads at once."""
    call = Call(template.name, usual_params(template), *TEXTS[-1])
    alone = verifier_session.call_batch(implementation, template.name, [call.question])
    together = verifier_session.call_together(implementation, template.name, [call.question] * THREADS)
    told = told_threads(alone.verdicts[0], together)
    settle_unstable(settle, [call], alone, {0: told} if told else {}, "threads", implementation)
