"""Templates load as their files say, and every mistake in a file or in arguments is named with its place."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from specs import (
    DocumentError,
    ParameterError,
    UnknownTemplate,
    find_template,
    load_probes,
    load_templates,
    read_template,
)
from specs.skeleton import write_skeleton

GOOD = """\
id: count:marks
wording: Use {limit} marks out of {marks}, {how}.
parameters:
  schema:
    additionalProperties: false
    required: [limit]
    properties:
      limit: {type: integer, minimum: 0, description: How many marks.}
      how: {type: string, enum: [at least, at most], examples: [at most], description: How it compares.}
  shown:
    how: {at least: or more}
constants:
  marks: ["!", "?"]
"""


@pytest.fixture(scope="module")
def templates():
    return load_templates()


@pytest.fixture
def problems(tmp_path, monkeypatch):
    """Writes `local/count/marks.yaml` with replacements made and gives each problem as `line:column: path: message`."""
    monkeypatch.chdir(tmp_path)

    def load(*replacements, name="local/count/marks.yaml"):
        text = GOOD
        for old, new in replacements:
            assert old in text
            text = text.replace(old, new)
        _write(tmp_path / name, text)
        with pytest.raises(DocumentError) as caught:
            load_templates([tmp_path])
        return [line.removeprefix(f"{name}:") for line in str(caught.value).splitlines()]

    return load


def _write(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


def test_a_template_holds_what_its_file_says(tmp_path):
    path = _write(tmp_path / "local/count/marks.yaml", GOOD)
    (template,) = load_templates([tmp_path]).values()
    assert (template.name, template.collection, template.id) == ("local/count:marks", "local", "count:marks")
    assert template.path == path
    assert template.parameter_names == ("limit", "how")
    assert template == read_template(path)
    assert len({template, read_template(path)}) == 1


def test_wording_is_filled_with_values_constants_and_shown_texts(tmp_path):
    template = read_template(_write(tmp_path / "local/count/marks.yaml", GOOD))
    assert template.render({"limit": 3.0, "how": "at least"}) == "Use 3 marks out of !, ?, or more."
    assert template.render({"limit": 3, "how": "at most"}) == "Use 3 marks out of !, ?, at most."
    assert template.render({"limit": 3}) == "Use 3 marks out of !, ?, {how}."


HOW = "parameters.schema.properties.how"
LIMIT = "parameters.schema.properties.limit"


@pytest.mark.parametrize(
    ("old", "new", "place", "message"),
    [
        (
            "count:marks",
            "count:mark",
            "1:5: id",
            "'count:mark' does not fit the file's place, which says 'count:marks'",
        ),
        ("{limit}", "{limt}", "2:10: wording", "{limt} is neither a parameter nor a constant; did you mean 'limit'?"),
        ("[limit]", "[limits]", "6:16: parameters.schema.required[0]", "required but not among the properties"),
        ("minimum:", "minimun:", f"8:30: {LIMIT}", "unknown key 'minimun'; did you mean 'minimum'?"),
        ("integer", "int", f"8:21: {LIMIT}.type", "'int' is not one of 'string', 'integer', "),
        ("minimum: 0", "minimum: '0'", f"8:39: {LIMIT}.minimum", "'0' is not a number"),
        (", description: How it compares.", "", f"9:12: {HOW}", "the key 'description' is missing"),
        ("[at most]", "[at worst]", f"9:65: {HOW}.examples[0]", "'at worst' is not one of 'at least', 'at most'"),
        ("enum: [at least, at most]", "pattern: '('", f"9:36: {HOW}.pattern", "'(' is not a regular expression: "),
        (
            "    how: {at",
            "    who: {at",
            "11:5: parameters.shown",
            "'who' is no parameter in the wording; did you mean",
        ),
        ("  shown:", "  unworded: [limit]\n  shown:", "10:14: parameters.unworded[0]", "'limit' does stand in the"),
        ("  marks:", "  limit:", "13:3: constants", "'limit' is a parameter's name"),
        ("constants:", "constant:", "12:1: document", "unknown key 'constant'; did you mean 'constants'?"),
        ("Properties: false", "Properties: true", "5:27: parameters.schema.additionalProperties", "true is not false"),
        (", {how}", "", "9:7: parameters.schema.properties", "'how' does not stand in the wording; add {how} there"),
    ],
)
def test_each_mistake_is_named_where_it_stands(problems, old, new, place, message):
    assert any(line.startswith(f"{place}: ") and message in line for line in problems((old, new)))


def test_a_misspelt_keyword_hides_no_other_problem(problems):
    found = problems(("count:marks", "count:mark"), ("minimum:", "minimun:"), ("{limit}", "{Limit}"))
    assert [line.split(": ")[0] for line in found] == ["1:5", "2:10", "8:7", "8:30"]
    assert "did you mean 'limit'?" in found[1]


def test_problems_of_all_files_come_together(problems, tmp_path):
    _write(tmp_path / "local/count/other.yaml", "id: 3\n")
    found = problems(("count:marks", "count:mark"))
    assert len(found) == 4
    assert sum("other.yaml" in line for line in found) == 3


@pytest.mark.parametrize(
    "name", ["local/marks.yaml", "local/count/deep/marks.yaml", "local/count/marks.yml", "Mine/count/marks.yaml"]
)
def test_a_template_in_a_wrong_place_is_not_passed_over(problems, name):
    assert len(problems(name=name)) == 1


def test_folders_that_hold_no_templates_are_left_alone(tmp_path):
    for name in ("_schema/a/b.yaml", ".git/a/b.yaml", "adjudications/a/b.yaml", "probes.yaml", "local/_old/b.yaml"):
        _write(tmp_path / name, "nonsense: [")
    assert load_templates([tmp_path]) == {}


def test_a_missing_directory_and_a_double_name_are_problems(tmp_path):
    for directory in ("one", "two"):
        _write(tmp_path / directory / "local/count/marks.yaml", GOOD)
    with pytest.raises(DocumentError) as caught:
        load_templates([tmp_path / "one", tmp_path / "two", tmp_path / "three"])
    assert [problem.message.split()[1:3] for problem in caught.value.problems] == [["stands", "in"], ["is", "no"]]


def test_arguments_are_checked_all_at_once(templates):
    template = templates["ifbench/count:word_count_range"]
    template.check_params({"min_words": 3.0, "max_words": 5})
    with pytest.raises(ParameterError) as caught:
        template.check_params({"min_words": -1, "max_word": 5})
    assert str(caught.value).splitlines() == [
        "ifbench/count:word_count_range: parameters: unknown key 'max_word'; did you mean 'max_words'?",
        "ifbench/count:word_count_range: parameters: the key 'max_words' is missing",
        "ifbench/count:word_count_range: min_words: -1 is less than 0",
    ]


@pytest.mark.parametrize("value", [2.5, True, "3", None, float("nan"), float("inf"), [3]])
def test_what_is_no_whole_number_is_no_count(templates, value):
    with pytest.raises(ParameterError, match="N: "):
        templates["ifbench/count:numbers"].check_params({"N": value})


@pytest.mark.parametrize("value", [float("nan"), float("inf"), 101, -0.5])
def test_what_is_no_share_is_no_percentage(templates, value):
    with pytest.raises(ParameterError, match="percentage: "):
        templates["ifbench/ratio:stop_words"].check_params({"percentage": value})


def test_a_misspelt_choice_is_answered_with_the_closest(templates):
    with pytest.raises(ParameterError, match="did you mean 'at least'"):
        templates["ifeval/keywords:frequency"].check_params({"keyword": "a", "frequency": 1, "relation": "atleast"})


@pytest.mark.parametrize("name", ["ifbench/count:word_count_rang", "count:word_count_range"])
def test_an_unknown_template_is_answered_with_the_closest(templates, name):
    with pytest.raises(UnknownTemplate, match=r"did you mean 'ifbench/count:word_count_range'\?") as caught:
        find_template(name, templates)
    assert str(caught.value).startswith("there is no template")
    assert find_template("ifbench/format:sub-bullets", templates).id == "format:sub-bullets"


def test_all_templates_load_in_half_a_second():
    load_templates()
    started = time.process_time()
    load_templates()
    assert time.process_time() - started < 0.5


def test_arguments_are_checked_fast_enough_for_every_verdict(templates):
    template = templates["ifeval/keywords:frequency"]
    started = time.process_time()
    for _ in range(500):
        template.check_params({"keyword": "a", "frequency": 1, "relation": "at least"})
    assert time.process_time() - started < 0.5


@given(
    params=st.dictionaries(
        st.text(max_size=5) | st.sampled_from(["N", "word"]), st.none() | st.integers() | st.text() | st.floats()
    )
)
def test_any_arguments_are_taken_or_refused_with_a_sentence(templates, params):
    template = templates["ifbench/sentence:keyword"]
    try:
        template.render(params)
    except ParameterError as error:
        assert set(params) != {"N", "word"} or "N: " in str(error) or "word: " in str(error)  # noqa: PT017
    else:
        assert set(params) == {"N", "word"}


def test_a_skeleton_is_valid_at_once_and_is_never_overwritten(tmp_path):
    path = write_skeleton("count:bangs", tmp_path)
    assert load_templates([tmp_path])["local/count:bangs"].render({"limit": 2}) == "Use at most 2 exclamation marks."
    path.write_text("mine", encoding="utf-8")
    with pytest.raises(FileExistsError):
        write_skeleton("count:bangs", tmp_path)
    assert path.read_text(encoding="utf-8") == "mine"


def test_probes_are_the_empty_response_and_nine_others():
    probes = load_probes()
    assert [probe.id for probe in probes if not probe.content_free] == ["empty"]
    assert probes[0].text == ""
    assert sum(probe.content_free for probe in probes) == 9
    assert {probe.id: probe.text for probe in probes}["yes"] == "Yes."
    assert {probe.id: probe.text for probe in probes}["emoji"] == "🙂"


def test_a_probe_that_stands_twice_is_named(tmp_path):
    entry = "  - {id: a, text: x, content_free: true, description: A probe of a test.}\n"
    path = _write(tmp_path / "probes.yaml", "probes:\n" + entry + entry)
    with pytest.raises(DocumentError, match=r"3:10: probes\[1\].id: 'a' stands in an earlier probe too"):
        load_probes(path)
