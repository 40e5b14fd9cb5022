"""The four styles, the verdicts that need no process, and pins that cannot be used."""

import dataclasses

import pytest

from verifiers_pinned.miniatures import TEMPLATE, catalogue_of, of_body
from verifiers_pinned.pins import UnknownPin
from verifiers_pinned.records import Entry, Replacement
from verifiers_pinned.session import Limits, Session
from verifiers_pinned.verdicts import VerifierUnavailable, answer_of

PAIRS = 'def check(name, text, params):\n    return name == "test:it" and text == params["word"], "a detail"\n'
FUNCTIONS = 'def same(text, word):\n    return text == word\nREGISTRY = {"test:it": same}\n'
METHODS = """
import json
import surely_not_installed

class Verifiers(surely_not_installed.Base):
    pass

class Kept:
    @staticmethod
    def check(text, name, params):
        return json.loads(text) == params["word"]
"""


def verdicts(folder, source, calls, *, guard=False, **changes):
    catalogue, checkouts = catalogue_of(folder, {"mini": source}, **changes)
    with Session(catalogue, checkouts=checkouts, limits=Limits(seconds=2), guard=guard) as session:
        return session.call_batch("mini", TEMPLATE, calls)


@pytest.mark.parametrize(
    ("style", "source", "entry", "text"),
    [
        ("class", of_body("return value == self.kwargs['word']"), Entry("checks", "REGISTRY"), "a"),
        ("dictionary", FUNCTIONS, Entry("checks", "REGISTRY", None, ("text", "**params")), "a"),
        ("function", PAIRS, Entry("checks", "check", None, ("id", "text", "params"), "pair"), "a"),
        ("method", METHODS, Entry("checks", "Kept", "check", ("text", "id", "params")), '"a"'),
    ],
)
def test_each_style_is_called_its_own_way(tmp_path, style, source, entry, text):
    calls = [({"word": "a"}, text), ({"word": "b"}, text)]
    assert verdicts(tmp_path, source, calls, style=style, entry=entry).verdicts == ["accept", "reject"]


def test_parameters_are_renamed_dropped_and_added(tmp_path):
    body = "return self.kwargs == {'theirs': 1, 'always': True}"
    changes = {
        "parameters": {TEMPLATE: {"ours": "theirs", "unheard": None}},
        "constants": {TEMPLATE: {"always": True}},
    }
    assert verdicts(tmp_path, of_body(body), [({"ours": 1, "unheard": 2}, "")], **changes).verdicts == ["accept"]


def test_values_without_words_are_unsupported_and_the_rest_is_answered(tmp_path):
    calls = [({"how": how}, "") for how in ("at least", "around", "at least")]
    result = verdicts(tmp_path, of_body("return True"), calls, only={TEMPLATE: {"how": ("at least",)}})
    assert result.verdicts == ["accept", "unsupported", "accept"]
    assert result.details == {1: "mini has no words for these params"}


def test_a_pair_is_no_boolean_unless_it_is_declared(tmp_path):
    result = verdicts(tmp_path, of_body("return True, 'why'"), [({}, "")])
    assert (result.verdicts, result.details) == (["crash"], {0: "returned tuple, not a boolean"})


def test_the_guard_rejects_blank_text_without_a_call(tmp_path):
    result = verdicts(tmp_path, of_body("raise ValueError"), [({}, " \n"), ({}, "a"), ({}, "")], guard=True)
    assert result.verdicts == ["reject", "crash", "reject"]


def test_a_template_that_is_not_covered_is_unsupported(tmp_path):
    catalogue, checkouts = catalogue_of(tmp_path, {"mini": of_body("return True")})
    with Session(catalogue, checkouts=checkouts) as session:
        result = session.call_batch("mini", "local/other:one", [({}, "a")] * 2)
    assert result.verdicts == ["unsupported"] * 2
    assert session._zygote is None


def test_what_is_not_there_is_not_run_and_says_why(tmp_path):
    catalogue, _ = catalogue_of(tmp_path, {"mini": of_body("return True")})
    with Session(catalogue) as session:
        result = session.call_batch("mini", TEMPLATE, [({}, "a")])
    assert (result.verdicts, result.details) == (["not_run"], {0: "not given: --checkout mini=DIR"})


