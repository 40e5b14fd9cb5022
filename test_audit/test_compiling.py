"""Compiled predicates say what Python would, never fail on a text, and end."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from oracles.compiling import TooManySteps, compile_expression, compile_predicate
from specs.language import Scope, load_measures, read_expression, read_predicate

SCHEMA = {
    "properties": {
        "n": {"type": "integer"},
        "share": {"type": "number"},
        "names": {"type": "array", "items": {"type": "string"}},
        "name": {"type": "string"},
    }
}
SCOPE = Scope.of_templates([SCHEMA], load_measures())
PARAMS = {"n": 2, "share": 0.5, "names": ["b", "a"], "name": "b"}
PREDICATES = [
    "len(words(text)) >= n",
    "words(text)[0] == name or words(text)[-1] == words(text)[0]",
    "all(count_of(lower(text), w) > 0 for w in names)",
    "any(a == b for a in words(text) for b in names if a != '')",
    "all(a <= b for a, b in zip(words(text), words(text)[1:]))",
    "max(len(w) for w in words(text)) > 10 // len(text)",
    "sum(len(line) for line in lines(text)) % n == 0 and sorted(names)[0] in text",
    "text[n:-1] == text[::-1][1:] if len(text) > n else is_blank(text)",
    "len(set(words(text)) & {w for w in names}) > share * n",
    "name in ('a', 'b') and [i for i, w in enumerate(words(text)) if w == name] != []",
]


def value(source: str, text: str = "", **params):
    return compile_expression(read_expression(source, SCOPE))({**PARAMS, **params}, text)


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("words('b a  b')[1:]", ["a", "b"]),
        ("count(w for w in words('b a b') if w in names)", 3),
        ("len(range(2, 9, 3)) + range(3)[1]", 4),
        ("(1, 2) == [1, 2]", True),
        ("[(i, w) == (0, 'b') for i, w in enumerate(names)]", None),
        ("-7 // 2 + -7 % 3", -2),
        ("1 < n <= 2 < 3", True),
        ("len(zip(names, 'abc'))", 2),
        ("[w for w in words('a b') if w == name or 'a' in w]", ["a", "b"]),
        ("int(share * 5)", 2),
    ],
)
def test_values_are_those_of_python(source, expected):
    if expected is not None:
        assert value(source) == expected


@pytest.mark.parametrize(
    "source", ["words(text)[0] == ''", "1 / len(text) > 0", "min(words(text)) == ''", "name == name and n > 1 / 0"]
)
def test_a_predicate_without_a_value_is_false(source):
    assert compile_predicate(read_predicate(source, SCOPE))(PARAMS, "") is False


def test_a_condition_before_keeps_it_from_having_none():
    guarded = compile_predicate(read_predicate("len(words(text)) == 0 or words(text)[0] == 'a'", SCOPE))
    assert guarded(PARAMS, "") is True


@pytest.mark.parametrize("params", [{}, {"n": "2"}, {"n": 2.5}, {"n": None}, {"n": True}, {"n": [2]}])
def test_arguments_that_are_none_give_no_value(params):
    assert compile_predicate(read_predicate("n > 0 or n < 1", SCOPE))(params, "a") is False


def test_a_whole_number_may_be_given_as_a_float():
    assert value("text[n]", "abc", n=2.0) == "c"


def test_loops_in_loops_end():
    endless = compile_predicate(read_predicate("any(a != a for a in text for b in text)", SCOPE))
    with pytest.raises(TooManySteps):
        endless(PARAMS, "a" * 5000)
    with pytest.raises(TooManySteps):
        value("range(1000000 * 1000000)")


@pytest.mark.parametrize("source", PREDICATES)
@given(text=st.text(max_size=40) | st.text(alphabet="ab \n", max_size=40), n=st.integers(-3, 9))
def test_a_predicate_answers_every_text(source, text, n):
    assert compile_predicate(read_predicate(source, SCOPE))({**PARAMS, "n": n}, text) in (True, False)


@given(text=st.text(alphabet="abAB \n", max_size=30))
def test_computing_a_measure_once_changes_nothing(text):
    again = "all(w in lower(text) for w in words(lower(text))) and len(words(lower(text))) >= 0"
    assert value(again, text) is True


def test_measures_of_the_text_are_computed_once(monkeypatch):
    calls = []
    monkeypatch.setitem(compile_expression.__globals__["MEASURES"], "words", lambda text: calls.append(text) or ["a"])
    value("all(w in words(text) for w in ['a', 'a', 'a']) and len(words(text)) > 0")
    assert len(calls) == 1
