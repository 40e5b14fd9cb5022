"""Rows: what a batch accepts, what it refuses and how it says so."""

import json
from enum import Enum

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reports.row import SCHEMA, RowError, canonical_json, row_batch

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


def test_a_column_that_is_not_given_is_null():
    batch = row_batch({"verdict": ["accept", "reject"]}, run="r")
    assert batch["oracle"].null_count == 2
    assert batch.schema == SCHEMA


def test_one_value_holds_for_all_rows():
    batch = row_batch({"verdict": ["accept", "reject"], "response": "Yes.", "params": {"b": 1, "a": 2}}, check="probe")
    assert batch["response"].to_pylist() == ["Yes.", "Yes."]
    assert batch["params"].to_pylist() == ['{"a":2,"b":1}'] * 2


def test_an_enumeration_of_words_is_taken_as_its_words():
    verdict = Enum("verdict", {"accept": "accept"}, type=str)
    assert row_batch({"verdict": [verdict.accept]})["verdict"].to_pylist() == ["accept"]


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ({"verdit": ["accept"]}, "no column 'verdit'; did you mean 'verdict'?"),
        ({"verdict": ["acept"]}, "'acept' is none of accept, reject.*did you mean 'accept'?"),
        ({"verdict": "passed"}, "'passed' is none of"),
        ({"alarm": ["unstabel"]}, "did you mean 'unstable'?"),
        ({"outcome": [None, "false"]}, "'false' is none of agree"),
        ({"instance": [0, 1], "response": ["a"]}, "differ in length: instance 2, response 1"),
        ({"instance": [0, "one"]}, r"'instance', row 1: 'one' \(str\) is not a int32"),
        ({"instance": [2**40]}, "'instance', row 0"),
        ({"response": ["a", 1]}, r"'response', row 1: 1 \(int\) is not a string"),
        ({"params": [{"a": {1, 2}}]}, "'params', row 0: .* is not JSON"),
        ({"params": ["{a: 1}"]}, "'params', row 0: .* is not JSON"),
        ({"params": [{"a": float("nan")}]}, "is not JSON"),
        ({"response": object()}, "'response' is a object; give a sequence or one value"),
        ({"check": ["probe"]}, "'check' is given twice"),
    ],
)
def test_rows_that_do_not_fit_are_refused_with_the_place(rows, message):
    with pytest.raises(RowError, match=message):
        row_batch(rows, check="probe")


def test_a_lone_surrogate_is_kept_escaped():
    assert row_batch({"response": ["a\ud800", None]})["response"].to_pylist() == ["a\\ud800", None]


def test_parameters_made_on_the_fly_are_not_mixed_up():
    class Fresh(list):
        def __iter__(self):
            return ({"n": n} for n in range(len(self)))

    batch = row_batch({"params": Fresh([None] * 200)})
    assert batch["params"].to_pylist() == [f'{{"n":{n}}}' for n in range(200)]


@given(JSON)
def test_canonical_json_is_the_same_for_a_value_and_its_text(value):
    text = canonical_json({"value": value})
    assert canonical_json(json.dumps({"value": value}, indent=1)) == text
    assert json.loads(text) == {"value": value}


@given(st.lists(st.text() | st.none(), max_size=5))
def test_text_comes_back_as_it_went_in(texts):
    assert row_batch({"response": texts})["response"].to_pylist() == texts
