"""Tests of the predicted-KL controller: budget, mismatch, positions probed, state, and its place in a LoGRA step."""

from __future__ import annotations

import json
import math
import warnings
from typing import Any

import pytest

torch = pytest.importorskip("torch", reason="the optimizer needs torch: pip install .[rl]")
pytest.importorskip("transformers", reason="the models need transformers: pip install .[rl]")

from hypothesis import given  # noqa: E402
from hypothesis import strategies as st  # noqa: E402
from torch import nn  # noqa: E402

import tiny_models  # noqa: E402
from kl_checks import logits_of, measured_kl, model_update, tokens  # noqa: E402
from logra import LoGRA  # noqa: E402
from logra.control import PredictedKLController, budget_schedule, next_token_logits  # noqa: E402
from logra.predicted_kl import predicted_kl  # noqa: E402
from logra.probe import probe  # noqa: E402
from logra.responses import Responses  # noqa: E402

# published values of the authors' schedule
GOLDEN_BUDGET = {0: 0.0002, 1: 0.00019999503217959356, 2: 0.0001999801292668017, 74: 0.000174139125153864}


def response(length: int = 24, prompt: int = 8, *, seed: int = 0, batch: int = 1) -> Responses:
    ids = torch.cat([tokens(length, seed=seed + i) for i in range(batch)])
    return Responses(ids, (torch.arange(length) >= prompt).expand(batch, length))


def controlled(**settings: Any) -> tuple[Any, Any, PredictedKLController]:
    """(model, update, controller) with one response observed."""
    model = tiny_models.llama()
    controller = PredictedKLController(**settings)
    controller.observe(response())
    return model, model_update(model), controller


@pytest.mark.parametrize(("update", "budget"), GOLDEN_BUDGET.items())
def test_the_budget_follows_the_golden_schedule(update: int, budget: float) -> None:
    assert budget_schedule(update, start=2e-4, end=2e-5, horizon=300) == pytest.approx(budget, rel=1e-14)


@given(update=st.integers(0, 10**6), horizon=st.integers(1, 10**4))
def test_the_budget_falls_to_its_end_and_stays(update: int, horizon: int) -> None:
    now, then = (budget_schedule(t, start=2e-4, end=2e-5, horizon=horizon) for t in (update, update + 1))
    assert 2e-5 * (1 - 1e-12) <= then <= now <= 2e-4
    assert update < horizon - 1 or now == pytest.approx(2e-5 if horizon > 1 or update else 2e-4)


def test_k_is_the_mean_over_generated_tokens_at_the_logits_before_them() -> None:
    model, factors, controller = controlled(temperature=0.7)
    found = probe(model, factors, logits_of(model, response().input_ids))
    values = predicted_kl(found.logits, found.tangents[0], temperature=0.7)[0, 7:23]  # tokens 8..23
    kl, positions = controller.predict(model, factors)
    assert (positions, kl) == (16, pytest.approx(float(values.mean()), rel=1e-5))


def test_only_marked_tokens_count() -> None:
    model, factors, controller = controlled()
    marked = torch.zeros(1, 24, dtype=torch.bool)
    marked[0, [0, 9, 15]] = True  # nothing predicts token 0
    controller.forget()
    controller.observe(Responses(tokens(24), marked))
    found = probe(model, factors, logits_of(model, tokens(24)))
    values = predicted_kl(found.logits, found.tangents[0])[0, [8, 14]]
    assert controller.predict(model, factors) == (pytest.approx(float(values.mean()), rel=1e-5), 2)


@pytest.mark.parametrize("left", [0, 5])
def test_padding_changes_nothing(left: int) -> None:
    model, factors, controller = controlled()
    plain = controller.predict(model, factors)
    right = 7 - left
    given = response()
    ids = nn.functional.pad(given.input_ids, (left, right), value=3)
    mask = nn.functional.pad(torch.ones(1, 24, dtype=torch.long), (left, right))
    controller.forget()
    controller.observe(Responses(ids, nn.functional.pad(given.generated, (left, right)), attention_mask=mask))
    assert controller.predict(model, factors) == plain


