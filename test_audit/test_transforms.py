"""Each transform does what its examples say, on any text, and changes nothing that it does not name."""

from __future__ import annotations

import re
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from oracles.transforms import TRANSFORMS, UnknownTransform, apply_transform
from specs import DocumentError, load_synonyms, load_transforms

DECLARED = load_transforms()
EXAMPLES = [(transform.id, example) for transform in DECLARED for example in transform.examples]
# lone surrogates, combining marks and control characters too
TEXTS = st.text(st.characters(exclude_categories=()) | st.sampled_from(' \n\r\t"*.éA'), max_size=80)
SEEDS = st.integers(0, 1000)


def test_what_is_declared_is_what_is_implemented():
    assert [transform.id for transform in DECLARED] == list(TRANSFORMS)


@pytest.mark.parametrize(("name", "example"), EXAMPLES)
def test_examples_hold_whatever_the_seed(name, example):
    assert {apply_transform(name, example.before, Random(seed)) for seed in range(20)} == {example.after}


@pytest.mark.parametrize("transform", DECLARED, ids=lambda transform: transform.id)
def test_an_example_shows_a_change(transform):
    assert transform.examples[0].before != transform.examples[0].after
    assert transform.description.endswith(".")


@pytest.mark.parametrize("transform", DECLARED, ids=lambda transform: transform.id)
@settings(max_examples=40)
@given(text=TEXTS, seed=SEEDS)
def test_any_text_is_taken_and_the_seed_alone_decides(transform, text, seed):
    after = apply_transform(transform.id, text, Random(seed))
    assert after == apply_transform(transform.id, text, Random(seed))
    if transform.deterministic:
        assert after == apply_transform(transform.id, text, Random(seed + 1))


@pytest.mark.parametrize("transform", [t for t in DECLARED if not t.deterministic], ids=lambda transform: transform.id)
def test_what_is_not_deterministic_gives_several_texts(transform):
    text = "one two three four\nfive six\nseven\neight"
    assert len({apply_transform(transform.id, text, Random(seed)) for seed in range(20)}) > 5


@pytest.mark.parametrize(
    "transform", [t for t in DECLARED if t.group == "whitespace"], ids=lambda transform: transform.id
)
@given(text=TEXTS, seed=SEEDS)
def test_whitespace_is_all_that_a_whitespace_transform_touches(transform, text, seed):
    assert apply_transform(transform.id, text, Random(seed)).split() == text.split()


@pytest.mark.parametrize("name", ["shuffle_words", "shuffle_lines"])
@given(text=TEXTS, seed=SEEDS)
def test_a_shuffle_keeps_what_it_moves_and_moves_where_it_can(name, text, seed):
    parts = (lambda text: re.split(r"\s+", text)) if name == "shuffle_words" else lambda text: text.split("\n")
    after = apply_transform(name, text, Random(seed))
    assert sorted(parts(after)) == sorted(parts(text))
    movable = text.split() if name == "shuffle_words" else text.removesuffix("\n").split("\n")
    assert (after != text) == (len(set(movable)) > 1)


@given(text=TEXTS, seed=SEEDS)
def test_a_dropped_word_is_one_word(text, seed):
    words = text.split()
    assert apply_transform("drop_first_word", text, Random(seed)).split() == words[1:]
    assert apply_transform("drop_last_word", text, Random(seed)).split() == words[:-1]
    assert apply_transform("append_word", text, Random(seed)).split() == [*words, "indeed"]


def test_no_synonym_is_replaced_in_turn():
    synonyms = load_synonyms()
    assert not set(synonyms) & set(synonyms.values())


def test_long_texts_take_no_time():
    for name in TRANSFORMS:
        assert apply_transform(name, "word \n" * 200_000, Random(0))


def test_an_unknown_name_is_answered_with_the_closest():
    with pytest.raises(UnknownTransform, match="there is no transform 'uper_case'; did you mean 'upper_case'"):
        apply_transform("uper_case", "x", Random(0))


def test_a_transform_declared_twice_is_a_problem(tmp_path):
    entry = (
        "  - {id: x, group: case, description: Does nothing., deterministic: true, examples: [{before: a, after: b}]}\n"
    )
    path = tmp_path / "transforms.yaml"
    path.write_text(f"transforms:\n{entry}{entry}synonyms: {{a: b}}\n", encoding="utf-8")
    with pytest.raises(DocumentError, match=r"3:10: transforms\[1\].id: 'x' stands in an earlier transform too"):
        load_transforms(path)
