"""What a template says of right and wrong is refused with its place where it does not fit together."""

from __future__ import annotations

import pytest

from specs import DocumentError, load_templates

SPEC = """\
id: count:range
wording: Use {least} to {most} words, {how}.
parameters:
  schema:
    additionalProperties: false
    required: [least, how]
    properties:
      least: {type: integer, description: The fewest words.}
      most: {type: integer, description: The most words.}
      how: {type: string, enum: [less than, at least], description: How it compares.}
constants:
  names: [one, two]
oracle:
  axes:
    tokens: {spaces: words(text), runs: word_runs(text)}
  let:
    n: count(tokens)
  accept: least <= n and how == 'at least'
  provenance: {order: spec_first}
boundaries: [{measure: n, at: [least - 1, 0]}]
relations:
  must_preserve: [append_blank_line]
  must_change: [{edit: append_word, when: n == least}]
examples:
  - {id: a, params: {least: 3, how: at least}, text: one two three, expect: accept, flags: [boundary]}
  - {id: b, params: {least: 3, how: at least}, text: one two, expect: reject}
"""


@pytest.fixture
def problems(tmp_path):
    def load(*replacements: tuple[str, str]) -> list[str]:
        text = SPEC
        for old, new in replacements:
            assert old in text
            text = text.replace(old, new)
        path = tmp_path / "local/count/range.yaml"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        try:
            load_templates([tmp_path])
        except DocumentError as error:
            return [line.partition("range.yaml:")[2] for line in str(error).splitlines()]
        return []

    return load


def test_a_good_one_has_none(problems):
    assert problems() == []


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ("word_runs(text)", "word_run(text)", "15:41: oracle.axes.tokens.runs: there is no measure 'word_run'; did"),
        ("word_runs(text)", "len(text)", "15:41: oracle.axes.tokens.runs: the readings of an axis are of one kind"),
        ("tokens: {", "least: {", "15:5: oracle.axes: 'least' is a parameter or constant; give this another name"),
        ("tokens: {", "words: {", "15:5: oracle.axes: 'words' is a measure"),
        ("tokens: {", "count: {", "15:5: oracle.axes: 'count' is built in"),
        ("tokens: {", "names: {", "15:5: oracle.axes: 'names' is a parameter or constant"),
        ("    n: count", "    tokens: count", "17:5: oracle.let: 'tokens' is an axis or a let before"),
        ("    n: count(tokens)", "    k: n + 1\n    n: count(tokens)", "17:8: oracle.let.k: there is no 'n' here"),
        ("    n: count(tokens)", "    n: count(tokens)\n    k: n + 1", "18:5: oracle.let: 'k' is not used by accept"),
        ("  let:", "    fold: {a: text, b: lower(text)}\n  let:", "16:5: oracle.axes: 'fold' is not used by accept"),
        ("least <= n", "most <= n", "18:11: oracle.accept: there is no 'most' here"),
        ("'at least'", "'atleast'", "18:33: oracle.accept: how is never 'atleast'; did you mean 'at least'?"),
        ("least <= n and how == 'at least'", "n", "18:11: oracle.accept: a condition is true or false"),
        ("least <= n", "n.real <= n", "18:11: oracle.accept: values have no attributes here: no .real"),
        ("least <= n", "10 ** 9 ** 9 > n", "18:11: oracle.accept: not allowed here: a power"),
        ("runs: word_runs(text)", "runs: words(text", "15:46: oracle.axes.tokens.runs: not an expression"),
        (", runs: word_runs(text)", "", "15:13: oracle.axes.tokens: "),
        ("  accept: least", "  python: a.b\n  accept: least", "14:3: oracle: an oracle has either accept, with"),
        ("spec_first", "code_first", "19:23: oracle.provenance.order: 'code_first' is not one of"),
        ("measure: n,", "measure: tokens,", "20:24: boundaries[0].measure: a bound is a number; this is of kind list"),
        ("measure: n,", "measure: least,", "20:24: boundaries[0].measure: this does not depend on the text"),
        ("least - 1, 0", "n - 1, 0", "20:32: boundaries[0].at[0]: there is no 'n' here"),
        ("[append_blank_line]", "[append_blank]", "22:19: relations.must_preserve[0]: 'append_blank' is not in"),
        ("when: n == least", "when: m == least", "23:43: relations.must_change[0].when: there is no 'm' here"),
        ("edit: append_word", "edit: append_words", "did you mean 'append_word'?"),
        ("id: b,", "id: a,", "26:10: examples[1].id: 'a' stands in an earlier example too"),
        ("id: b,", "id: B b,", "26:10: examples[1].id: "),
        ("text: one two,", "text: one two three,", "26:5: examples[1]: 'a' has the same params and text already"),
        ("least: 3, how: at least}, text: one two,", "least: a, how: at}, text: one,", "26:21: examples[1].params: "),
        ("[boundary]", "[boundry]", "25:93: examples[0].flags[0]: 'boundry' is not among the traps of"),
        ("expect: reject", "expect: rejected", "examples[1].expect: 'rejected' is not one of"),
    ],
)  # fmt: skip
def test_each_mistake_is_named_where_it_stands(problems, old, new, told):
    found = problems((old, new))
    assert any(told in line for line in found), found


def test_a_name_that_is_wrong_is_told_once(problems):
    assert len(problems(("count(tokens)", "cound(tokens)"))) == 1


def test_seventeen_readings_are_too_many(problems):
    axes = "".join(f"    a{index}: {{x: text, y: lower(text)}}\n" for index in range(4))
    (told,) = problems(("  let:", f"{axes}  let:"), ("least <= n", "least <= n and (a0 + a1 + a2 + a3) == ''"))
    assert told.startswith("15:5: oracle.axes: 32 readings where at most 16 are allowed")


def test_examples_need_an_oracle(problems):
    start, end = SPEC.index("oracle:"), SPEC.index("boundaries:")
    found = problems((SPEC[start:end], ""))
    assert [line.split(": ", 1)[1] for line in found] == [
        f"document: {key!r} is held to an oracle, and this file has none"
        for key in ("boundaries", "relations", "examples")
    ]
