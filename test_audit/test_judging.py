"""Oracles answer once a reading, and say so where they have no answer; what a template shows is held to them."""

from __future__ import annotations

import json
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from oracles.__main__ import main
from oracles.judging import NoOracle, OracleError, judge, judge_batch, oracle_of, values_of
from oracles.showing import complaints
from specs import load_templates

HEAD = """\
id: count:range
wording: Use {least} to {most} words of {names}.
parameters:
  schema:
    additionalProperties: false
    required: [least, most]
    properties:
      least: {type: integer, description: The fewest words.}
      most: {type: integer, description: The most words.}
constants:
  names: [one, two]
"""
GOOD = """\
oracle:
  axes:
    tokens: {spaces: words(text), runs: word_runs(text)}
  let: {n: count(tokens)}
  accept: least <= n <= most
  provenance: {order: spec_first}
boundaries: [{measure: n, at: [least - 1, most, 0]}]
relations:
  must_preserve: [append_blank_line, double_spaces]
  must_change: [{edit: append_word, when: n == most}]
examples:
  - {id: a, params: {least: 3, most: 5}, text: one two three four five, expect: accept, flags: [boundary]}
  - {id: b, params: {least: 2, most: 3}, text: one two, expect: accept}
  - {id: c, params: {least: 0, most: 0}, text: "", expect: accept}
  - {id: d, params: {least: 3, most: 5}, text: one two, expect: reject}
  - {id: e, params: {least: 1, most: 1}, text: one two, expect: reject}
  - {id: f, params: {least: 1, most: 5}, text: "", expect: reject}
  - {id: g, params: {least: 2, most: 2}, text: well-known, expect: either, flags: [word_forms]}
"""


@pytest.fixture
def template(tmp_path):
    def load(text: str = GOOD, *replacements: tuple[str, str]):
        for old, new in replacements:
            assert old in text
            text = text.replace(old, new)
        path = tmp_path / "local/count/range.yaml"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(HEAD + text, encoding="utf-8")
        return load_templates([tmp_path])["local/count:range"]

    return load


def oracle(accept: str, axes: str = "", let: str = "") -> str:
    parts = [f"  axes: {axes}\n" if axes else "", f"  let: {let}\n" if let else ""]
    return f"oracle:\n{''.join(parts)}  accept: {accept}\n  provenance: {{order: spec_first}}\n"


def test_readings_that_agree_give_their_answer_and_others_give_either(template):
    ranged = template()
    assert judge(ranged, {"least": 1, "most": 2}, "one two").answer == "accept"
    assert judge(ranged, {"least": 2.0, "most": 2}, "well-known") == (
        "either",
        {"tokens=spaces": "reject", "tokens=runs": "accept"},
    )
    assert [
        each.answer for each in judge_batch(ranged, [({"least": 2, "most": 2}, "a"), ({"least": 1, "most": 1}, "a")])
    ] == [
        "reject",
        "accept",
    ]


def test_readings_are_the_product_of_the_axes_and_later_axes_see_earlier(template):
    axes = "{fold: {exact: text, blind: lower(text)}, tokens: {spaces: words(fold), bare: bare_words(fold)}}"
    judgement = judge(template(oracle("most > 0 and 'one' in tokens", axes)), {"least": 0, "most": 1}, "One!")
    assert judgement.readings == {
        "fold=exact, tokens=spaces": "reject",
        "fold=exact, tokens=bare": "reject",
        "fold=blind, tokens=spaces": "reject",
        "fold=blind, tokens=bare": "accept",
    }


def test_constants_and_names_in_order_may_be_used(template):
    judged = template(
        oracle("big and small", let="{n: count(words(text)), big: n > least, small: words(text) == names}")
    )
    assert judge(judged, {"least": 1, "most": 2}, "one two") == ("accept", {"only": "accept"})


