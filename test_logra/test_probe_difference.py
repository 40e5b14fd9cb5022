"""Tests of the finite differences against the exact derivative, in 32 and in 16 bits."""

from __future__ import annotations

from typing import Any

import pytest

torch = pytest.importorskip("torch", reason="the optimizer needs torch: pip install .[rl]")
pytest.importorskip("transformers", reason="the models need transformers: pip install .[rl]")

from torch import nn  # noqa: E402

import tiny_models  # noqa: E402
from kl_checks import logits_of, measured_kl, model_update, random_update, tokens  # noqa: E402
from logra.low_rank import Carrier, changed_output  # noqa: E402
from logra.predicted_kl import half_covariance, predicted_kl  # noqa: E402
from logra.probe import probe  # noqa: E402

PROMPT = 16  # the first positions of a random recurrent model divide by almost nothing


def predicted(found: Any) -> float:
    """The mean predicted KL of a probe past the prompt."""
    first, last = found.tangents[0], found.tangents[-1]
    return float(half_covariance(found.logits, first, last)[:, PROMPT:].mean())


@pytest.mark.parametrize("ratio", [1e-5, 1e-3])
@pytest.mark.parametrize("build", [tiny_models.qwen3_5, tiny_models.llama])
def test_differences_equal_the_exact_derivative_in_float32(build: Any, ratio: float) -> None:
    model = build()
    factors, forward = model_update(model, ratio=ratio), logits_of(model, tokens(64))
    exact = probe(model, factors, forward, method="forward")
    found = probe(model, factors, forward, method="difference")
    assert len(found.tangents) == 1
    assert predicted(found) == pytest.approx(predicted(exact), rel=0.02)


@pytest.mark.parametrize("autocast", [False, True])
def test_differences_in_16_bits_are_near_the_exact_derivative(autocast: bool) -> None:
    model = tiny_models.llama()
    factors, forward = model_update(model, ratio=1e-4), logits_of(model, tokens(256))
    exact = predicted(probe(model, factors, forward, method="forward"))
    with torch.autocast("cpu", torch.bfloat16, enabled=autocast):
        found = probe(model if autocast else model.bfloat16(), factors, forward, method="difference")
    assert len(found.tangents) == 2
    assert predicted(found) == pytest.approx(exact, rel=0.15)


def test_two_differences_in_16_bits_leave_their_noise_out() -> None:
    model = tiny_models.llama().bfloat16()
    factors, forward = model_update(model, ratio=1e-4), logits_of(model, tokens(256))
    found = probe(model, factors, forward, method="difference")
    alone = float(predicted_kl(found.logits, found.tangents[0])[:, PROMPT:].mean())
    assert predicted(found) < alone


def test_forward_mode_in_16_bits_is_near_that_in_32() -> None:
    model = tiny_models.qwen3_5()
    factors, forward = model_update(model), logits_of(model, tokens(64))
    exact = predicted(probe(model, factors, forward, method="forward"))
    model.bfloat16()
    assert predicted(probe(model, factors, forward, method="forward")) == pytest.approx(exact, rel=0.15)


def test_a_step_that_saturates_is_cut() -> None:
    model = tiny_models.llama()
    factors, forward = model_update(model, ratio=1.0), logits_of(model, tokens())
    huge = {layer: (A, 1e4 * D) for layer, (A, D) in factors.items()}
    exact = predicted(probe(model, factors, forward, method="forward"))
    assert predicted(probe(model, huge, forward, method="difference")) == pytest.approx(1e8 * exact, rel=0.02)


def test_a_difference_takes_few_passes() -> None:
    model, calls = tiny_models.llama(), 0
    model.register_forward_hook(lambda *_: nonlocal_count())

    def nonlocal_count() -> None:
        nonlocal calls
        calls += 1

    probe(model, model_update(model), logits_of(model, tokens()), method="difference")
    assert calls == 5  # the logits, a pair to find the step, a pair at it


def test_no_update_has_no_derivative() -> None:
    model = tiny_models.llama()
    factors, forward = model_update(model), logits_of(model, tokens())
    nothing = {layer: (A, torch.zeros_like(D)) for layer, (A, D) in factors.items()}
    assert not probe(model, nothing, forward, method="difference").tangents[0].any()


def test_a_small_change_of_a_16_bit_output_is_not_rounded_away() -> None:
    layer, x = nn.Linear(64, 64).bfloat16(), torch.randn(512, 64).bfloat16()
    ((_, (A, D)),) = random_update([layer], ratio=3e-4).items()
    carrier = Carrier("", layer, A, D)
    moved = changed_output(carrier, x, layer(x), 1.0).double() - changed_output(carrier, x, layer(x), -1.0).double()
    wanted = -2 * (x.double() @ A.T.double()) @ D.T.double()
    # each element moves by a whole ulp or not at all, but in the sum over all of them the change is there
    assert float((moved * wanted).sum() / (wanted * wanted).sum()) == pytest.approx(1, abs=0.1)


@pytest.mark.parametrize("build", [tiny_models.qwen3_5, tiny_models.llama])
def test_a_difference_is_that_of_merged_weights(build: Any) -> None:
    model = build()
    factors, forward = model_update(model), logits_of(model, tokens(64))
    kl = measured_kl(factors, 0.1, forward)[:, PROMPT:].mean()
    assert predicted(probe(model, factors, forward, method="difference")) * 0.01 == pytest.approx(float(kl), rel=0.05)
