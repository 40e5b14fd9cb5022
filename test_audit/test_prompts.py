"""The prompt check: do the words of the official prompts fit the arguments that verifiers are given for them?"""

import pytest

from audit.known import Place, conclude, load_known, settle_known
from audit.prompt_pairs import exclusive_pairs
from audit.prompt_rules import contradictions
from audit.quantities import Quantity, asked_quantities, numbers
from specs import DocumentError, load_templates
from verifiers_pinned.data import PROMPTS, Instance, Prompt, load_prompts

TEMPLATES = load_templates()
OFFICIAL = [name for name, template in TEMPLATES.items() if template.collection in PROMPTS]


def at(collection, key, *instances):
    return f"{collection}/{key}#{'+'.join(map(str, sorted(instances)))}"


@pytest.mark.audit
@pytest.mark.parametrize("template", OFFICIAL)
def test_prompt(template, record_rows):
    collection = template.partition("/")[0]
    looked = [(each, one) for each in load_prompts(collection) for one in each.instances if one.template == template]
    told = {}
    for prompt, one in looked:
        for found in contradictions(prompt, TEMPLATES):
            if found.instance == one.index:
                told[Place(found.rule, at(collection, prompt.key, one.index))] = found.detail
    settled = settle_known(told, load_known("prompts"), [at(collection, each.key, one.index) for each, one in looked])
    by_place = {place.at: (place, detail) for place, detail in told.items()}
    found = [by_place.get(at(collection, each.key, one.index)) for each, one in looked]
    columns = {
        "params": [one.params for _, one in looked],
        "prompt": [each.key for each, _ in looked],
        "instance": [one.index for _, one in looked],
        "outcome": [None if each else "agree" for each in found],
        "detail": [f"{each[0].rule}: {each[1]}" if each else None for each in found],
        "finding": [settled.ids.get(each[0]) if each else None for each in found],
    }
    record_rows(collection=collection, template=template, check="prompt", rows=columns)
    conclude(settled)


@pytest.mark.audit
@pytest.mark.parametrize("collection", PROMPTS)
def test_pairs(collection, record_rows):
    told, rows = {}, []
    prompts = load_prompts(collection)
    for prompt in prompts:
        for one, other, why in exclusive_pairs(prompt):
            place = Place("exclusive", at(collection, prompt.key, one.index, other.index))
            told[place] = f"{one.template} and {other.template}: {why}"
            rows.append((prompt.key, one.index, f"{place.at} exclusive: {told[place]}"))
    looked = {
        at(collection, each.key, a.index, b.index) for each in prompts for a in each.instances for b in each.instances
    }
    settled = settle_known(told, load_known("prompts"), looked)
    columns = (
        dict(zip(("prompt", "instance", "detail"), map(list, zip(*rows, strict=True)), strict=True)) if rows else {}
    )
    record_rows(
        collection=collection, check="prompt", rows={**columns, "finding": [settled.ids.get(each) for each in told]}
    )
    conclude(settled)


@pytest.mark.parametrize(
    ("text", "asked"),
    [
        ("Use at least 300 words.", Quantity(300, None)),
        ("fewer than ten sentences", Quantity(None, 9)),
        ("no more than twice", Quantity(None, 2)),
        ("avoid the letter i more than twice", Quantity(None, 2)),
        ("exactly 4 paragraphs", Quantity(4, 4)),
        ("should appear 10 or more times", Quantity(10, None)),
        ("3 times or less", Quantity(None, 3)),
        ("in 20 to 30 sentences", Quantity(20, 30)),
        ("more than 5 times", Quantity(6, None)),
        ("1000+ words", Quantity(1000, None)),
    ],
)
def test_what_is_asked_is_read(text, asked):
    assert asked in asked_quantities(text)


def test_numbers_are_read_as_digits_words_and_ordinals():
    assert numbers("The second of 12 lines, thrice, 5% and the 3rd") == {2, 12, 3, 5}


def prompt(text, *instances):
    return Prompt("1", text, tuple(Instance(f"ifeval/{name}", given, at) for at, (name, given) in enumerate(instances)))