@given(text=st.text(alphabet="ab -'\n", max_size=40), least=st.integers(0, 5))
def test_a_judgement_is_what_each_reading_says_alone(tmp_path_factory, text, least):
    folder = tmp_path_factory.getbasetemp() / "alone/local/count"
    if not folder.exists():
        folder.mkdir(parents=True)
        (folder / "range.yaml").write_text(HEAD + GOOD, encoding="utf-8")
    (ranged,) = load_templates([folder.parent.parent]).values()
    spaces, runs = judge(ranged, {"least": least, "most": 6}, text).readings.values()
    assert (spaces == "accept") == (least <= len(text.split()) <= 6)
    values = values_of(ranged.name, ranged.oracle, ranged.boundaries[0].measure)({"least": least, "most": 6}, text)
    assert (runs == "accept") == (least <= values[1] <= 6)


@pytest.mark.parametrize(
    ("text", "params", "told"),
    [
        (oracle("words(text)[0] == 'a'"), {}, "in accept (only): IndexError"),
        (oracle("least < n", let="{n: most // (most - 2)}"), {}, "in n (only): ZeroDivisionError"),
        (
            oracle("n > least", "{n: {first: len(text), second: most // len(text)}}"),
            {},
            "in n (n=second): ZeroDivision",
        ),
        (oracle("least < most"), {"least": "1"}, "in the arguments: ValueError: 1"),
        (
            oracle("any(i != i for i in range(most) for j in range(most))"),
            {"most": 10**6},
            "in accept (only): TooManySteps",
        ),
    ],
)
def test_an_oracle_without_an_answer_gives_no_verdict(template, text, params, told):
    with pytest.raises(OracleError) as caught:
        judge(template(text), {"least": -1, "most": 2, **params}, "")
    assert told in str(caught.value)
    assert str(caught.value).startswith("local/count:range: the oracle has no answer")
    assert caught.value.text == ""


@pytest.mark.parametrize(
    ("first", "step", "told"),
    [("text", "+", "TooManySteps"), ("words(text)", "+", "TooManySteps"), ("most", "*", "OverflowError")],
)
def test_names_that_double_each_other_end(template, first, step, told):
    names = [f"a0: {first}", *(f"a{index + 1}: a{index} {step} a{index}" for index in range(60))]
    grown = template(oracle("a60 == a60", let=f"{{{', '.join(names)}}}"))
    with pytest.raises(OracleError, match=told):
        judge(grown, {"least": 1, "most": 10}, "a b")


def test_a_template_without_an_oracle_says_so(template):
    with pytest.raises(NoOracle, match="local/count:range has no oracle"):
        judge(template(""), {}, "a")
    python = "oracle: {python: nowhere.nothing, provenance: {order: code_aware}}\n"
    with pytest.raises(NoOracle, match=r"nowhere\.nothing is not in oracles/written"):
        judge(template(python), {}, "a")


@pytest.mark.parametrize(
    ("given_back", "answer"), [("True", "accept"), ("{'a': True, 'b': False}", "either"), ("None", ""), ("{}", "")]
)
def test_a_python_oracle_answers_once_or_by_reading(template, monkeypatch, tmp_path, given_back, answer):
    (tmp_path / "told.py").write_text(f"def it(params, text):\n    return {given_back}\n", encoding="utf-8")
    monkeypatch.setattr("oracles.written.__path__", [str(tmp_path)])
    monkeypatch.delitem(__import__("sys").modules, "oracles.written.told", raising=False)
    judged = template("oracle: {python: told.it, provenance: {order: code_aware}}\n")
    oracle_of.cache_clear()
    if answer:
        assert judge(judged, {}, "a").answer == answer
    else:
        with pytest.raises(OracleError, match="not True or False by reading"):
            judge(judged, {}, "a")


