"""What is drawn is always an instance that can be satisfied, and what could draw anything else is refused at load."""

from __future__ import annotations

import re
import time
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from specs import DocumentError, NoDraw, draw_params, load_templates, read_template
from specs.draws import KINDS, positions
from specs.lists import load_texts, load_words
from specs.skeleton import write_skeleton
from specs.wording import placeholders

TEMPLATES = load_templates()
NAMES = st.sampled_from(sorted(TEMPLATES))
SEEDS = st.integers(0, 2**32)


def _draw(name, kind, seed):
    return draw_params(TEMPLATES[name], kind, Random(seed))


@given(name=NAMES, kind=st.sampled_from(KINDS), seed=SEEDS)
def test_what_is_drawn_is_an_instance_whose_wording_is_complete(name, kind, seed):
    params = _draw(name, kind, seed)
    wording = TEMPLATES[name].render(params)
    assert not set(placeholders(wording)) & set(TEMPLATES[name].parameter_names)
    assert set(params) == set(TEMPLATES[name].parameters["required"])


@given(name=NAMES, kind=st.sampled_from(KINDS), seed=SEEDS)
def test_the_seed_alone_decides(name, kind, seed):
    first, second = _draw(name, kind, seed), _draw(name, kind, seed)
    assert first == second
    assert all(first[key] is not second[key] for key in first if isinstance(first[key], list))


@given(kind=st.sampled_from(KINDS), seed=SEEDS)
def test_what_belongs_together_fits(kind, seed):
    words = _draw("ifbench/count:word_count_range", kind, seed)
    assert words["min_words"] <= words["max_words"]
    paragraphs = _draw("ifeval/length_constraints:nth_paragraph_first_word", kind, seed)
    assert 1 <= paragraphs["nth_paragraph"] <= paragraphs["num_paragraphs"]
    for name in ("ifeval/keywords:existence", "ifeval/keywords:forbidden_words"):
        (keywords,) = _draw(name, kind, seed).values()
        assert len(set(keywords)) == len(keywords) >= 1
    for name in ("ifbench/count:keywords_multiple", "ifrlvr/count:count_increment_word"):
        params = _draw(name, kind, seed)
        assert len(set(params.values())) == len(params)


@pytest.mark.parametrize(
    ("name", "unit"), [("ifbench/repeat:repeat_span", "words"), ("ifrlvr/new:copy_span_idx", "characters")]
)
@given(seed=SEEDS)
def test_a_span_lies_inside_its_text(name, unit, seed):
    for kind in KINDS:
        params = _draw(name, kind, seed)
        gap = params["n_end"] - params["n_start"]
        assert gap >= (kind == "upstream")
        assert 0 <= params["n_start"] <= params["n_end"] < positions(params["prompt_to_repeat"], unit)


def test_nothing_drawn_can_be_met_by_no_text_at_all():
    """Fewer than one word, sentence or letter is no text."""
    names = ("ifeval/length_constraints:number_words", "ifeval/length_constraints:number_sentences")
    for name in (*names, "ifrlvr/letters:letter_counting"):
        numbers = [value for kind in KINDS for seed in range(300) for value in _draw(name, kind, seed).values()]
        assert min(value for value in numbers if isinstance(value, int)) >= 2


@pytest.mark.parametrize(
    ("name", "parameter", "least", "most"),
    [
        ("ifeval/length_constraints:number_words", "num_words", 100, 500),
        ("ifbench/count:person_names", "N", 1, 50),
        ("ifbench/words:keywords_specific_position", "m", 30, 40),
        ("ifrlvr/keywords:keyword_specific_position", "n", 1, 20),
    ],
)
def test_both_ends_of_a_range_are_drawn(name, parameter, least, most):
    values = {_draw(name, "upstream", seed)[parameter] for seed in range(8000)}
    assert values == set(range(least, most + 1))


def test_every_template_with_parameters_can_be_drawn():
    assert [template.name for template in TEMPLATES.values() if template.parameter_names and not template.draws] == []


def test_small_instances_vary():
    for template in TEMPLATES.values():
        drawn = {repr(draw_params(template, "small", Random(seed))) for seed in range(60)}
        fixed = not template.parameter_names or template.name == "ifbench/format:options"
        assert fixed or len(drawn) > 1, template.name


