"""A verdict depends on the call alone: not on its batch, its neighbours or its process."""

from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from verifiers_pinned.miniatures import TEMPLATE, catalogue_of, of_body
from verifiers_pinned.session import Limits, Session

SOURCES = {
    "draws": of_body("import random\nreturn random.choice([True, False]) == (random.random() < 0.5)"),
    "draws_from_import": of_body("return choice([True, False])", "from random import choice\n"),
    "seeds_itself": of_body("import random\nrandom.seed(len(value))\nreturn random.random() < 0.5"),
    "asks_for_entropy": of_body("import random\nrandom.seed()\nreturn random.random() < 0.5"),
}
calls = st.lists(st.tuples(st.builds(dict, n=st.integers(0, 3)), st.text(max_size=5)), min_size=1, max_size=8)


@pytest.fixture(scope="module")
def session():
    with TemporaryDirectory() as folder:
        catalogue, checkouts = catalogue_of(Path(folder), SOURCES)
        with Session(catalogue, checkouts=checkouts, limits=Limits(seconds=2)) as opened:
            yield opened


@pytest.mark.parametrize("key", SOURCES)
@settings(max_examples=40, deadline=None)
@given(calls=calls, order=st.randoms(use_true_random=False))
def test_a_batch_in_any_order_equals_single_calls(session, key, calls, order):
    alone = [session.call_batch(key, TEMPLATE, [call]).verdicts[0] for call in calls]
    places = list(range(len(calls)))
    order.shuffle(places)
    shuffled = session.call_batch(key, TEMPLATE, [calls[place] for place in places]).verdicts
    assert shuffled == [alone[place] for place in places]


def test_draws_differ_between_texts_and_between_seeds(session):
    texts = [({}, str(number)) for number in range(64)]
    first = session.call_batch("draws", TEMPLATE, texts)
    assert len(set(first.verdicts)) == 2
    with Session(session.catalogue, checkouts=session._checkouts, seed=1) as other:
        assert other.call_batch("draws", TEMPLATE, texts).verdicts != first.verdicts


def test_a_verifier_that_seeds_itself_did_not_draw_at_random(session):
    assert not any(session.call_batch("seeds_itself", TEMPLATE, [({}, "a")]).drew_random)
    assert all(session.call_batch("asks_for_entropy", TEMPLATE, [({}, "a")]).drew_random)
