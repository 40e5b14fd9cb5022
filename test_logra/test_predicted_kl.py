"""Tests of the predicted KL and of the step scale against golden vectors, the divergence itself and bad input."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import pytest

torch = pytest.importorskip("torch", reason="the optimizer needs torch: pip install .[rl]")

from hypothesis import given  # noqa: E402
from hypothesis import strategies as st  # noqa: E402

from logra.predicted_kl import PredictedKLError, kl_step_scale, predicted_kl  # noqa: E402

GOLDEN = json.loads((Path(__file__).parent / "golden" / "predicted_kl.json").read_text(encoding="utf8"))


def tensor(values: Any) -> Any:
    return torch.tensor(values, dtype=torch.float64)


def divergence(logits: Any, moved: Any, temperature: float) -> Any:
    """KL(softmax(logits / T) || softmax(moved / T)) in float64."""
    old = torch.log_softmax(logits.double() / temperature, dim=-1)
    new = torch.log_softmax(moved.double() / temperature, dim=-1)
    return (old.exp() * (old - new)).sum(dim=-1)


@pytest.mark.parametrize("case", GOLDEN, ids=lambda case: f"temperature-{case['temperature']}")
def test_golden_vectors(case: dict[str, Any]) -> None:
    ours = predicted_kl(tensor(case["logits"]), tensor(case["tangent"]), temperature=case["temperature"])
    torch.testing.assert_close(ours, tensor(case["value"]), rtol=2e-6, atol=0)


@pytest.mark.parametrize("case", GOLDEN, ids=lambda case: f"temperature-{case['temperature']}")
def test_the_golden_ratio_to_the_real_divergence(case: dict[str, Any]) -> None:
    logits, tangent, step = tensor(case["logits"]), tensor(case["tangent"]), 1e-4
    actual = divergence(logits, logits + step * tangent, case["temperature"])
    ratio = actual / (step**2 * predicted_kl(logits, tangent, temperature=case["temperature"]))
    assert ratio.tolist() == pytest.approx(case["actual_over_predicted_at_1em4"], rel=5e-5)


@given(seed=st.integers(0, 2**32), temperature=st.floats(0.3, 3.0), vocabulary=st.integers(2, 40))
def test_it_is_the_divergence_to_second_order(seed: int, temperature: float, vocabulary: int) -> None:
    draw = torch.Generator().manual_seed(seed)
    logits, tangent = (torch.randn(3, vocabulary, generator=draw, dtype=torch.float64) for _ in range(2))
    step = 1e-3 * temperature
    predicted = predicted_kl(logits, step * tangent, temperature=temperature)
    # the remainder is of third order in the step
    assert torch.allclose(predicted, divergence(logits, logits + step * tangent, temperature), rtol=0.02, atol=1e-15)


@given(seed=st.integers(0, 2**32), shift=st.floats(-1e6, 1e6), chunk=st.integers(1, 9))
def test_a_shift_of_all_logits_changes_nothing(seed: int, shift: float, chunk: int) -> None:
    draw = torch.Generator().manual_seed(seed)
    logits, tangent = (torch.randn(2, 4, 11, generator=draw, dtype=torch.float64) for _ in range(2))
    plain = predicted_kl(logits, tangent)
    assert plain.shape == (2, 4)
    assert torch.allclose(plain, predicted_kl(logits + shift, tangent + shift, chunk=chunk), rtol=1e-5)


@given(seed=st.integers(0, 2**32))
def test_a_mask_selects_positions_in_order(seed: int) -> None:
    draw = torch.Generator().manual_seed(seed)
    logits, tangent = (torch.randn(3, 5, 7, generator=draw) for _ in range(2))
    mask = torch.rand(3, 5, generator=draw) < 0.5
    assert torch.equal(predicted_kl(logits, tangent, mask=mask, chunk=2), predicted_kl(logits, tangent)[mask])


def test_low_precision_logits_are_taken_to_float64_first() -> None:
    logits, tangent = torch.randn(4, 33).bfloat16(), torch.randn(4, 33).bfloat16()
    assert torch.equal(predicted_kl(logits, tangent), predicted_kl(logits.double(), tangent.double()))


def test_a_forbidden_token_does_not_count() -> None:
    logits, tangent = torch.tensor([[1.0, 2.0, -math.inf]]), torch.tensor([[0.3, -0.1, math.nan]])
    assert torch.equal(predicted_kl(logits, tangent), predicted_kl(logits[:, :2], tangent[:, :2]))


def test_a_position_that_is_not_finite_is_named() -> None:
    tangent = torch.zeros(2, 3, 5)
    tangent[1, 2, 0] = math.nan
    with pytest.raises(PredictedKLError, match="1 of 6 positions, first at 5"):
        predicted_kl(torch.zeros(2, 3, 5), tangent)


@pytest.mark.parametrize("temperature", [0.0, -1.0, math.nan, math.inf])
def test_a_temperature_out_of_range_is_refused(temperature: float) -> None:
    with pytest.raises(ValueError, match="temperature"):
        predicted_kl(torch.zeros(1, 2), torch.zeros(1, 2), temperature=temperature)


def test_shapes_that_do_not_fit_are_refused() -> None:
    logits = torch.zeros(2, 3)
    for tangent in (torch.zeros(3, 2), torch.zeros(2, 2)):
        with pytest.raises(ValueError, match=r"one shape \[..., vocabulary\]"):
            predicted_kl(logits, tangent)
    for mask in (torch.ones(2), torch.ones(3, dtype=torch.bool)):
        with pytest.raises(ValueError, match="mask must be boolean"):
            predicted_kl(logits, logits, mask=mask)
    with pytest.raises(ValueError, match="chunk"):
        predicted_kl(logits, logits, chunk=0)


def test_no_position_gives_no_value() -> None:
    assert predicted_kl(torch.zeros(0, 5), torch.zeros(0, 5)).shape == (0,)


@given(kl=st.floats(1e-12, 1e3), budget=st.floats(1e-8, 1.0), alpha_max=st.floats(0.1, 10.0))
def test_the_scaled_step_meets_the_budget_or_the_cap(kl: float, budget: float, alpha_max: float) -> None:
    alpha = kl_step_scale(kl, budget=budget, alpha_max=alpha_max)
    assert alpha == alpha_max or alpha**2 * kl == pytest.approx(budget)
    assert 0 < alpha <= alpha_max


@pytest.mark.parametrize(
    ("kl", "budget", "alpha_max", "alpha"),
    [
        (4e-4, 1e-4, 3.0, 0.5),
        (1e-4, 4e-4, 3.0, 2.0),
        (1e-9, 1e-4, 3.0, 3.0),
        (0.0, 1e-4, 3.0, 1.0),
        (0.0, 1e-4, 0.5, 1.0),
        (5e-324, 1.0, 3.0, 3.0),
    ],
)
def test_step_scales(kl: float, budget: float, alpha_max: float, alpha: float) -> None:
    assert kl_step_scale(torch.tensor(kl, dtype=torch.float64), budget=budget, alpha_max=alpha_max) == alpha


@pytest.mark.parametrize("kl", [math.nan, math.inf, -1e-12])
def test_a_predicted_kl_that_is_none_is_refused(kl: float) -> None:
    with pytest.raises(PredictedKLError, match="finite and not negative"):
        kl_step_scale(kl, budget=1e-4, alpha_max=3.0)


@pytest.mark.parametrize("value", [0.0, -1.0, math.nan, math.inf])
@pytest.mark.parametrize("name", ["budget", "alpha_max"])
def test_a_limit_out_of_range_is_refused(name: str, value: float) -> None:
    with pytest.raises(ValueError, match=name):
        kl_step_scale(1e-4, **{"budget": 1e-4, "alpha_max": 3.0, name: value})