def test_an_unknown_key_is_answered_with_a_neighbour(tmp_path):
    catalogue, _ = catalogue_of(tmp_path, {"minimal": of_body("return True")})
    with pytest.raises(UnknownPin, match="did you mean 'minimal'"):
        Session(catalogue).call_batch("minimol", TEMPLATE, [])


@pytest.mark.parametrize(
    ("source", "told"),
    [
        ("import surely_not_installed", "pin mini: needs the module 'surely_not_installed', which is not installed"),
        ("from . import other", "pin mini: its import raised ImportError"),
        ("from .other import name", "pin mini: imports 'other', which its pin lists neither as a member nor"),
        ("1/0", "pin mini: its import raised ZeroDivisionError"),
        ("raise SystemExit", "pin mini: its import raised SystemExit"),
        ("import os; os._exit(4)", "pin mini: its import did not end: process ended with exit code 4"),
        ("x = (", r"pin mini: checks.py does not parse on this Python, line 1"),
        ("REGISTRY = {}", "pin mini: checks.REGISTRY has no 'test:it', which its pin covers"),
        ("", "pin mini: module checks has no 'REGISTRY', which its pin names"),
    ],
)
def test_a_broken_pin_is_an_error_and_no_verdict(tmp_path, source, told):
    with pytest.raises(VerifierUnavailable, match=told):
        verdicts(tmp_path, source, [({}, "a")])


def test_a_replacement_must_fit(tmp_path):
    body = of_body("return value == WORD", "WORD = 'old'\n")
    fits = {"replacements": {"checks": (Replacement("WORD = 'old'", "WORD = 'new'"),)}}
    assert verdicts(tmp_path / "a", body, [({}, "new")], **fits).verdicts == ["accept"]
    with pytest.raises(
        VerifierUnavailable, match="module checks holds 'gone' 0 times, and its pin replaces it 1 times"
    ):
        verdicts(tmp_path / "b", body, [({}, "")], replacements={"checks": (Replacement("gone", ""),)})


def test_stand_ins_are_declared_and_known(tmp_path):
    source = of_body("logger.info('%s', value)\nreturn True", "from ._log import logger\n")
    assert verdicts(tmp_path / "a", source, [({}, "")], stand_ins={"_log": ("logger",)}).verdicts == ["accept"]
    with pytest.raises(VerifierUnavailable, match="asks for the stand-in 'loger', which nobody wrote"):
        verdicts(tmp_path / "b", source, [({}, "")], stand_ins={"_log": ("loger",)})


def test_a_pin_is_imported_under_a_private_name(tmp_path):
    source = of_body("import sys\nreturn __name__ == '_assay_pinned.mini.checks' and 'checks' not in sys.modules")
    assert verdicts(tmp_path, source, [({}, "")]).verdicts == ["accept"]


def test_downloads_are_recorded_and_answered_from_what_is_there(tmp_path):
    source = of_body("return nltk.download('punkt')", "import nltk\nnltk.download('stopwords')\n")
    catalogue, checkouts = catalogue_of(tmp_path, {"mini": source}, requires=("nltk",))
    with Session(catalogue, checkouts=checkouts) as session:
        assert session.call_batch("mini", TEMPLATE, [({}, "")]).verdicts == ["reject"]
    assert session.downloads == {"mini": ["punkt", "stopwords"]}


def test_batches_longer_than_the_board_keep_their_order(tmp_path):
    calls = [({"n": number % 7}, str(number % 3)) for number in range(9001)]
    result = verdicts(tmp_path, of_body("return int(value) == self.kwargs['n']"), calls)
    assert result.verdicts == ["accept" if int(text) == params["n"] else "reject" for params, text in calls]


def test_an_empty_batch_starts_nothing(tmp_path):
    assert verdicts(tmp_path, of_body("return True"), []).verdicts == []


@pytest.mark.parametrize(
    ("value", "answer"), [(True, True), (False, False), (None, None), (1, None), (0, None), ([], None), ("", None)]
)
def test_only_booleans_are_answers(value, answer):
    assert answer_of(value) is answer


def test_a_bool_of_numpy_is_a_boolean():
    numpy = pytest.importorskip("numpy")
    assert answer_of(numpy.bool_(True)) is True
    assert answer_of(numpy.int64(1)) is None


@pytest.mark.parametrize("limits", [{"seconds": 0}, {"seconds": 1e9}, {"memory_bytes": 0}])
def test_limits_out_of_range_are_refused(limits):
    with pytest.raises(ValueError):
        dataclasses.replace(Limits(), **limits)
