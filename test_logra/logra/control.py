"""The step controller: probe the proposed update's KL on generated tokens, and scale the step to a falling budget."""

from __future__ import annotations

import functools
import inspect
import math
from collections.abc import Callable, Mapping
from itertools import islice
from typing import Any, NamedTuple, Protocol

import torch
import torch.distributed
from torch import Tensor, nn

from logra.low_rank import Directions
from logra.predicted_kl import half_covariance, kl_step_scale, predicted_kl
from logra.probe import METHODS, probe
from logra.responses import Responses, Row

# Weight of the newest mismatch in its running mean, and the share of the budget that the mismatch cannot take (the
# authors' NeMo-RL port).
MISMATCH_WEIGHT = 0.3
BUDGET_FLOOR = 0.5
_VERIFIED_TOKENS = 128


class StepScale(NamedTuple):
    """What the controller decided, for logs. The predicted KL of the step taken is alpha^2 kl."""

    alpha: float
    kl: float  # mean predicted KL in nats of the proposal, alpha = 1
    budget: float  # after the mismatch was taken off
    mismatch: float  # running mean, nats a token
    positions: int  # generated tokens probed, over all processes


class Proposing(Protocol):
    """What the controller needs of the optimizer, between `propose` and `apply`."""

    model: nn.Module
    update: int  # completed updates

    def directions(self) -> Mapping[str, Any]: ...


def budget_schedule(update: int, *, start: float, end: float, horizon: int) -> float:
    """b_t: cosine from `start` at update 0 to `end` at update `horizon` - 1, flat from there."""
    # the authors count the horizon's updates, so the last of them, horizon - 1, already has the end
    progress = min(update / max(horizon - 1, 1), 1.0)
    return end + 0.5 * (start - end) * (1.0 + math.cos(math.pi * progress))


def next_token_logits(model: nn.Module, input_ids: Tensor, keep: int) -> Tensor:
    """The last `keep` logits [b, keep, v] of a causal language model, without a cache, for ids [b, L]."""
    inner: Any = model
    for wrapped in ("_orig_mod", "module"):  # torch.compile around DistributedDataParallel
        inner = inner.__dict__.get("_modules", {}).get(wrapped) or inner
    known = inspect.signature(inner.forward).parameters
    wanted = {"use_cache": False, "logits_to_keep": keep}
    output = model(input_ids, **{name: value for name, value in wanted.items() if name in known})
    logits: Tensor = output if isinstance(output, Tensor) else output.logits
    return logits[:, -keep:]


