"""Liars that change their mind, each caught by one of the ways in which the stability check asks again."""

import pytest

from audit.calls import Call
from audit.stability import asker, restless, spread, told_differences, told_spread, told_threads
from verifiers_pinned.miniatures import TEMPLATE, catalogue_of, of_body
from verifiers_pinned.session import Session

LIARS = {
    "draws": of_body("import random\nreturn random.random() < 0.5"),
    "hashes": of_body("return hash('a word') % 2 == 0 or hash('another') % 3 == 0"),
    "loads_once": of_body(
        """
        if not STATE:
            STATE.append(sum(range(1_000_000)))
            STATE.append(1)
        return len(STATE) == 2
        """,
        prelude="STATE = []\n",
    ),
    "honest": of_body("return value == 'yes'"),
}
QUESTION = ({}, "yes")


@pytest.fixture(scope="module")
def pins(tmp_path_factory):
    return catalogue_of(tmp_path_factory.mktemp("pins"), LIARS)


@pytest.fixture(scope="module")
def session(pins):
    with Session(pins[0], checkouts=pins[1]) as opened:
        yield opened


@pytest.mark.parametrize(("liar", "told"), [("draws", True), ("honest", False)])
def test_many_seeds_catch_one_that_draws(session, liar, told):
    calls = [Call(TEMPLATE, {}, "yes", "yes")]
    found = restless(calls, session.call_batch(liar, TEMPLATE, [QUESTION]))
    assert len(found) == told
    assert [told_spread(counts) is not None for counts in spread(calls, asker(session, liar), 50)] == [told]


def test_another_hash_seed_catches_one_that_hashes(pins, session):
    ours = session.call_batch("hashes", TEMPLATE, [QUESTION])
    told = []
    for hash_seed in range(1, 5):
        with Session(pins[0], checkouts=pins[1], hash_seed=hash_seed) as other:
            told.append(told_differences(ours, other.call_batch("hashes", TEMPLATE, [QUESTION]), "elsewhere"))
    assert any(told)


@pytest.mark.parametrize(("liar", "told"), [("loads_once", True), ("honest", False)])
def test_threads_catch_one_that_loads_at_its_first_call(session, liar, told):
    alone = session.call_batch(liar, TEMPLATE, [QUESTION]).verdicts[0]
    together = session.call_together(liar, TEMPLATE, [QUESTION] * 8)
    assert (told_threads(alone, together) is not None) == told


def test_a_seed_a_call_is_asked_for(session):
    with pytest.raises(ValueError, match="2 seeds for 1 calls"):
        session.call_batch("honest", TEMPLATE, [QUESTION], seeds=[1, 2])


def test_the_same_seed_gives_the_same_verdict(session):
    asked = [QUESTION] * 40
    one = session.call_batch("draws", TEMPLATE, asked, seeds=range(40)).verdicts
    assert one == session.call_batch("draws", TEMPLATE, asked, seeds=range(40)).verdicts
    assert len(set(one)) == 2


def test_calls_that_drew_are_chosen_with_different_arguments_first(session):
    calls = [Call(TEMPLATE, {"n": at // 3}, "text", "yes") for at in range(9)]
    result = session.call_batch("draws", TEMPLATE, [call.question for call in calls])
    assert restless(calls, result, 3) == [0, 3, 6]