def test_what_a_good_template_shows_fits_its_oracle(template):
    assert complaints(template()) == []


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ("text: one two, expect: accept", "text: one two, expect: either", "'b' expects either; the oracle says"),
        ("expect: either, flags", "expect: accept, flags", "'g' expects accept; the oracle says either (tokens"),
        ("text: well-known", "text: well known", "the reading tokens=runs differs from its siblings on no example"),
        ("  - {id: c", "  - {id: cc, params: {least: 9, most: 9}, text: a, expect: reject}\n  - {id: c", ""),
        ('least: 1, most: 5}, text: "", expect: reject', 'least: 0, most: 5}, text: " ", expect: accept', "2 ex"),
        ("[append_blank_line", "[append_word", "append_word must preserve the verdict; on example 'a'"),
        ("n == most", "n == least", "append_word must change the verdict; on example 'b' it goes from accept"),
        ("n == most", "n == 77", "append_word must change the verdict, but applies to no example"),
    ],
)  # fmt: skip
def test_what_does_not_fit_the_oracle_is_told(template, old, new, told):
    found = complaints(template(GOOD, (old, new)))
    assert found == [] if not told else any(told in message for message in found)


@pytest.mark.parametrize("name", [name for name, each in load_templates().items() if each.oracle])
def test_examples_and_relations_fit_the_oracle(name):
    assert complaints(load_templates()[name]) == []


def test_a_judgement_costs_microseconds(template):
    judged, params = oracle_of(template()), {"least": 1, "most": 9}
    started = time.process_time()
    for _ in range(1000):
        judged(params, "a few words of an answer")
    assert time.process_time() - started < 0.1


@pytest.fixture
def run(template, tmp_path, capsys):
    template()

    def command(*arguments: str):
        code = main([*arguments, "--directory", str(tmp_path)])
        return code, *capsys.readouterr()

    return command


def test_one_response_is_judged_from_the_command_line(run, tmp_path):
    asked = ["judge", "local/count:range", "--params", '{"least": 2, "most": 2}']
    assert run(*asked, "--text", "well-known") == (0, "either\n  tokens=spaces: reject\n  tokens=runs: accept\n", "")
    (tmp_path / "response.txt").write_text("a b\n", encoding="utf-8")
    code, out, _ = run(*asked, "--text-file", str(tmp_path / "response.txt"), "--json")
    assert (code, json.loads(out)["oracle"], json.loads(out)["text"]) == (0, "accept", "a b\n")


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["local/count:rang", "--text", ""], "did you mean 'local/count:range'?"),
        (["local/count:range", "--params", '{"least": 1}', "--text", ""], "the key 'most' is missing"),
        (["local/count:range", "--params", "{", "--text", ""], "not JSON"),
        (["local/count:range"], "say TEMPLATE with --text"),
        (["local/count:range", "--text-file", "/nowhere"], "/nowhere cannot be read: No such file"),
        (["local/count:range", "--jsonl", "-"], "leave TEMPLATE out"),
    ],
)
def test_a_wrong_question_is_answered_with_a_sentence(run, arguments, told):
    code, out, errors = run("judge", *arguments)
    assert (code, out) == (2, "")
    assert told in errors


def test_bad_lines_are_named_and_lose_no_good_ones(run, tmp_path):
    good = {"id": 7, "template": "local/count:range", "params": {"least": 1, "most": 2}, "text": "a"}
    lines = [
        json.dumps(good).encode(),
        b"{",
        b"",
        b"\xff",
        b"[" * 99_999,
        b"{}",
        json.dumps({**good, "id": 8}).encode(),
    ]
    (tmp_path / "asked.jsonl").write_bytes(b"\n".join(lines))
    code, out, errors = run("judge", "--jsonl", str(tmp_path / "asked.jsonl"))
    assert code == 2
    assert [json.loads(line)["id"] for line in out.splitlines()] == [7, 8]
    assert json.loads(out.splitlines()[0]) == {
        **good, "oracle": "accept", "readings": {"tokens=spaces": "accept", "tokens=runs": "accept"}
    }  # fmt: skip
    assert [line.partition("jsonl:")[2].partition(":")[0] for line in errors.splitlines()[:-1]] == ["2", "4", "5", "6"]


def test_checking_tells_what_does_not_fit(run, template):
    assert run("check", "local/count:range")[:2] == (0, "1 oracles, 7 examples: they fit\n")
    template(GOOD, ("expect: either, flags", "expect: accept, flags"))
    code, out, errors = run("check", "local/count:range")
    assert (code, errors) == (1, "1 oracles, 7 examples: 1 complaints\n")
    assert "range.yaml: example 'g' expects accept" in out