def test_the_first_responses_are_probed_and_cut() -> None:
    model, factors, controller = controlled(probe_responses=2, probe_max_tokens=12)
    controller.observe(response(batch=3, seed=1))  # the second and, too late, a third and a fourth
    kl, positions = controller.predict(model, factors)
    each = []
    for seed in (0, 1):
        alone = PredictedKLController()
        alone.observe(response(12, seed=seed))
        each.append(alone.predict(model, factors)[0])
    assert (positions, kl) == (8, pytest.approx(sum(each) / 2, rel=1e-5))


def test_a_longer_response_weighs_more() -> None:
    model, factors, controller = controlled()
    other = response(12, seed=1)
    sums = [controller.predict(model, factors)]
    alone = PredictedKLController()
    alone.observe(other)
    sums.append(alone.predict(model, factors))
    controller.observe(other)
    kl, positions = controller.predict(model, factors)
    assert sums[0][1] != sums[1][1]
    assert (positions, kl) == (
        sum(n for _, n in sums),
        pytest.approx(sum(k * n for k, n in sums) / positions, rel=1e-9),
    )


def test_a_response_without_a_token_to_look_at_is_passed_over() -> None:
    model, factors, controller = controlled(probe_responses=1, probe_max_tokens=24)
    plain = controller.predict(model, factors)
    controller.forget()
    controller.observe(response(40, prompt=30))  # the prompt alone fills the probe
    with pytest.raises(RuntimeError, match=r"no generated token .*observe\(\)"):
        controller.predict(model, factors)
    controller.observe(response())
    assert controller.predict(model, factors) == plain


def test_alpha_meets_the_budget() -> None:
    model, factors, controller = controlled(budget_start=1e-9)
    decided = controller.scale(model, factors, update=0)
    assert decided.alpha**2 * decided.kl == pytest.approx(1e-9)
    assert decided == controller.last


def test_alpha_may_exceed_one_and_is_capped() -> None:
    model, factors, controller = controlled(budget_start=1.0, alpha_max=2.5)
    assert controller.scale(model, factors, update=0).alpha == 2.5


def mismatched(gap: float, *, ended: tuple[bool, bool] = (True, True)) -> Responses:
    """Two responses whose sampler was `gap` nats a token more certain than the trainer, prompts excepted."""
    logps = torch.full((2, 24), -1.0)
    given = response(batch=2)
    rollout = torch.where(given.generated, logps + gap, logps + 100)
    return Responses(given.input_ids, given.generated, None, rollout, logps, torch.tensor(ended))


def after(controller: PredictedKLController, *gaps: Responses) -> list[tuple[float, float]]:
    """(running mismatch, budget) after each step."""
    model = tiny_models.llama()
    factors, out = model_update(model), []
    for update, batch in enumerate(gaps):
        controller.observe(batch)
        decided = controller.scale(model, factors, update=update)
        out.append((decided.mismatch, decided.budget))
    return out


def test_the_running_mismatch_comes_off_the_budget() -> None:
    controller = PredictedKLController(budget_start=2e-4, budget_end=2e-4)
    found = after(controller, mismatched(1e-4), mismatched(2e-4), mismatched(-5.0))
    means = [0.3e-4, 0.7 * 0.3e-4 + 0.6e-4, 0.7 * (0.7 * 0.3e-4 + 0.6e-4)]
    assert [pair[0] for pair in found] == pytest.approx(means, rel=1e-3)
    assert [pair[1] for pair in found] == pytest.approx([2e-4 - mean for mean in means], rel=1e-3)


def test_the_mismatch_takes_half_of_the_budget_at_most() -> None:
    ((mean, budget),) = after(PredictedKLController(), mismatched(1.0))
    assert (mean, budget) == (pytest.approx(0.3), 1e-4)


