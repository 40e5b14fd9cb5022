"""What the hostile inputs are: distinct, of the size they say, and within the schema of the template."""

import pytest

from audit.extremes import METACHARACTERS, hostile_params, telling_responses
from audit.hostile import BLANK, DEEP, HUGE, MEGABYTE, brief_responses
from audit.questions import drawn_params
from specs import find_template, load_templates

TEMPLATES = load_templates()


def test_each_hostile_response_is_different():
    named = [*brief_responses(), *DEEP.items(), *HUGE.items()]
    assert len({text for _, text in named}) == len({name for name, _ in named}) == len(named) > 90


def test_blank_responses_show_nothing():
    assert not any(character.isalnum() for text in BLANK.values() for character in text)


def test_the_huge_response_has_a_million_characters():
    assert {len(text) for text in HUGE.values()} == {MEGABYTE}


@pytest.mark.parametrize("name", TEMPLATES)
def test_hostile_arguments_fit_the_schema_and_differ_from_the_drawn(name):
    template, params = TEMPLATES[name], drawn_params(TEMPLATES[name], "small")[0]
    for hostile in hostile_params(template, params):
        template.check_params(hostile)
        assert sum(hostile[key] != value for key, value in params.items()) == 1


def test_text_arguments_are_given_metacharacters():
    template = find_template("ifeval/keywords:frequency", TEMPLATES)
    params = drawn_params(template, "small")[0]
    assert {each["keyword"] for each in hostile_params(template, params)} >= set(METACHARACTERS)


def test_a_telling_response_holds_the_arguments():
    assert dict(telling_responses({"keywords": ["(", "a|b"], "n": 3}))["arguments_alone"] == "( a|b 3"