WORDS = "length_constraints:number_words"
TRUE = [
    ("Use at least 300 words.", WORDS, {"relation": "at least", "num_words": 300}),
    ("Use 299 words or fewer.", WORDS, {"relation": "less than", "num_words": 300}),
    ("End with “Bye!”", "startend:end_checker", {"end_phrase": '"bye!"'}),
    ("Use the words Moon and sun.", "keywords:existence", {"keywords": ["moon", "sun"]}),
    ("Say it in Kannada.", "language:response_language", {"language": "kn"}),
    ("No commas, please.", "punctuation:no_comma", {}),
]
FALSE = [
    ("Use at least 400 words.", WORDS, {"relation": "at least", "num_words": 300}, "num_words-relation"),
    ("Use at most 300 words.", WORDS, {"relation": "less than", "num_words": 300}, "num_words-relation"),
    ("Use 300 words.", WORDS, {"relation": "at least", "num_words": 300}, "num_words-bare"),
    ("Use words.", WORDS, {"relation": "at least", "num_words": 300}, "num_words-absent"),
    ("End with Bye.", "startend:end_checker", {"end_phrase": "Bye!"}, "end_phrase-differs"),
    ("Use the word moonlight.", "keywords:existence", {"keywords": ["moon"]}, "keywords-differs"),
    ("Use the word sun.", "keywords:forbidden_words", {"forbidden_words": ["moon"]}, "forbidden_words-absent"),
    ("Say it in Tamil.", "language:response_language", {"language": "kn"}, "language"),
    ("Say it.", "punctuation:no_comma", {}, "unasked"),
]


@pytest.mark.parametrize(("text", "template", "params"), TRUE)
def test_a_prompt_that_fits_is_silent(text, template, params):
    assert list(contradictions(prompt(text, (template, params)), TEMPLATES)) == []


@pytest.mark.parametrize(("text", "template", "params", "rule"), FALSE)
def test_a_lie_about_a_prompt_is_caught(text, template, params, rule):
    assert [each.rule for each in contradictions(prompt(text, (template, params)), TEMPLATES)] == [rule]


def test_two_ends_of_a_range_are_read_together():
    both = [(WORDS, {"relation": "at least", "num_words": 20}), (WORDS, {"relation": "less than", "num_words": 31})]
    assert list(contradictions(prompt("Use 20 to 30 words.", *both), TEMPLATES)) == []


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (("punctuation:no_comma", {}), ("startend:end_checker", {"end_phrase": "So, bye"})),
        (("change_case:english_capital", {}), ("change_case:english_lowercase", {})),
        ((WORDS, {"relation": "at least", "num_words": 9}), (WORDS, {"relation": "less than", "num_words": 9})),
        (
            ("keywords:forbidden_words", {"forbidden_words": ["bye"]}),
            ("startend:end_checker", {"end_phrase": "Bye now"}),
        ),
    ],
)
def test_what_cannot_both_be_is_a_pair_in_any_order(one, other):
    assert len(list(exclusive_pairs(prompt("", one, other)))) == len(list(exclusive_pairs(prompt("", other, one)))) == 1


def test_what_can_both_be_is_no_pair():
    pair = (("punctuation:no_comma", {}), ("startend:end_checker", {"end_phrase": "Bye"}))
    assert list(exclusive_pairs(prompt("", *pair))) == []


KNOWN = "known: [{id: a-b, class: data, rule: r, at: [x, y], words: It is so for a reason.}]\n"


def test_new_known_and_mended_are_told_apart(tmp_path):
    (tmp_path / "it.yaml").write_text(KNOWN)
    known = load_known("it", tmp_path)
    settled = settle_known({Place("r", "x"): "d", Place("s", "x"): "e"}, known, ["x", "y"])
    assert settled.ids == {Place("r", "x"): "a-b"}
    assert settled.problems == ["new: s at x: e", "mended? a-b no longer shows: r at y"]
    assert settle_known({Place("r", "x"): "d"}, known, ["x"]).problems == []


def test_a_place_that_is_known_twice_is_refused(tmp_path):
    (tmp_path / "it.yaml").write_text(
        KNOWN.replace("}]", "}, {id: c, class: data, rule: r, at: [x], words: Once more it is.}]")
    )
    with pytest.raises(DocumentError, match="r at x is a-b already"):
        load_known("it", tmp_path)