def test_a_cut_response_says_nothing_about_the_mismatch() -> None:
    cut = (False, False)
    assert after(PredictedKLController(), mismatched(1.0, ended=cut)) == [(0.0, 2e-4)]
    half = mismatched(1.0, ended=(True, False))
    half.rollout_logps[1] = 50.0  # type: ignore[index]
    assert after(PredictedKLController(), half)[0][0] == pytest.approx(0.3)


def test_a_step_without_complete_responses_keeps_the_mean_and_the_budget() -> None:
    controller = PredictedKLController(budget_end=2e-4)
    (first, _), kept = after(controller, mismatched(1e-4), response())
    assert kept == (first, 2e-4)


def test_the_mismatch_can_be_left_out() -> None:
    assert after(PredictedKLController(mismatch=False), mismatched(1.0)) == [(0.0, 2e-4)]


def test_a_step_tried_again_counts_its_mismatch_once() -> None:
    model, factors, controller = controlled()
    controller.observe(mismatched(1e-4))
    assert controller.scale(model, factors, update=0) == controller.scale(model, factors, update=0)


def test_the_next_batch_replaces_that_of_a_step() -> None:
    model, factors, controller = controlled()
    controller.scale(model, factors, update=0)
    controller.observe(response(seed=9))
    fresh = PredictedKLController()
    fresh.observe(response(seed=9))
    assert controller.predict(model, factors) == fresh.predict(model, factors)


@pytest.mark.parametrize("broken", ["logits", "logps"])
def test_values_that_are_not_finite_are_refused_and_change_nothing(broken: str) -> None:
    model, factors, controller = controlled()
    before = controller.state_dict()
    if broken == "logits":
        next(iter(factors.values()))[1][0, 0] = math.nan
        with pytest.raises(FloatingPointError, match="predicted KL is not finite"):
            controller.scale(model, factors, update=0)
    else:
        with pytest.raises(FloatingPointError, match="logps hold NaN"):
            controller.observe(mismatched(math.nan))
    assert controller.state_dict() == before


def test_state_is_plain_and_goes_on() -> None:
    model, factors, controller = controlled()
    controller.observe(mismatched(1e-4))
    controller.scale(model, factors, update=0)
    resumed = PredictedKLController()
    resumed.load_state_dict(json.loads(json.dumps(controller.state_dict())))
    for each in (controller, resumed):
        each.observe(mismatched(2e-4))
    assert controller.scale(model, factors, update=1) == resumed.scale(model, factors, update=1)


def test_other_settings_are_refused_by_name() -> None:
    saved = PredictedKLController(temperature=0.7, horizon=100).state_dict()
    controller = PredictedKLController()
    with pytest.raises(ValueError, match=r"horizon was 100 and is 300; temperature was 0.7 and is 1.0"):
        controller.load_state_dict(saved)


@pytest.mark.parametrize(
    "setting",
    [{"budget_start": 0.0}, {"budget_end": -1.0}, {"alpha_max": math.inf}, {"temperature": math.nan}, {"horizon": 0},
     {"probe_responses": 0}, {"probe_max_tokens": 1.5}, {"method": "reverse"}],
    ids=lambda setting: next(iter(setting)),
)  # fmt: skip
def test_settings_out_of_range_are_refused(setting: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=next(iter(setting))):
        PredictedKLController(**setting)