def test_no_noun_stands_inside_another():
    for name in ("nouns", "short_nouns"):
        words = load_words()[name]
        assert [(a, b) for a in words for b in words if a != b and a in b] == []


def test_the_words_of_a_phrase_differ_and_one_is_in_the_center():
    for phrase in load_texts()["phrases"]:
        words = phrase.lower().split()
        assert len(words) % 2 == len(set(words)) - len(words) + 1 == 1


@pytest.mark.parametrize(
    ("name", "least", "most"),
    [("short_requests", 1, 10), ("requests", 15, 60), ("passages", 40, 60), ("short_closings", 1, 3)],
)
def test_texts_are_as_long_as_their_list_says(name, least, most):
    assert all(least <= positions(text, "words") <= most for text in load_texts()[name])


def test_a_hundred_thousand_are_drawn_in_five_seconds():
    rng, templates = Random(0), list(TEMPLATES.values())
    started = time.process_time()
    for index in range(10_000):
        draw_params(templates[index % len(templates)], KINDS[index % 2], rng)
    assert time.process_time() - started < 0.5


def test_a_template_that_does_not_say_how_is_told_so(tmp_path):
    path = write_skeleton("count:bangs", tmp_path)
    text = path.read_text(encoding="utf-8")
    path.write_text(re.sub(r"  draw:\n.*\n.*\n", "", text), encoding="utf-8")
    with pytest.raises(NoDraw, match="local/count:bangs does not say how"):
        draw_params(read_template(path), "small", Random(0))
    with pytest.raises(ValueError, match="did you mean 'small'"):
        draw_params(TEMPLATES["ifbench/count:numbers"], "smal", Random(0))


GOOD = """\
id: count:marks
wording: Use {n} to {m} of {word} and {other}, at {how}, from {i} to {j} in {text}.
parameters:
  schema:
    additionalProperties: false
    required: [n, m, word, other, how, text, i, j]
    properties:
      n: {type: integer, minimum: 1, maximum: 20, description: One.}
      m: {type: integer, maximum: 20, description: Two.}
      word: {type: string, maxLength: 7, description: Three.}
      other: {type: array, minItems: 1, items: {type: string, pattern: "^[a-z]+$"}, description: Four.}
      how: {type: string, enum: [least, most], description: Five.}
      text: {type: string, description: Six.}
      i: {type: integer, description: Seven.}
      j: {type: integer, description: Eight.}
  draw:
    small: {SMALL}
    upstream:
      n: {integers: [1, 9]}
      m: {from: n, plus: [0, 4]}
      word: {word: short_nouns}
      other: {words: nouns, count: [1, 3], other_than: [word]}
      how: {choice: [least, most]}
      text: {text: phrases}
      i: {index: words, of: text, spare: 1}
      j: {index: words, of: text, above: i}
"""
SMALL = (
    "{n: {constant: 1}, m: {from: n, plus_percent: [0, 50]}, word: {constant: x}, other: {constant: [x]}, "
    "how: {any: enum}, text: {constant: x}, i: {constant: 0}, j: {constant: 0}}"
)


def _load(tmp_path, text):
    path = tmp_path / "local/count/marks.yaml"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text.replace("{SMALL}", SMALL), encoding="utf-8")
    return read_template(path)


@given(seed=SEEDS)
def test_a_section_with_every_kind_draws_instances(tmp_path_factory, seed):
    template = _load(tmp_path_factory.mktemp("t"), GOOD)
    for kind in KINDS:
        template.check_params(draw_params(template, kind, Random(seed)))


DRAWING = [template.path.read_text(encoding="utf-8") for template in TEMPLATES.values() if template.draws]
TOKEN = re.compile(r"[\w.-]+|[{}\[\],]")
OTHERS = [*"{}[],", "0", "-1", "7", "2.0", "2.5", "1000", "'('", *sorted(set(re.findall(r"\w+", GOOD)))]


@st.composite
def mutated(draw):
    """A template whose parameters or draws have a few tokens exchanged."""
    text = draw(st.sampled_from([GOOD.replace("{SMALL}", SMALL), *DRAWING]))
    start = text.index("required:")
    for _ in range(draw(st.integers(1, 3))):
        found = draw(st.sampled_from(list(TOKEN.finditer(text, start))))
        text = text[: found.start()] + draw(st.sampled_from(OTHERS)) + text[found.end() :]
    return text


