"""The wording check: do pinned copies still render what they rendered, and which of them say it in other words?"""

import json

import pytest

from audit.instances import given_params
from audit.wording import differences, digest
from audit.wording_lock import PROPERTY, drift, merge, read_wordings, write_wordings
from specs import load_templates
from verifiers_pinned.plugin import selected
from verifiers_pinned.verdicts import Verdict

TEMPLATES = load_templates()
LOCK = {"ifeval/punctuation:no_comma": {"asked": "0" * 16, "rendered": {"a@1": "1" * 16, "b@1": "2" * 16}}}


def pytest_generate_tests(metafunc):
    if "copies" not in metafunc.fixturenames:
        return
    describing = [each for each in selected(metafunc.config) if each.style == "class"]
    cases = [
        pytest.param(copies, name, id=name)
        for name in TEMPLATES
        if (copies := [each for each in describing if name in each.covers])
    ]
    metafunc.parametrize(("copies", "template"), cases)


@pytest.mark.audit
def test_wording(copies, template, verifier_session, record_rows, record_property, pytestconfig):
    given = given_params(TEMPLATES[template], drawn=2)
    texts = {}
    for copy in copies:
        result = verifier_session.describe_batch(copy.key, template, [each.params for each in given])
        if Verdict.not_run not in result.verdicts:
            texts[copy.key] = [result.answers.get(at, {}).get("text") for at in range(len(given))]
    for key, told in differences(texts).items():
        columns = {
            "params": [each.params for each in given],
            "response_id": [each.name for each in given],
            "prompt": [each.prompt for each in given],
            "instance": [each.instance for each in given],
            "detail": [
                f"{digest(text)} differs from most {how}" if how else digest(text)
                for text, how in zip(texts[key], told, strict=True)
            ],
        }
        names = {"collection": template.partition("/")[0], "template": template, "implementation": key}
        record_rows(**names, check="wording", rows=columns)
    asked = digest([each.params for each in given])
    rendered = {f"{each.key}@{each.source.version}": digest(texts[each.key]) for each in copies if each.key in texts}
    record_property(PROPERTY, json.dumps({template: {"asked": asked, "rendered": rendered}}))
    changed = drift(template, asked, rendered, read_wordings())
    if changed and not pytestconfig.getoption("relock", False):
        pytest.fail("\n".join(changed), pytrace=False)


def test_one_word_and_one_comma_are_told_apart():
    told = differences({"a": ["Use 3 words."], "b": ["Use 3 words."], "c": ["use 3 words"], "d": ["Use 4 words."]})
    assert told["a"] == told["b"] == [None]
    assert told["c"] == ["in case, spaces or punctuation only"]
    assert told["d"] == ["in words: - 3 + 4"]


def test_a_copy_without_text_is_not_compared():
    assert differences({"a": [None, "x"], "b": ["y", "x"]}) == {"a": [None, None], "b": [None, None]}


def test_a_tie_does_not_depend_on_the_order():
    assert differences({"b": ["y"], "a": ["x"]})["a"] == [None]


@pytest.mark.parametrize(
    ("asked", "rendered", "red"),
    [
        ("0" * 16, {"a@1": "1" * 16}, None),
        ("0" * 16, {"a@2": "1" * 16}, None),
        ("0" * 16, {"mine@1": "7" * 16}, None),
        ("0" * 16, {"a@1": "7" * 16}, "wording changed: a@1"),
        ("0" * 16, {"a@2": "7" * 16}, "wording changed: a@2"),
        ("3" * 16, {"a@1": "1" * 16}, "other arguments"),
    ],
)
def test_a_wording_that_drifts_is_red(asked, rendered, red):
    told = drift("ifeval/punctuation:no_comma", asked, rendered, LOCK)
    assert red in told[0] if red else told == []


def test_a_lock_is_merged_and_read_back(tmp_path):
    seen = {"ifeval/punctuation:no_comma": {"asked": "0" * 16, "rendered": {"a@2": "9" * 16}}}
    merged = merge({**LOCK, "ifeval/gone:away": LOCK["ifeval/punctuation:no_comma"]}, seen, TEMPLATES)
    write_wordings(merged, tmp_path / "lock.yaml")
    assert read_wordings(tmp_path / "lock.yaml") == {
        "ifeval/punctuation:no_comma": {"asked": "0" * 16, "rendered": {"b@1": "2" * 16, "a@2": "9" * 16}}
    }


def test_other_arguments_forget_what_was_rendered_for_the_old():
    seen = {"ifeval/punctuation:no_comma": {"asked": "3" * 16, "rendered": {"a@1": "9" * 16}}}
    assert merge(LOCK, seen, TEMPLATES) == seen
