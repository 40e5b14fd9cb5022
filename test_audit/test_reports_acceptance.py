"""Acceptance of fixed responses, counted on small tables whose answers can be seen."""

from collections.abc import Iterable

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from reports.acceptance import ANY, LEVELS, acceptance, is_blank
from reports.row import WORDS, row_batch

TEXTS = {"empty": "", "blank": " \n\u3000", "yes": "Yes.", "number": "42"}
Asked = tuple[str, int, str, str]  # prompt, instance, probe, verdict


def asked(rows: Iterable[Asked], implementation: str = "liar", template: str = "ifeval/t") -> pa.Table:
    prompts, instances, probes, verdicts = zip(*rows, strict=True)
    columns = {
        "prompt": list(prompts),
        "instance": list(instances),
        "response_id": list(probes),
        "response": [TEXTS[probe] for probe in probes],
        "verdict": list(verdicts),
    }
    batch = row_batch(columns, collection="ifeval", template=template, implementation=implementation, check="probe")
    return pa.Table.from_batches([batch])


def counted(table: pa.Table, level: str, probe: str = "yes", guard: str = "off", implementation: str = "liar"):
    """(accepted, total, crashed, uncovered) of the one row that is asked for."""
    (row,) = [
        row
        for row in acceptance(table, ["yes", "number"]).to_pylist()
        if (row["level"], row["probe"], row["guard"], row["implementation"]) == (level, probe, guard, implementation)
    ]
    return row["accepted"], row["total"], row["crashed"], row["uncovered"]


def test_a_prompt_is_accepted_where_all_its_instances_are():
    table = asked([("p", 0, "yes", "accept"), ("p", 1, "yes", "reject"), ("q", 0, "yes", "accept")])
    assert counted(table, "instance") == (2, 3, 0, 0)
    assert counted(table, "prompt") == (1, 2, 0, 0)


@pytest.mark.parametrize(("accepts", "template"), [(9, 1), (8, 0)])
def test_a_template_accepts_from_nine_tenths_of_its_instances_on(accepts, template):
    table = asked([(str(n), 0, "yes", "accept" if n < accepts else "reject") for n in range(10)])
    assert counted(table, "template") == (template, 1, 0, 0)


def test_a_crash_is_not_accepted_and_counted_apart():
    table = asked([("p", 0, "yes", "accept"), ("p", 1, "yes", "crash"), ("q", 0, "yes", "reject")])
    assert counted(table, "instance") == (1, 3, 1, 0)
    assert counted(table, "prompt") == (0, 2, 1, 0)


@pytest.mark.parametrize("verdict", ["unsupported", "not_run"])
def test_a_prompt_with_an_instance_without_verdict_is_not_counted(verdict):
    table = asked([("p", 0, "yes", "accept"), ("p", 1, "yes", verdict), ("q", 0, "yes", "accept")])
    assert counted(table, "instance") == (2, 2, 0, 1)
    assert counted(table, "prompt") == (1, 1, 0, 1)
    assert counted(table, "template") == (0, 0, 0, 1)


def test_a_prompt_of_which_others_were_asked_more_is_not_counted():
    whole = asked([("p", 0, "yes", "reject"), ("p", 1, "yes", "reject"), ("q", 0, "yes", "reject")])
    half = asked([("p", 0, "yes", "accept")], implementation="half")
    assert counted(pa.concat_tables([whole, half]), "prompt", implementation="half") == (0, 0, 0, 2)


@pytest.mark.parametrize("probe", ["empty", "blank"])
@pytest.mark.parametrize("level", LEVELS)
def test_the_guard_rejects_a_blank_response_and_hides_its_crashes(level, probe):
    table = asked([("p", 0, probe, "accept"), ("q", 0, probe, "crash")])
    assert counted(table, level, probe, "on")[:3] == (0, counted(table, level, probe)[1], 0)
    assert counted(table, "instance", probe, "off") == (1, 2, 1, 0)


def test_the_guard_leaves_a_response_with_text_and_what_did_not_run_alone():
    table = asked([("p", 0, "yes", "accept"), ("p", 0, "empty", "not_run")])
    assert counted(table, "instance", guard="on") == (1, 1, 0, 0)
    assert counted(table, "instance", "empty", "on") == (0, 0, 0, 1)


def test_any_is_one_probe_for_all_instances_of_a_prompt():
    rows = [("p", 0, "yes", "accept"), ("p", 1, "yes", "reject"), ("p", 0, "number", "reject")]
    crossed = asked([*rows, ("p", 1, "number", "accept")])
    assert counted(crossed, "instance", ANY) == (2, 2, 0, 0)
    assert counted(crossed, "prompt", ANY) == (0, 1, 0, 0)


def test_any_leaves_out_the_probes_that_are_not_content_free():
    table = asked([("p", 0, "empty", "accept"), ("p", 0, "yes", "reject")])
    assert counted(table, "prompt", ANY) == (0, 1, 0, 0)


def test_rows_of_other_checks_are_not_counted():
    other = pa.Table.from_batches([row_batch({"verdict": ["accept"]}, check="oracle")])
    assert acceptance(other).num_rows == 0


@given(st.lists(st.sampled_from(WORDS["verdict"]), min_size=1, max_size=12), st.integers(1, 4))
def test_counts_equal_a_loop_over_the_prompts(verdicts, size):
    rows = [(str(n // size), n % size, "yes", verdict) for n, verdict in enumerate(verdicts)]
    prompts = [verdicts[start : start + size] for start in range(0, len(verdicts), size)]
    covered = [prompt for prompt in prompts if not {"unsupported", "not_run"} & set(prompt)]
    accepted = sum(set(prompt) == {"accept"} for prompt in covered)
    crashed = sum("crash" in prompt for prompt in covered)
    assert counted(asked(rows), "prompt") == (accepted, len(covered), crashed, len(prompts) - len(covered))


@given(st.lists(st.text() | st.none(), min_size=1))
def test_blank_is_what_python_strips_to_nothing(texts):
    expected = [text is not None and not text.strip() for text in texts]
    assert is_blank(pa.chunked_array([texts], pa.string())).to_pylist() == expected
