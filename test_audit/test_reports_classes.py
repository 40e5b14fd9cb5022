"""Retention and classes, counted from rows."""

from dataclasses import replace

import pyarrow as pa
import pytest

from reports.classes import CLASSES, class_counts, class_lines, classes
from reports.retention import retention, retention_lines
from reports.row import SCHEMA, SIBLINGS, row_batch
from specs.findings import load_findings

TEMPLATE = "ifbench/words:vowel"
DEFECT = next(finding for finding in load_findings().values())
FINDINGS = {
    word: replace(DEFECT, id=word, kind=kind)
    for word, kind in (("broken", "defect"), ("open", "ambiguity"), ("narrow", "by_design"), ("typo", "data"))
}


def rows(verdicts, **columns):
    names = {"collection": "ifbench", "template": TEMPLATE, "implementation": "copy", "check": "probe"}
    given = {key: value for key, value in columns.items() if isinstance(value, list)}
    scalars = {**names, **{key: value for key, value in columns.items() if key not in given}}
    batch = row_batch({"verdict": list(verdicts), **given}, **scalars)
    return pa.Table.from_batches([batch], SCHEMA)


def class_of(table, content_free=("yes",)):
    (record,) = classes(table, FINDINGS, content_free)
    return record


@pytest.mark.parametrize(
    ("finding", "alarm", "oracle", "told"),
    [
        (["broken", "open"], "crash", None, "defective"),
        (["open", "narrow"], "crash", None, "ambiguous"),
        (["narrow", None], ["vacuous", None], None, "narrow_by_design"),
        ([None, None], None, None, "unaudited"),
        ([None, None], ["crash", None], "accept", "unaudited"),
        ([None, None], None, "accept", "sound"),
        (["typo", None], ["crash", None], None, "unaudited"),
        (["gone", None], ["crash", None], "accept", "unaudited"),
    ],
)
def test_the_weightiest_finding_gives_the_class(finding, alarm, oracle, told):
    assert class_of(rows(["accept", "reject"], finding=finding, alarm=alarm, oracle=oracle))["class"] == told


@pytest.mark.parametrize(("accepted", "told"), [(9, "yes"), (8, None)])
def test_nine_in_ten_instances_make_a_verifier_content_free(accepted, told):
    assert (
        class_of(rows(["accept"] * accepted + ["reject"] * (10 - accepted), response_id="yes"))["content_free"] == told
    )


def test_another_check_and_another_probe_say_nothing_of_content():
    assert class_of(rows(["accept"], response_id="yes", check="hostile"))["content_free"] is None
    assert class_of(rows(["accept"], response_id="empty"))["content_free"] is None


def test_what_did_not_run_has_no_class():
    assert classes(rows(["not_run", "unsupported"]), FINDINGS, ["yes"]) == []


@pytest.mark.parametrize("column", ["template", "implementation"])
def test_a_row_that_is_about_no_verifier_has_no_class(column):
    both = pa.concat_tables([rows(["accept"]), rows(["accept"], **{column: None})])
    assert len(classes(both, FINDINGS, ["yes"])) == 1


def test_siblings_are_no_verifier():
    assert classes(rows(["accept"], implementation=SIBLINGS), FINDINGS, ["yes"]) == []


def test_templates_are_counted_by_class():
    records = classes(rows(["accept"], finding="broken", alarm="crash", response_id="yes"), FINDINGS, ["yes"])
    counts = class_counts(records)["ifbench"]["copy"]
    assert counts == {**dict.fromkeys(CLASSES, 0), "defective": 1, "content_free": 1, "templates": 1}
    assert f"{TEMPLATE}: defective accepts the probe yes (broken): copy" in class_lines(records, 100)


def edited(originals, verdicts, name="case/upper_case"):
    prompts = [str(at) for at in range(len(originals))]
    places = {"prompt": [*prompts, *prompts], "instance": 0, "check": "transform"}
    names = ["original"] * len(originals) + [name] * len(originals)
    return rows([*originals, *verdicts], response_id=names, **places)


def test_only_what_passed_can_be_kept():
    (record,) = retention(edited(["accept", "accept", "reject", "crash"], ["accept", "crash", "accept", "accept"]))
    assert (record["group"], record["kept"], record["passing"]) == ("case", 1, 2)


def test_a_response_to_another_prompt_counts_where_it_passed_on_its_own():
    verdicts = ["accept", "reject", "accept", "accept"]
    names, prompts = ["original", "original", "of/a", "of/b"], ["a", "b", "b", "a"]
    (record,) = retention(rows(verdicts, response_id=names, prompt=prompts, instance=0, check="wrong_prompt"))
    assert (record["group"], record["kept"], record["passing"]) == ("wrong_prompt", 1, 1)


def test_retention_is_told_with_its_interval():
    lines = retention_lines(retention(edited(["accept"] * 4, ["accept"] * 3 + ["reject"])), 100)
    assert len(lines) == 2
    assert "75.0 [30.1, 95.4]" in lines[1]


def test_no_rows_are_no_lines():
    assert retention_lines(retention(rows(["accept"])), 100) == []
