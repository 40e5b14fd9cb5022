"""Findings are well formed, every mistake in one is told with its place, and ours are shown by pinned verifiers."""

import pytest
import yaml

from audit.adjudications import Adjudications
from audit.lock import ALARMS
from specs import DocumentError, load_templates
from specs.findings import ADJUDICATIONS, finding_files, load_findings
from specs.schemas import schema
from verifiers_pinned.pins import load_catalogue

TEMPLATES = load_templates()
OURS = Adjudications.load()
PINNED = load_catalogue().implementations
SHOWN = {(place.finding, place.template) for place, said in OURS.lock.items() if said in ALARMS}
FINDING = """\
id: toy
template: [ifeval/keywords:frequency, ifeval/length_constraints:number_words]
class: by_design
title: A blank response stays below any number
words: Nothing is less than any number from 1 on.
checks: any
alarms: [vacuous]
implementations: any
when: relation == 'less than' and is_blank(text)
witnesses:
  - template: ifeval/keywords:frequency
    params: {keyword: rain, frequency: 1, relation: less than}
    response: ""
  - template: ifeval/length_constraints:number_words
    params: {num_words: 1, relation: less than}
    response: ""
date: 2026-01-31
"""


def load(folder, text=FINDING, name="ifeval/toy.yaml"):
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return load_findings([folder], TEMPLATES)


def test_a_finding_is_loaded(tmp_path):
    finding = load(tmp_path)["toy"]
    assert finding.concerns("ifeval/keywords:frequency", "hostile")
    assert not finding.concerns("ifeval/punctuation:no_comma", "hostile")
    assert finding.witness("ifeval/length_constraints:number_words").params["num_words"] == 1


def test_a_finding_about_any_template_sees_the_text_alone(tmp_path):
    anything = FINDING.replace("[ifeval/keywords:frequency, ifeval/length_constraints:number_words]", "any")
    assert load(tmp_path, anything.replace("relation == 'less than' and ", ""))["toy"].templates is None
    with pytest.raises(DocumentError, match="9:7: when: there is no 'relation' here"):
        load(tmp_path, anything)


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ("id: toy", "id: toys", "1:5: id: the file's name says 'toy'"),
        ("[ifeval/keywords:frequency,", "[ifeval/keywords:frequencies,", "2:12: template[0]: there is no template"),
        ("class: by_design", "class: by_desing", "3:8: class: 'by_desing' is not one of"),
        ("number\nwords", "number.\nwords", "4:8: title: "),
        ("[vacuous]", "[vacant]", "7:10: alarms[0]: 'vacant' is not one of"),
        ("relation ==", "relations ==", "9:7: when: there is no 'relations' here; did you mean 'relation'?"),
        ("'less than' and", "'less then' and", "9:19: when: relation is never 'less then'"),
        ("when: relation == ", "when: num_words > 1 and relation == ", "9:7: when: there is no 'num_words' here"),
        ("when: relation == 'less than' and is_blank(text)", "when: text", "9:7: when: a predicate is true or false"),
        ("frequency: 1,", "frequency: 0,", "witnesses[0].params: frequency: 0 is less than 1"),
        ("  - template: ifeval/keywords:frequency\n    params", "  - params", "11:5: witnesses[0]: says no template"),
        (
            "- template: ifeval/length_constraints:number_words",
            "- template: ifeval/keywords:frequency",
            "a second witness",
        ),
        (
            "- template: ifeval/length_constraints:number_words",
            "- template: ifeval/punctuation:no_comma",
            "is no template of",
        ),
        ("date: 2026-01-31", "date: 31 January", "17:7: date: "),
        ("date:", "when2: x\ndate:", "17:1: document: unknown key 'when2'"),
    ],
)
def test_a_mistake_is_told_with_its_place(tmp_path, old, new, told):
    with pytest.raises(DocumentError) as caught:
        load(tmp_path, FINDING.replace(old, new, 1))
    assert told in str(caught.value)


@pytest.mark.parametrize("name", ["ifbench/toy.yaml", "toy.yaml", "ifeval/toy.yml"])
def test_a_finding_in_the_wrong_place_is_refused(tmp_path, name):
    with pytest.raises(DocumentError):
        load(tmp_path, name=name)


def test_two_findings_of_one_name_are_refused(tmp_path):
    load(tmp_path)
    with pytest.raises(DocumentError, match=r"toy stands in .* already"):
        load(tmp_path, name="ifeval/more/ifeval/toy.yaml")


@pytest.mark.parametrize("path", finding_files(ADJUDICATIONS), ids=lambda path: path.stem)
def test_keys_stand_in_the_order_of_the_schema(path):
    keys = [*yaml.safe_load(path.read_text(encoding="utf-8"))]
    assert keys == [key for key in schema("finding")["properties"] if key in keys]


@pytest.mark.parametrize("name", OURS.findings)
def test_a_finding_names_pinned_implementations(name):
    assert set(OURS.findings[name].implementations or ()) <= set(PINNED)


@pytest.mark.parametrize("name", OURS.findings)
def test_a_witness_meets_its_finding_and_some_verifier_alarms_on_it(name):
    finding = OURS.findings[name]
    for witness in finding.witnesses:
        assert OURS.holds(finding)(witness.params, witness.response)
        assert (name, witness.template) in SHOWN, f"no pinned verifier shows {name} on {witness.template}"


def test_an_implementation_that_a_finding_names_alarms_on_some_witness():
    alarmed = {
        (place.finding, place.implementation.partition("@")[0]) for place, said in OURS.lock.items() if said in ALARMS
    }
    named = {(name, key) for name, each in OURS.findings.items() for key in each.implementations or ()}
    assert named - alarmed == set()


def test_the_lock_speaks_of_what_there_is():
    for place in OURS.lock:
        key, _, version = place.implementation.partition("@")
        assert OURS.asks(place)
        # of all copies together, whose version is a digest of theirs
        assert key == "siblings" or PINNED[key].source.version == version


def test_the_lock_is_sorted_with_one_line_a_witness():
    text = OURS.path.read_text(encoding="utf-8")
    tree = yaml.safe_load(text)
    assert [*tree["witnesses"]] == sorted(tree["witnesses"])
    assert len(text.splitlines()) == len(set(OURS.lock)) + text.count(":\n") + 1


def test_a_witness_may_be_long_or_hold_what_yaml_cannot(tmp_path):
    text = FINDING.replace('response: ""\n', 'response: "a"\n    repeat: 3\n', 1)
    text = text.replace('response: ""\n', "response: '\\ud800b'\n    lone_surrogates: true\n")
    assert [each.response for each in load(tmp_path, text)["toy"].witnesses] == ["aaa", "\ud800b"]
