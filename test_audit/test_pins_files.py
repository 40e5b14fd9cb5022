"""The pin files: their style, what they declare, and what is said about one that is wrong."""

import json
from collections import Counter
from pathlib import Path

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

import verifiers_pinned
from specs.documents import DocumentError
from verifiers_pinned.pin_files import read_collections, schema
from verifiers_pinned.pins import Archive, UnknownPin, load_catalogue

PINS = sorted((Path(verifiers_pinned.__file__).parent / "pins").glob("*.yaml"))
CATALOGUE = load_catalogue()
IMPLEMENTATIONS = CATALOGUE.implementations.values()
OF_STYLE = {"class": 0, "dictionary": 2, "function": 3, "method": 3}


def every_object(described):
    """Each part of the schema that lists properties."""
    if isinstance(described, dict):
        if "properties" in described and "type" in described:
            yield described
        for value in described.values():
            yield from every_object(value)
    elif isinstance(described, list):
        for value in described:
            yield from every_object(value)


def out_of_order(value, described, at=""):
    """Places where the keys of a mapping do not stand in the order of the schema's properties."""
    if isinstance(value, dict) and isinstance(described, dict):
        order = list(described.get("properties", {}))
        known = [key for key in value if key in order]
        if known != sorted(known, key=order.index):
            yield at
        for key, inner in value.items():
            inner_schema = described.get("properties", {}).get(key, described.get("additionalProperties"))
            yield from out_of_order(inner, inner_schema, f"{at}.{key}")
    elif isinstance(value, list) and isinstance(described, dict):
        for index, inner in enumerate(value):
            yield from out_of_order(inner, described.get("items"), f"{at}[{index}]")


@pytest.mark.parametrize("path", PINS, ids=lambda path: path.stem)
def test_keys_stand_in_the_order_of_the_schema(path):
    assert list(out_of_order(yaml.safe_load(path.read_text()), schema("pin"))) == []


def test_out_of_order_sees_a_swap():
    swapped = {"name": "a", "kind": "wheel", "implementations": {"a": {"style": "class", "collection": "ifeval"}}}
    assert list(out_of_order(swapped, schema("pin"))) == ["", ".implementations.a"]


@pytest.mark.parametrize("path", PINS, ids=lambda path: path.stem)
def test_a_pin_file_is_tidy(path):
    lines = path.read_text(encoding="utf-8").splitlines()
    assert all(len(line) <= 120 and line == line.rstrip() for line in lines)
    assert yaml.safe_load(path.read_text())["name"] == path.stem


def test_every_property_of_the_schema_is_described():
    bare = [
        key
        for part in every_object(schema("pin"))
        for key, value in part["properties"].items()
        if not value.get("description", "").endswith(".")
    ]
    assert bare == []


def test_every_object_of_the_schema_is_closed():
    assert all(part["additionalProperties"] is False for part in every_object(schema("pin")))


def test_the_collections_are_the_published_ones():
    assert {name: len(ids) for name, ids in read_collections().items()} == {"ifeval": 25, "ifbench": 58, "ifrlvr": 29}


def test_each_collection_has_its_copies():
    assert len(IMPLEMENTATIONS) == 32
    assert Counter(each.collection for each in IMPLEMENTATIONS) == {"ifeval": 20, "ifbench": 8, "ifrlvr": 4}
    assert {len(each.covers) for each in IMPLEMENTATIONS} == {22, 25, 48, 49, 54, 58, 83}


@pytest.mark.parametrize("each", IMPLEMENTATIONS, ids=lambda each: each.key)
def test_an_implementation_has_all_it_declares(each):
    assert each.entry.module in each.members
    assert len(each.entry.arguments) == OF_STYLE[each.style]
    assert set(each.needs) <= set(CATALOGUE.resources)
    assert set(each.unchecked) | set(each.parameters) | set(each.only) | set(each.constants) <= set(each.covers)
    assert each.covers.keys().isdisjoint(each.not_covered)


def test_the_default_set_stays_small():
    default = [archive for archive in CATALOGUE.archives.values() if archive.default]
    assert sum(archive.bytes for archive in default) < 80e6
    assert {need for each in CATALOGUE.select("default") for need in each.needs} <= set(CATALOGUE.resources)


def test_a_selection_is_by_implementation_or_by_source():
    assert [each.key for each in CATALOGUE.select("twinkle_ifbench, twinkle")] == ["twinkle_ifbench", "twinkle"]
    assert [each.key for each in CATALOGUE.select("twinkle_eval")] == ["twinkle", "twinkle_ifbench"]
    assert len(CATALOGUE.select("all")) == 32
    assert [source.key for source in CATALOGUE.sources("deepeval")] == ["deepeval"]


@pytest.mark.parametrize(
    ("spec", "hint"), [("deepevl", "did you mean 'deepeval'"), ("defualt", "did you mean 'default'")]
)
def test_an_unknown_selection_is_told_with_the_nearest(spec, hint):
    with pytest.raises(UnknownPin, match=hint):
        CATALOGUE.select(spec)


def test_an_empty_selection_is_refused():
    with pytest.raises(UnknownPin, match="names no pin"):
        CATALOGUE.select(" , ")


