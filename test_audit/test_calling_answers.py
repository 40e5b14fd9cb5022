"""Questions that are answered with more than a verdict: descriptions, and invocations of callers."""

import os

import pytest

from verifiers_pinned.invocations import Invocation, invoking, plain
from verifiers_pinned.miniatures import TEMPLATE, catalogue_of, of_body
from verifiers_pinned.session import Limits, Session
from verifiers_pinned.verdicts import Verdict

DESCRIBES = """
import os, random

class Checker:
    def __init__(self, name):
        pass
    def build_description(self, n=None):
        if n == 13:
            os._exit(3)
        if n == 14:
            raise ValueError("no")
        self.n = random.randint(1, 10**9) if n is None else n
        return f"{self.n} words"
    def get_instruction_args(self):
        return {"n": self.n, "of": ("a", {"b"})}
    def check_following(self, value):
        return True

REGISTRY = {"test:it": Checker}
"""


@pytest.fixture
def describe(tmp_path):
    catalogue, checkouts = catalogue_of(tmp_path, {"mini": DESCRIBES})
    with Session(catalogue, checkouts=checkouts, limits=Limits(seconds=2)) as session:
        yield lambda params, **more: session.describe_batch("mini", TEMPLATE, params, **more)


def test_a_checker_describes_itself(describe):
    result = describe([{"n": 3}, {"n": 3}, {"n": 4}])
    assert result.answers[0]["text"] == "3 words"
    assert result.answers[0]["arguments"] == {"n": 3, "of": ["a", plain({"b"})]}
    assert result.answers[0] == result.answers[1]
    assert result.answers[0]["state"] != result.answers[2]["state"]
    assert not result.drew_random[0]


def test_each_seed_is_another_draw_and_the_same_seed_the_same(describe):
    first, again = describe([{}], seeds=range(5)), describe([{}], seeds=range(5))
    assert len({first.answers[k]["arguments"]["n"] for k in range(5)}) == 5
    assert first.answers == again.answers
    assert all(first.drew_random)


def test_answers_before_and_after_a_death_or_an_error_are_kept(describe):
    result = describe([{"n": n} for n in (1, 14, 2, 13, 3, 13, 4)])
    assert {k: told["text"] for k, told in result.answers.items()} == {
        0: "1 words",
        2: "2 words",
        4: "3 words",
        6: "4 words",
    }
    assert [result.details[k] for k in (1, 3, 5)] == ["ValueError: no", *["process ended with exit code 3"] * 2]


def test_a_list_that_is_changed_in_place_shows(tmp_path):
    sorts = DESCRIBES.replace("self.n = random", "n.sort(); self.n = random")
    catalogue, checkouts = catalogue_of(tmp_path, {"mini": sorts})
    with Session(catalogue, checkouts=checkouts) as session:
        answers = session.describe_batch("mini", TEMPLATE, [{"n": [1, 2]}, {"n": [2, 1]}]).answers
    assert [told.get("changed") for told in answers.values()] == [None, {"n": [1, 2]}]


def test_functions_have_no_descriptions(tmp_path):
    catalogue, checkouts = catalogue_of(tmp_path, {"mini": of_body("return True")}, style="function")
    with Session(catalogue, checkouts=checkouts) as session:
        assert session.describe_batch("mini", TEMPLATE, [{}]).verdicts == [Verdict.unsupported]


def test_an_invocation_shows_what_it_does_to_its_arguments():
    made = invoking(os)({"invocation": Invocation("fspath", [Invocation("fsdecode", [b"a"])])}, "")
    assert made == {"value": "a", "before": [["a"], {}], "after": [["a"], {}]}


def test_what_is_not_json_keeps_its_type():
    assert plain([(1, 2), {3: {4}}, 5j]) == [
        [1, 2],
        {"3": {"type": "set", "repr": "[4]"}},
        {"type": "complex", "repr": "5j"},
    ]


def test_what_holds_itself_is_cut():
    endless = []
    endless.append(endless)
    assert "list" in str(plain(endless))
