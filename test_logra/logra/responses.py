"""Sampled sequences that the KL probe may read: which tokens the policy generated, and how likely each one was."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import torch
from torch import Tensor


class Row(NamedTuple):
    """One sequence without padding; token j >= 1 is predicted by the logits at j - 1."""

    input_ids: Tensor  # [L]
    first: int  # index of the first generated token, >= 1
    generated: Tensor  # [L] bool


@dataclass(frozen=True)
class Responses:
    """A batch of sequences [b, L], prompt and response together, padded anywhere.

    `generated` marks the tokens that the policy sampled and that count (a response left out of the loss marks none).
    `attention_mask` is 0 at padding. For the mismatch: `rollout_logps` and `trainer_logps` [b, L] hold at j the
    log-probability of token j, as the sampler and as the trainer computed it, and `completed` [b] the responses that
    ended with an end-of-sequence token.
    """

    input_ids: Tensor
    generated: Tensor
    attention_mask: Tensor | None = None
    rollout_logps: Tensor | None = None
    trainer_logps: Tensor | None = None
    completed: Tensor | None = None

    def __post_init__(self) -> None:
        shape = tuple(self.input_ids.shape)
        if len(shape) != 2:
            raise ValueError(f"input_ids must be [batch, length], not {list(shape)}")
        for name in ("generated", "attention_mask", "rollout_logps", "trainer_logps"):
            given = getattr(self, name)
            if given is not None and tuple(given.shape) != shape:
                raise ValueError(f"{name} must be [batch, length] {list(shape)} as input_ids, not {list(given.shape)}")
        if self.completed is not None and tuple(self.completed.shape) != shape[:1]:
            raise ValueError(f"completed must be [batch] {list(shape[:1])}, not {list(self.completed.shape)}")
        logps = (self.rollout_logps, self.trainer_logps)
        if any(part is not None for part in logps) and any(part is None for part in (*logps, self.completed)):
            raise ValueError("rollout_logps, trainer_logps and completed come together or not at all")

    @classmethod
    def from_completions(
        cls,
        prompt_ids: Tensor,
        prompt_mask: Tensor,
        completion_ids: Tensor,
        completion_mask: Tensor,
        *,
        eos_token_id: int | None = None,
        rollout_logps: Tensor | None = None,
        trainer_logps: Tensor | None = None,
    ) -> Responses:
        """From prompts [b, P] and completions [b, C] with their masks, as GRPO trainers hold them; logps are [b, C].

        A response is complete where its last unmasked token is `eos_token_id`, which the logps need.
        """
        counts = completion_mask.bool()
        mismatch: dict[str, Tensor] = {}
        if rollout_logps is not None and trainer_logps is not None:
            if eos_token_id is None:
                raise ValueError("the mismatch needs eos_token_id, to tell complete responses from cut ones")
            blank = torch.zeros_like(prompt_ids, dtype=torch.float32)
            mismatch["rollout_logps"] = torch.cat([blank.to(rollout_logps), rollout_logps], dim=1)
            mismatch["trainer_logps"] = torch.cat([blank.to(trainer_logps), trainer_logps], dim=1)
            # masked tokens may stand anywhere (tool results are masked inside a response), so the last one is looked up
            positions = torch.arange(counts.shape[1], device=counts.device)
            last = torch.where(counts, positions, 0).amax(dim=1, keepdim=True)  # [b, 1]
            ended = completion_ids.gather(1, last).squeeze(1) == eos_token_id
            mismatch["completed"] = ended & counts.any(dim=1)
        return cls(
            input_ids=torch.cat([prompt_ids, completion_ids], dim=1),
            attention_mask=torch.cat([prompt_mask, completion_mask], dim=1),
            generated=torch.cat([torch.zeros_like(prompt_mask).bool(), counts], dim=1),
            **mismatch,
        )

    def rows(self, max_tokens: int) -> Iterator[Row]:
        """The sequences without padding, cut to `max_tokens`, as far as a generated token is left after that."""
        for index in range(self.input_ids.shape[0]):
            ids, generated = self.input_ids[index], self.generated[index].bool()
            if self.attention_mask is not None:
                real = self.attention_mask[index].bool()
                ids, generated = ids[real], generated[real]
            ids, generated = ids[:max_tokens].detach().clone(), generated[:max_tokens].clone()
            generated[:1] = False  # nothing predicts the first token
            if bool(generated.any()):
                yield Row(ids, int(generated.nonzero()[0, 0]), generated)

    def mismatch(self) -> tuple[float, int]:
        """(sum of rollout - trainer log-probabilities, number of tokens) over the complete responses."""
        if self.rollout_logps is None or self.trainer_logps is None or self.completed is None:
            return 0.0, 0
        # a cut response has no natural end, and the authors leave it out
        counts = self.generated.bool() & self.completed.bool()[:, None]  # [b, L]
        gaps = self.rollout_logps.double()[counts] - self.trainer_logps.double()[counts]
        total = float(gaps.sum())
        if total != total or abs(total) == float("inf"):
            raise FloatingPointError("rollout_logps or trainer_logps hold NaN or inf at a generated token")
        return total, gaps.numel()