class PredictedKLController:
    """Scales each step so that its predicted KL on sampled responses meets the budget; give it to LoGRA(controller=).

    Before each step give it the step's responses with `observe` (in transformers' Trainer a PredictedKLCallback does).
    Between `propose` and `apply` it runs the first `probe_responses` of them, each cut to `probe_max_tokens` tokens,
    through the model once in forward mode. Weights are not touched.

    Arguments:
        budget_start, budget_end, horizon: nats a token, cosine over `horizon` updates.
        alpha_max: cap on the scale; the budget is a target, so alpha may exceed 1.
        temperature: that of sampling.
        mismatch: take the running mean of the sampler's divergence from the trainer off the budget, half of it at most.
            It needs responses with log-probabilities.
        method: see `logra.probe.probe`.
        forward: (model, input_ids [1, L], keep) -> the last `keep` logits [1, keep, v]; where a model needs more than
            its ids, or an autocast.
        process_group: the ranks whose responses are probed together; every rank has to take part in each step.
    """

    def __init__(
        self,
        *,
        budget_start: float = 2e-4,
        budget_end: float = 2e-5,
        horizon: int = 300,
        alpha_max: float = 3.0,
        temperature: float = 1.0,
        probe_responses: int = 2,
        probe_max_tokens: int = 4096,
        mismatch: bool = True,
        method: str = "auto",
        forward: Callable[[nn.Module, Tensor, int], Tensor] = next_token_logits,
        process_group: Any = None,
    ) -> None:
        self.settings: dict[str, Any] = {
            "budget_start": budget_start,
            "budget_end": budget_end,
            "horizon": horizon,
            "alpha_max": alpha_max,
            "temperature": temperature,
            "probe_responses": probe_responses,
            "probe_max_tokens": probe_max_tokens,
            "mismatch": mismatch,
            "method": method,
        }
        _check_settings(self.settings)
        self.forward = forward
        self.process_group = process_group
        self.last: StepScale | None = None
        # The running mean after update `_update`, and before it: a step that is tried again starts from there.
        self._mismatch, self._before, self._update = 0.0, 0.0, -1
        self._method: str | None = None  # what `method` came to, once the first probe was verified
        self._rows: list[Row] = []
        self._gap = (0.0, 0)
        self._spent = False

    def observe(self, responses: Responses) -> None:
        """Add responses to the next step's; the first call after a step drops those of that step."""
        if self._spent:
            self.forget()
        total, count = responses.mismatch()
        # rows keep their own copies of the ids; the batch may be freed
        room = self.settings["probe_responses"] - len(self._rows)
        if room > 0:
            self._rows += islice(responses.rows(self.settings["probe_max_tokens"]), room)
        self._gap = (self._gap[0] + total, self._gap[1] + count)

    def forget(self) -> None:
        """Drop the responses observed, as when a step is given up."""
        self._rows, self._gap, self._spent = [], (0.0, 0), False

    def step_scale(self, optimizer: Proposing) -> float:
        """Alpha for the update that `optimizer` proposes; called by its `step`."""
        directions = {
            module: (proposed.projection, proposed.direction)
            for proposed in optimizer.directions().values()
            for module in proposed.modules
        }
        return self.scale(optimizer.model, directions, update=optimizer.update).alpha

    def scale(self, model: nn.Module, directions: Directions, *, update: int) -> StepScale:
        """Probe the unrounded, unscaled `directions` and choose alpha. An error leaves the controller as it was."""
        s = self.settings
        # K of the proposal as it is: alpha and the rounding of the factors come after, in `apply`
        kl, positions = self.predict(model, directions)
        budget = budget_schedule(update, start=s["budget_start"], end=s["budget_end"], horizon=s["horizon"])
        # a second try of the same update must not count its mismatch twice
        before = self._before if update == self._update else self._mismatch
        mismatch = before
        total, count = self._sum(*self._gap) if s["mismatch"] else (0.0, 0)
        # m <- 0.7 m + 0.3 max(0, mean(log p_rollout - log p_trainer)), an estimate of KL(rollout || trainer): that much
        # of the budget is spent before the step. Without complete responses both stay.
        if count:
            mismatch = (1 - MISMATCH_WEIGHT) * before + MISMATCH_WEIGHT * max(0.0, total / count)
            budget = max(budget - mismatch, BUDGET_FLOOR * budget)
        alpha = kl_step_scale(kl, budget=budget, alpha_max=s["alpha_max"])
        # nothing before this line changes the controller
        self._mismatch, self._before, self._update, self._spent = mismatch, before, update, True
        self.last = StepScale(alpha, kl, budget, mismatch, positions)
        return self.last

    def predict(self, model: nn.Module, directions: Directions) -> tuple[float, int]:
        """(mean predicted KL at alpha = 1, number of positions) over the responses observed."""
        rows = self._rows[: self._fewest(len(self._rows))]
        if not rows:
            raise RuntimeError(
                "the KL probe has no generated token to look at: give the controller the step's responses with "
                "observe() before step(), or add a PredictedKLCallback to the trainer; a response whose prompt fills "
                f"probe_max_tokens={self.settings['probe_max_tokens']} does not count"
            )
        if self._method is None:
            self._method = self._verified_method(model, directions, rows[0])
        # one response at a time: a dual pass holds two of everything, and padding would have to be masked
        sums = [self._probe(model, directions, row) for row in rows]
        # the mean over all tokens of all ranks, so a long response weighs more than a short one
        total, count = self._sum(sum(part for part, _ in sums), sum(part for _, part in sums))
        return total / count, count

    def _verified_method(self, model: nn.Module, directions: Directions, row: Row) -> str:
        """The probe's method for this model, after forward mode was compared with differences on a short text."""
        method: str = self.settings["method"]
        if method == "difference":
            return method
        # Once a run, for the same kernels run in each step. A short text will do, and needs no generated token.
        ids = row.input_ids[None, :_VERIFIED_TOKENS]  # [1, L]
        forward = functools.partial(self.forward, model, ids, ids.shape[1])
        return probe(model, directions, forward, method=method, verify=True).method

    def _probe(self, model: nn.Module, directions: Directions, row: Row) -> tuple[float, int]:
        """(sum of the predicted KL, number of positions) in one response."""
        keep = row.input_ids.numel() - row.first + 1  # from the logits before the first generated token to the end
        ids = row.input_ids[None]  # [1, L]
        found = probe(
            model, directions, lambda: self.forward(model, ids, keep), method=self._method or self.settings["method"]
        )
        logits = found.logits[0, :-1]  # [keep - 1, v]; the last logits predict a token that is not there
        tangents = [tangent[0, :-1] for tangent in found.tangents]
        mask = row.generated[row.first :].to(logits.device)  # [keep - 1]
        options: dict[str, Any] = {"temperature": self.settings["temperature"], "mask": mask}
        if len(tangents) == 1:
            values = predicted_kl(logits, tangents[0], **options)
        else:
            values = half_covariance(logits, *tangents, **options)
        return float(values.sum()), values.numel()

    def state_dict(self) -> dict[str, Any]:
        """Plain numbers: the running mismatch, and the settings that a resumed run must share."""
        return {
            "settings": dict(self.settings),
            "mismatch": self._mismatch,
            "before": self._before,
            "update": self._update,
        }

    def differences(self, state: Mapping[str, Any]) -> list[str]:
        """The settings in which a saved state differs from this controller, in words."""
        saved = state["settings"]
        return [
            f"{name} was {saved.get(name)!r} and is {mine!r}"
            for name, mine in self.settings.items()
            if saved.get(name) != mine
        ]

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Go on from a `state_dict`; refuses one of other settings, naming them."""
        if found := self.differences(state):
            raise ValueError(f"the predicted-KL controller was saved with other settings: {'; '.join(found)}")
        self._mismatch, self._before = float(state["mismatch"]), float(state["before"])
        self._update = int(state["update"])
        self.forget()

    def _fewest(self, rows: int) -> int:
        # Every rank has to run the model equally often: sharded layers gather their weights together.
        if not _distributed():
            return rows
        least = torch.tensor(rows, device=self._device())
        torch.distributed.all_reduce(least, torch.distributed.ReduceOp.MIN, group=self.process_group)
        return int(least)

    def _sum(self, total: float, count: int) -> tuple[float, int]:
        if not _distributed():
            return total, count
        both = torch.tensor([total, count], dtype=torch.float64, device=self._device())
        torch.distributed.all_reduce(both, group=self.process_group)
        return float(both[0]), int(both[1])

    def _device(self) -> torch.device:
        cuda = torch.distributed.get_backend(self.process_group) == "nccl"
        return torch.device("cuda", torch.cuda.current_device()) if cuda else torch.device("cpu")


def _distributed() -> bool:
    return bool(torch.distributed.is_available() and torch.distributed.is_initialized())


def _check_settings(settings: Mapping[str, Any]) -> None:
    for name in ("budget_start", "budget_end", "alpha_max", "temperature"):
        value = settings[name]
        if not (math.isfinite(value) and value > 0):
            raise ValueError(f"{name} must be positive and finite, not {value!r}")
    for name in ("horizon", "probe_responses", "probe_max_tokens"):
        value = settings[name]
        if not isinstance(value, int) or value < 1:
            raise ValueError(f"{name} must be a whole number of at least 1, not {value!r}")
    if settings["method"] not in METHODS:
        raise ValueError(f"method must be one of {', '.join(METHODS)}, not {settings['method']!r}")