@settings(max_examples=400, deadline=2000)
@given(text=mutated(), seed=SEEDS)
def test_whatever_loads_draws_instances(tmp_path_factory, text, seed):
    family, name = re.search("id: (.*):(.*)", text).groups()
    path = tmp_path_factory.mktemp("t") / f"local/{family}/{name}.yaml"
    path.parent.mkdir(parents=True)
    path.write_text(text, encoding="utf-8")
    try:
        template = read_template(path)
    except DocumentError:
        return
    for kind in KINDS if template.draws else ():
        for offset in range(10):
            template.render(draw_params(template, kind, Random(seed + offset)))


@pytest.mark.parametrize(
    ("old", "new", "place", "message"),
    [
        ("n: {integers: [1, 9]}", "k: {integers: [1, 9]}", "19:7: {}", "'k' is not a parameter"),
        ("n: {integers: [1, 9]}\n      m", "m", "19:17: {}.m.from", "'n' is not drawn before"),
        ("      n: {integers: [1, 9]}\n", "", "19:7: {}", "'n' is required and not drawn"),
        ("[1, 9]", "[9, 1]", "19:21: {}.n.integers", "from 9 to 1 there is no whole number"),
        ("[1, 9]", "[0, 9]", "19:21: {}.n.integers", "cannot be drawn so: 0 is less than 1"),
        ("[1, 9]", "[1, m]", "19:25: {}.n.integers[1]", "'m' is not drawn yet; move it up"),
        (
            "{from: n, plus: [0, 4]}",
            "{integers: [3, n]}",
            "20:21: {}.m.integers",
            "from 3 to 1 there is no whole number",
        ),
        ("plus: [0, 4]", "plus: [0, 14]", "20:17: {}.m.from", "23 is more than 20"),
        ("plus: [0, 4]", "plus: [4, 0]", "20:26: {}.m.plus", "from 4 to 0 there is no whole number"),
        ("plus: [0, 4]", "plus_percents: [0, 4]", "20:20: {}.m", "did you mean 'plus_percent'?"),
        ("from: n", "from: word", "20:17: {}.m.from", "'word' is not drawn yet; move it up"),
        ("{word: short_nouns}", "{word: short_noun}", "21:20: {}.word.word", "did you mean 'short_nouns'?"),
        ("{word: short_nouns}", "{word: nouns}", "21:20: {}.word.word", "8 characters where at most 7 are allowed"),
        ("{word: short_nouns}", "{text: phrases}", "21:20: {}.word.text", "where at most 7 are allowed"),
        ("{word: short_nouns}", "{word: nouns, plus: [0, 1]}", "21:33: {}.word.plus", "says nothing beside 'word'"),
        ("{word: short_nouns}", "{word: nouns, text: phrases}", "21:13: {}.word", "word, text stand together"),
        ("count: [1, 3]", "count: [0, 3]", "22:22: {}.other.words", "0 items where at least 1 is allowed"),
        ("count: [1, 3]", "count: [1, 300]", "22:22: {}.other.words", "300 words of a list that has"),
        (", count: [1, 3]", "", "22:14: {}.other", "'words' needs 'count' beside it"),
        ("other_than: [word]", "other_than: [n]", "22:57: {}.other.other_than[0]", "not drawn from a list of words"),
        ("{choice: [least, most]}", "{choice: [lest]}", "23:21: {}.how.choice", "did you mean 'least'?"),
        ("word: {word: short_nouns}", "word: {any: enum}", "21:19: {}.word.any", "the parameter has no enum"),
        ("words, of: text, spare: 1", "words, of: how, spare: 1", "25:29: {}.i.of", "not drawn from a list of texts"),
        (", spare: 1", "", "26:42: {}.j.above", "'i' may be drawn too late; give it spare: 1"),
        (", spare: 1", ", spare: 9", "25:42: {}.i.spare", "has too few words for that"),
        ("j: {index: words", "j: {index: characters", "26:47: {}.j.above", "is not a place in the same text"),
    ],
)
def test_each_mistake_in_a_section_is_named_where_it_stands(tmp_path, old, new, place, message):
    assert old in GOOD
    with pytest.raises(DocumentError) as caught:
        _load(tmp_path, GOOD.replace(old, new))
    place = place.format("parameters.draw.upstream")
    found = [str(problem).partition("marks.yaml:")[2] for problem in caught.value.problems]
    assert any(line.startswith(f"{place}: ") and message in line for line in found), found
