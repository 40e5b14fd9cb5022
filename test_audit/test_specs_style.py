"""All spec files keep one style, so that a thousand of them read like one."""

from __future__ import annotations

import json
import re

import pytest

from specs import load_flags, load_probes, load_templates, load_texts, load_words
from specs.documents import open_document
from specs.loading import spec_files
from specs.schemas import ROOM, schema
from specs.wording import placeholders
from verifiers_pinned.pin_files import read_collections

FILES = [path for path in spec_files(ROOM) if path.relative_to(ROOM).parts[0] != "local"]
SCHEMAS = sorted((ROOM / "_schema").glob("*.json"))


@pytest.fixture(scope="module")
def templates():
    return load_templates()


@pytest.mark.parametrize(("collection", "count"), [("ifeval", 25), ("ifbench", 58), ("ifrlvr", 29)])
def test_each_collection_is_whole(templates, collection, count):
    assert sum(template.collection == collection for template in templates.values()) == count


def test_the_templates_are_those_that_the_pins_cover(templates):
    covered = {name for names in read_collections().values() for name in names}
    assert {name for name in templates if not name.startswith("local/")} == covered


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.relative_to(ROOM).as_posix())
def test_a_file_keeps_the_style(path):
    raw = path.read_text(encoding="utf-8")
    data = open_document(path, schema("template")).data
    assert data["id"] == f"{path.parent.name}:{path.stem}"
    assert raw.endswith("\n")
    assert "\r" not in raw
    assert not re.search(r"\bshould\b", raw)
    assert not re.search(r" $", raw, re.MULTILINE)
    assert len(data["wording"]) <= 160
    assert list(_misordered(data, schema("template"))) == []


def _misordered(data, rules):
    """Each mapping whose keys do not come in the order in which the schema names them."""
    order = [key for key in rules.get("properties", {}) if key in data]
    if [key for key in data if key in order] != order:
        yield list(data)
    for key, value in data.items():
        if isinstance(value, dict):
            yield from _misordered(value, _rules_of(key, rules))


def _rules_of(key, rules):
    found = rules.get("properties", {}).get(key) or rules.get("additionalProperties") or {}
    if not isinstance(found, dict):
        return {}
    target = schema("template")
    for step in found.get("$ref", "").removeprefix("#/").split("/") if "$ref" in found else []:
        target = target[step]
    return target if "$ref" in found else found


def test_the_style_test_notices_keys_out_of_order():
    parameter = {"description": "x", "type": "integer"}
    data = {"id": "a:b", "parameters": {"schema": {"properties": {"n": parameter}}}}
    assert list(_misordered(data, schema("template"))) == [["description", "type"]]
    assert list(_misordered({"wording": "x", "id": "a"}, schema("template"))) == [["wording", "id"]]


def test_ids_and_wordings_are_unique(templates):
    ids = [template.id for template in templates.values()]
    assert len(set(ids)) == len(ids)
    wordings = [(template.wording, template.collection) for template in templates.values()]
    assert len(set(wordings)) == len(wordings)


def test_wordings_and_descriptions_are_sentences(templates):
    for template in templates.values():
        assert template.wording[0].isupper(), template.name
        for name, declared in template.parameters["properties"].items():
            assert declared["description"].endswith("."), f"{template.name} {name}"
            assert declared["description"][0].isupper(), f"{template.name} {name}"


def test_parameters_stand_in_the_order_in_which_they_are_required(templates):
    for template in templates.values():
        required = template.parameters["required"]
        assert [name for name in template.parameter_names if name in required] == list(required), template.name


def test_every_flag_is_carried_and_every_template_carries_one(templates):
    flags = [flag.id for flag in load_flags()]
    assert {flag for template in templates.values() for flag in template.flags} == set(flags)
    for template in templates.values():
        assert template.flags, template.name
        assert sorted(template.flags, key=flags.index) == sorted(set(template.flags), key=flags.index), template.name


def test_flags_are_described_in_sentences():
    for flag in load_flags():
        assert flag.description.endswith("."), flag.id
        assert flag.effect.endswith("."), flag.id


def test_every_list_of_words_and_texts_is_drawn_from(templates):
    forms = [form for template in templates.values() for forms in template.draws.values() for form in forms.values()]
    assert {form.get("word") or form.get("words") for form in forms} - {None} == set(load_words())
    assert {form["text"] for form in forms if "text" in form} == set(load_texts())


def test_constants_are_used(templates):
    for template in templates.values():
        assert set(template.constants) <= set(placeholders(template.wording)), template.name


def test_probe_descriptions_are_sentences():
    assert all(probe.description.endswith(".") for probe in load_probes())


@pytest.mark.parametrize("path", SCHEMAS, ids=lambda path: path.stem)
def test_every_property_of_a_schema_is_described_and_nothing_else_is_allowed(path):
    for place, rules in _schemas(json.loads(path.read_text(encoding="utf-8")), path.stem):
        for name, declared in rules.get("properties", {}).items():
            assert declared.get("description"), f"{place}.{name}"
        if "properties" in rules:
            assert rules.get("additionalProperties") is False, place
            assert "required" in rules, place


def _schemas(rules, place):
    yield place, rules
    for key in ("properties", "$defs"):
        for name, inner in rules.get(key, {}).items():
            yield from _schemas(inner, f"{place}.{name}")
    for key in ("items", "additionalProperties"):
        if isinstance(rules.get(key), dict):
            yield from _schemas(rules[key], f"{place}.{key}")


@pytest.mark.audit
@pytest.mark.parametrize(("collection", "instances"), [("ifeval", 834), ("ifbench", 344)])
def test_every_official_instance_is_an_instance_of_its_template(templates, collection, instances):
    data = pytest.importorskip("verifiers_pinned.data")
    count = 0
    for prompt in data.load_prompts(collection):
        for instance in prompt.instances:
            template = templates[instance.template]
            assert not set(placeholders(template.render(instance.params))) & set(template.parameter_names)
            count += 1
    assert count == instances