def test_a_kernel_without_derivative_is_met_once_with_a_warning() -> None:
    model, factors, controller = controlled()
    model.model.layers[0].mlp.act_fn = Opaque()
    with pytest.warns(RuntimeWarning, match="finite differences"):
        first = controller.scale(model, factors, update=0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert controller.scale(model, factors, update=0) == first


class Opaque(nn.Module):
    def forward(self, x: Any) -> Any:
        class Kernel(torch.autograd.Function):
            @staticmethod
            def forward(ctx: Any, x: Any) -> Any:
                return nn.functional.silu(x)

            @staticmethod
            def backward(ctx: Any, *gradients: Any) -> Any:
                raise AssertionError("not in a probe")

        return Kernel.apply(x)


def test_a_plain_module_needs_no_transformers_interface() -> None:
    model = nn.Sequential(nn.Embedding(61, 8), nn.Linear(8, 61))
    wrapped = nn.Sequential()
    wrapped.module, wrapped.forward = model, model.forward  # as DistributedDataParallel holds its model
    ids = tokens(9)
    assert torch.equal(next_token_logits(model, ids, 4), model(ids)[:, -4:])
    assert torch.equal(next_token_logits(wrapped, ids, 4), model(ids)[:, -4:])


def build(controller: PredictedKLController) -> tuple[Any, Any]:
    model = tiny_models.llama()
    return model, LoGRA(model, rank=4, factor_dtype=torch.float32, controller=controller)


def train(model: Any, optimizer: Any, steps: range) -> list[Any]:
    """What the controller decided in each step, on random text."""
    decided = []
    for step in steps:
        batch = mismatched(1e-8 * step)
        optimizer.controller.observe(batch)
        model(input_ids=batch.input_ids, labels=batch.input_ids).loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        decided.append(optimizer.controller.last)
    return decided


def test_alpha_is_applied_after_the_probe() -> None:
    """K belongs to the unscaled proposal, and the step that is taken costs the budget in real divergence."""
    model, optimizer = build(PredictedKLController(budget_start=1e-6, alpha_max=100.0))
    (decided,) = train(model, optimizer, range(1))
    layers = zip(tiny_models.targets(tiny_models.llama()).values(), tiny_models.targets(model).values(), strict=True)
    moved = {new: old.weight - new.weight for old, new in layers}
    update = {new: (torch.eye(new.weight.shape[1]), change) for new, change in moved.items()}
    backwards = measured_kl(update, -1.0, logits_of(model, response(batch=2).input_ids))[:, 7:23].mean()
    assert decided.alpha != pytest.approx(1, abs=0.2)
    assert decided.alpha**2 * decided.kl == pytest.approx(1e-6)
    assert float(backwards) == pytest.approx(1e-6, rel=0.05)


def test_steps_meet_a_falling_budget() -> None:
    settings = {"budget_start": 1e-6, "budget_end": 1e-7, "horizon": 3, "alpha_max": 100.0, "mismatch": False}
    decided = train(*build(PredictedKLController(**settings)), range(4))
    assert [step.alpha**2 * step.kl for step in decided] == pytest.approx([1e-6, 5.5e-7, 1e-7, 1e-7])


def test_a_refused_step_can_be_taken_again() -> None:
    (model, optimizer), (twin, other) = build(PredictedKLController()), build(PredictedKLController())
    train(twin, other, range(1))
    batch = mismatched(0.0)
    model(input_ids=batch.input_ids, labels=batch.input_ids).loss.backward()
    with pytest.raises(RuntimeError, match="no generated token"):
        optimizer.step()
    optimizer.controller.observe(batch)
    optimizer.step()
    assert all(map(torch.equal, model.parameters(), twin.parameters()))


def test_a_resumed_run_takes_the_same_steps_bit_for_bit() -> None:
    (model, optimizer), (twin, other) = build(PredictedKLController()), build(PredictedKLController())
    train(model, optimizer, range(4))
    train(twin, other, range(2))
    saved, weights = other.state_dict(), twin.state_dict()
    again, resumed = build(PredictedKLController())
    again.load_state_dict(weights)
    resumed.load_state_dict(saved)
    train(again, resumed, range(2, 4))
    assert all(map(torch.equal, model.parameters(), again.parameters()))
    assert resumed.controller.last == optimizer.controller.last


def test_a_checkpoint_of_other_settings_is_refused() -> None:
    _, optimizer = build(PredictedKLController(temperature=0.7))
    train(optimizer.model, optimizer, range(1))
    _, other = build(PredictedKLController())
    with pytest.raises(ValueError, match=r"controller: temperature was 0.7 and is 1.0"):
        other.load_state_dict(optimizer.state_dict())
    assert (other.update, len(other.state)) == (0, 0)
