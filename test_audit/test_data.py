"""The data check: is each pinned data set whole, do its copies agree, and do responses belong to its prompts?"""

from collections.abc import Iterator
from dataclasses import dataclass

import pytest

from audit.data_rules import (
    Told,
    copy_problems,
    key_of,
    prompt_problems,
    response_problems,
    rollout_problems,
)
from audit.known import conclude, load_known, settle_known
from specs import load_templates
from verifiers_pinned.data import read_rows
from verifiers_pinned.errors import PinError
from verifiers_pinned.pins import load_catalogue

TEMPLATES = load_templates()


@dataclass(frozen=True)
class Case:
    """What is asked of one file: `against` is the other one where it takes two."""

    file: str
    ask: str
    against: str = ""
    collections: tuple[str, ...] = ()

    def told(self) -> Iterator[Told]:
        rows = read_rows(self.file)
        if self.ask == "prompts":
            return prompt_problems(rows, TEMPLATES, self.collections)
        asks = {"copy": copy_problems, "responses": response_problems, "rollouts": rollout_problems}
        return asks[self.ask](rows, read_rows(self.against))

    def __str__(self) -> str:
        return f"{self.file}-{self.against}" if self.against else self.file


CASES = [
    Case("ifeval_prompts", "prompts", collections=("ifeval",)),
    Case("ifbench_prompts", "prompts", collections=("ifbench",)),
    Case("ifbench_prompts_nvidia", "prompts", collections=("ifbench",)),
    Case("nemo_gym_examples", "prompts", collections=("ifeval", "ifrlvr")),
    Case("ifbench_prompts_nvidia", "copy", "ifbench_prompts"),
    Case("ifbench_sample_responses", "responses", "ifbench_prompts"),
    Case("ifbench_sample_responses", "responses", "ifbench_prompts_nvidia"),
    Case("nemo_gym_rollouts", "rollouts", "nemo_gym_examples"),
]


@pytest.mark.audit
@pytest.mark.parametrize("case", CASES, ids=str)
def test_data(case, record_rows):
    collection = case.collections[0] if len(case.collections) == 1 else None
    try:
        told = list(case.told())
    except PinError as error:
        record_rows(collection=collection, check="data", rows={"verdict": "not_run", "detail": str(error)})
        pytest.skip(str(error))
    found = {place._replace(at=f"{case}:{place.at}"): detail for place, detail in told}
    known = load_known("data")
    settled = settle_known(found, known, {place.at for place in known if place.at.startswith(f"{case}:")})
    clean = {key_of(row) for row in read_rows(case.file)} - {place.at.partition("#")[0] for place, _ in told}
    columns = {
        "prompt": [*sorted(clean), *(place.at for place, _ in told)],
        "response_id": str(case),
        "outcome": ["agree"] * len(clean) + [None] * len(told),
        "detail": [None] * len(clean) + [f"{place.rule}: {detail}" for place, detail in told],
        "finding": [None] * len(clean) + [settled.ids.get(place) for place in found],
    }
    record_rows(collection=collection, check="data", rows=columns)
    conclude(settled)


def test_every_pinned_data_set_is_looked_at():
    assert {case.file for case in CASES} == set(load_catalogue().data)


def row(**changes):
    whole = {
        "key": "1",
        "prompt": "Say something about the moon, and whatever you do, please use no comma at all.",
        "instruction_id_list": ["punctuation:no_comma"],
        "kwargs": [{"unused": None}],
    }
    return {**whole, **changes}


SERIALIZED = "Say it.\t['words:vowel']\t[{'N': None, 'm': None}]"
BROKEN = {
    "key-twice": [row(), row(prompt="Another one.")],
    "prompt-twice": [row(), row(key="2")],
    "blank": [row(prompt=" \n")],
    "damaged": [row(prompt="Say \ufffd")],
    "lengths": [row(kwargs=[])],
    "id-twice": [row(instruction_id_list=["keywords:existence"] * 2, kwargs=[{"keywords": [each]} for each in "ab"])],
    "instance-twice": [row(instruction_id_list=["punctuation:no_comma"] * 2, kwargs=[{}, None])],
    "unknown-id": [row(instruction_id_list=["punctuation:no_coma"])],
    "arguments": [row(kwargs=[{"comma": 1}])],
    "serialized": [row(prompt=SERIALIZED)],
    "swallowed": [row(), row(key="2", prompt=f"First this. {row()['prompt']}")],
}


@pytest.mark.parametrize("rule", BROKEN)
def test_each_broken_file_is_called_so(rule):
    assert [place.rule for place, _ in prompt_problems(BROKEN[rule], TEMPLATES, ["ifeval"])] == [rule]


def test_a_whole_file_is_silent():
    assert list(prompt_problems([row(), row(key="2", prompt="Another.")], TEMPLATES, ["ifeval"])) == []


@pytest.mark.parametrize(
    ("rule", "changes"),
    [
        ("spaces", {"prompt": row()["prompt"] + " "}),
        ("text", {"prompt": "Another."}),
        ("ids", {"instruction_id_list": ["startend:quotation"]}),
        ("given", {"kwargs": [{"n": 1}]}),
    ],
)
def test_each_difference_of_a_copy_is_named(rule, changes):
    assert [place.rule for place, _ in copy_problems([row(**changes)], [row()])] == [rule]


def test_rows_of_one_copy_only_are_named():
    told = copy_problems([row(key="1"), row(key="3")], [row(key="1"), row(key="2")])
    assert [(place.rule, place.at) for place, _ in told] == [("missing", "2"), ("added", "3")]


def test_a_swallowed_row_shows_against_the_other_copy():
    other = [row(), row(key="2", prompt="Tell me of the sea and of the ships, and do so in no more than ten lines.")]
    assert "swallowed" in [
        place.rule for place, _ in copy_problems([row(prompt=" ".join(r["prompt"] for r in other))], other)
    ]


def test_responses_and_prompts_are_matched_exactly():
    responses = [{"prompt": row()["prompt"], "response": " "}, {"prompt": "Unknown.", "response": "Yes."}]
    told = response_problems(responses, [row(), row(key="2", prompt="Another.")])
    assert [place.rule for place, _ in told] == ["blank-response", "no-prompt", "no-response"]


@pytest.mark.parametrize(
    ("changes", "rules"),
    [
        ({}, []),
        ({"reward": 1.0}, ["reward"]),
        ({"follow_instruction_list": [False, True]}, ["verdicts"]),
        ({"prompt": "Another."}, ["no-example"]),
        ({"kwargs": [{"n": 1}]}, ["other-example"]),
    ],
)
def test_a_graded_response_has_the_reward_of_its_verdicts(changes, rules):
    graded = row(follow_all_instructions=False, follow_instruction_list=[False], reward=0.0)
    assert [place.rule for place, _ in rollout_problems([{**graded, **changes}], [row()])] == rules