def test_own_parameters_are_renamed_added_and_limited():
    each = CATALOGUE.implementations["open_instruct_functions"]
    words = "ifeval/length_constraints:number_words"
    assert each.own_parameters(words, {"num_words": 3, "relation": "at least"}) == {"N": 3, "quantifier": "at least"}
    assert each.own_parameters(words, {"num_words": 3, "relation": "less than"}) is None
    options = each.own_parameters("ifeval/detectable_format:constrained_response", {})
    assert options == {"options": ["My answer is yes.", "My answer is no.", "My answer is maybe."]}


@given(st.sampled_from(sorted(CATALOGUE.implementations["lm_eval"].covers)), st.dictionaries(st.text(), st.integers()))
def test_without_a_mapping_parameters_stay_as_they_are(template, params):
    assert CATALOGUE.implementations["lm_eval"].own_parameters(template, params) == params


GOOD = {
    "kind": "checkout",
    "name": "toy",
    "commit": "0" * 40,
    "license": "MIT",
    "repository": "https://example.org/toy",
    "implementations": {
        "toy": {
            "collection": "ifeval",
            "style": "class",
            "members": {"checks": {"path": "toy/checks.py", "sha256": "0" * 64}},
            "entry": {"module": "checks", "name": "REGISTRY"},
            "requires": [],
            "needs": [],
            "covers": "ifeval",
        }
    },
}


def changed(at, value):
    """GOOD with the value at a path such as `implementations.toy.style` replaced, or removed where it is None."""
    pin = json.loads(json.dumps(GOOD))
    *above, last = at.split(".")
    inner = pin
    for key in above:
        inner = inner[key]
    if value is None:
        del inner[last]
    else:
        inner[last] = value
    return pin


def write(folder, pin, name="toy"):
    (folder / f"{name}.yaml").write_text(yaml.safe_dump(pin, sort_keys=False))


def test_a_good_pin_is_read(tmp_path):
    write(tmp_path, GOOD)
    assert list(load_catalogue([tmp_path]).implementations) == ["toy"]


TOY = "implementations.toy"
BAD = {
    "name": ("name", "tou", "the file is called 'toy.yaml'"),
    "kind": ("default", True, "a checkout has no 'default'"),
    "a wheel lacks": ("kind", "wheel", "sha256"),
    "unknown key": ("calers", {}, "did you mean 'callers'"),
    "hash": (f"{TOY}.members.checks.sha256", "ABC", "sha256"),
    "escape": (f"{TOY}.members.checks.path", "../x.py", "path"),
    "backslash": (f"{TOY}.members.checks.path", "a\\x.py", "path"),
    "absolute": (f"{TOY}.members.checks.path", "/x.py", "path"),
    "module": (f"{TOY}.entry.module", "check", "no member is called 'check'; did you mean 'checks'"),
    "style": (f"{TOY}.style", "dictionary", "'arguments' belong to every style but 'class'"),
    "method": (f"{TOY}.entry.method", "run", "'method' belongs to style 'method'"),
    "need": (f"{TOY}.needs", ["punkt"], "no resource is called 'punkt'"),
    "collection": (f"{TOY}.covers", "ifevl", "no collection is called 'ifevl'; did you mean 'ifeval'"),
    "replaced": (f"{TOY}.replacements", {"cheks": [{"old": "a", "new": "b"}]}, "did you mean 'checks'"),
    "stand-in": (f"{TOY}.stand_ins", {"checks": ["log"]}, "a stand-in is another module"),
    "template": (f"{TOY}.templates", {"ifeval/punctuation:no_coma": {"as": "x"}}, "did you mean"),
    "unchecked": (f"{TOY}.unchecked", ["ifbench/count:numbers"], "no covered template is called"),
    "caller": (
        "callers",
        {"c": {"implementation": "tey", "member": {"path": "c.py", "sha256": "0" * 64}, "symbols": ["f"]}},
        "'toy'",
    ),
    "member twice": (
        "data",
        {"d": {"member": {"path": "toy/checks.py", "sha256": "1" * 64}, "rows": 1}},
        "another sha256",
    ),
}


@pytest.mark.parametrize(("at", "value", "told"), BAD.values(), ids=BAD)
def test_a_wrong_pin_is_told_with_its_place(tmp_path, at, value, told):
    write(tmp_path, changed(at, value))
    with pytest.raises(DocumentError) as caught:
        load_catalogue([tmp_path])
    assert told in str(caught.value)
    assert all("toy.yaml:" in line for line in str(caught.value).splitlines())


def test_a_key_in_two_files_is_told(tmp_path):
    write(tmp_path, GOOD)
    write(tmp_path, {**GOOD, "name": "yot"}, "yot")
    with pytest.raises(DocumentError, match=r"yot.yaml:.*'toy' is declared in .*toy.yaml too"):
        load_catalogue([tmp_path])


def test_the_problems_of_all_files_come_at_once(tmp_path):
    write(tmp_path, changed("license", None))
    write(tmp_path, changed("name", "x"), "yot")
    with pytest.raises(DocumentError) as caught:
        load_catalogue([tmp_path])
    assert {problem.file.rpartition("/")[2] for problem in caught.value.problems} == {"toy.yaml", "yot.yaml"}


def test_a_wheel_without_its_hash_is_refused(tmp_path):
    pin = yaml.safe_load(PINS[1].read_text())
    assert isinstance(CATALOGUE.archives[pin["name"]], Archive)
    write(tmp_path, {key: value for key, value in pin.items() if key != "sha256"}, pin["name"])
    with pytest.raises(DocumentError, match="sha256"):
        load_catalogue([tmp_path])
