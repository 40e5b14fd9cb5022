"""Tests of the responses given to the controller: shapes, completions, and end-of-sequence tokens."""

from __future__ import annotations

from typing import Any

import pytest

torch = pytest.importorskip("torch", reason="the optimizer needs torch: pip install .[rl]")

from logra.responses import Responses  # noqa: E402

EOS = 2


def completions(**options: Any) -> Responses:
    """Left-padded prompts of 1 and 3 tokens; completions that end, that is cut, and that is empty."""
    return Responses.from_completions(
        prompt_ids=torch.tensor([[0, 0, 5], [6, 7, 8], [6, 7, 8]]),
        prompt_mask=torch.tensor([[0, 0, 1], [1, 1, 1], [1, 1, 1]]),
        completion_ids=torch.tensor([[9, EOS, 0, 0], [9, 9, 9, 9], [EOS, 0, 0, 0]]),
        completion_mask=torch.tensor([[1, 1, 0, 0], [1, 1, 1, 1], [0, 0, 0, 0]]),
        **options,
    )


def test_completions_become_rows_without_padding() -> None:
    first, second = completions().rows(100)
    assert (first.input_ids.tolist(), first.first, first.generated.tolist()) == ([5, 9, EOS], 1, [False, True, True])
    assert (second.input_ids.tolist(), second.first) == ([6, 7, 8, 9, 9, 9, 9], 3)


def test_rows_are_cut_and_dropped_when_no_token_is_left() -> None:
    (row,) = completions().rows(2)
    assert row.generated.tolist() == [False, True]


def test_rows_outlive_the_batch_that_they_came_from() -> None:
    batch = completions()
    row = next(batch.rows(100))
    batch.input_ids.zero_()
    assert row.input_ids.tolist() == [5, 9, EOS]


def test_only_completions_that_end_count_for_the_mismatch() -> None:
    rollout, trainer = torch.full((3, 4), -1.0), torch.full((3, 4), -1.5)
    batch = completions(eos_token_id=EOS, rollout_logps=rollout, trainer_logps=trainer)
    assert batch.completed is not None
    assert batch.completed.tolist() == [True, False, False]
    assert batch.mismatch() == (1.0, 2)


def test_without_log_probabilities_there_is_no_mismatch() -> None:
    assert completions().mismatch() == (0.0, 0)


def test_the_mismatch_needs_the_end_of_sequence_token() -> None:
    with pytest.raises(ValueError, match="needs eos_token_id"):
        completions(rollout_logps=torch.zeros(3, 4), trainer_logps=torch.zeros(3, 4))


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"input_ids": torch.zeros(4)}, r"input_ids must be \[batch, length\]"),
        ({"generated": torch.ones(2, 3)}, "generated must be"),
        ({"attention_mask": torch.ones(4)}, "attention_mask must be"),
        ({"completed": torch.ones(3)}, r"completed must be \[batch\]"),
        ({"rollout_logps": torch.zeros(2, 4)}, "come together"),
    ],
    ids=lambda value: "" if isinstance(value, str) else next(iter(value)),
)
def test_shapes_that_do_not_fit_are_refused(wrong: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Responses(**{"input_ids": torch.zeros(2, 4), "generated": torch.ones(2, 4), **wrong})
