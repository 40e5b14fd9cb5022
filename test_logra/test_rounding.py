"""Low-precision weights lose no update: float32 masters, or rounding that is right in expectation."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch", reason="the optimizer needs torch: pip install .[rl]")

from hypothesis import given  # noqa: E402
from hypothesis import strategies as st  # noqa: E402

import logra  # noqa: E402
import optimizer_checks as checks  # noqa: E402
from chains import backward, build, chain  # noqa: E402
from logra.rounding import BLOCK_ROWS, merge, stochastic_round  # noqa: E402

FINITE = st.floats(width=32, allow_nan=False, allow_infinity=False)


def test_stochastic_rounding_is_unbiased():
    checks.check_stochastic_rounding_is_unbiased(logra)


@given(st.lists(FINITE, min_size=1, max_size=8), st.integers(0, 2**62 - 1))
def test_a_rounded_value_is_a_neighbour(values, seed):
    exact = torch.tensor(values)
    rounded = stochastic_round(exact, torch.Generator().manual_seed(seed))
    assert rounded.dtype == torch.bfloat16
    bits = exact.view(torch.int32)
    towards_zero = (bits & -65536).view(torch.float32)
    away = ((bits & -65536) + 65536).view(torch.float32)
    away = torch.where(torch.isfinite(away), away, towards_zero)
    held = towards_zero == exact
    assert bool(((rounded.float() == towards_zero) | ((rounded.float() == away) & ~held)).all())


def test_what_is_not_finite_passes_through():
    odd = torch.tensor([float("inf"), -float("inf"), float("nan")])
    rounded = stochastic_round(odd).float()
    assert torch.equal(rounded[:2], odd[:2])
    assert bool(rounded[2].isnan())


def test_only_float32_is_rounded():
    with pytest.raises(TypeError, match="float64"):
        stochastic_round(torch.zeros(2, dtype=torch.float64))


@pytest.mark.parametrize("low_precision", ["master", "stochastic"])
def test_small_updates_arrive_in_bf16(low_precision):
    # Steps of 5e-4 of a weight: to the nearest bf16, whose half step is 2e-3 to 4e-3, hardly any would arrive.
    model, exact = chain(32, 64).bfloat16(), chain(32, 64).bfloat16().float()
    start = model[0].weight.detach().float()
    for layers, low in ((model, low_precision), (exact, None)):
        optimizer = build(logra, layers, low_precision=low, rank=8, ratio=5e-4, refresh=False)
        layer = optimizer.layers["0"]
        for _ in range(60):
            layer.sketch.copy_(torch.randn(64, 8, generator=torch.Generator().manual_seed(0)))
            layer.backwards = 1
            optimizer.step()
    moved, wanted = model[0].weight.detach().float() - start, exact[0].weight.detach() - start
    assert float((moved * wanted).sum() / wanted.square().sum()) == pytest.approx(1.0, abs=0.05)


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_low_precision_without_a_rule_is_refused(dtype):
    with pytest.raises(ValueError, match="low_precision='master'"):
        build(logra, chain(6, 5).to(dtype))


def test_stochastic_rounding_is_for_bf16():
    with pytest.raises(ValueError, match="use 'master'"):
        build(logra, chain(6, 5).half(), low_precision="stochastic")


def test_a_weight_is_its_master_rounded():
    model = chain(6, 9, 5).bfloat16()
    optimizer = build(logra, model, low_precision="master")
    for step in range(3):
        backward(model, seed=step)
        optimizer.step()
    for layer in optimizer.layers.values():
        assert torch.equal(optimizer.state[layer.weight]["master"].bfloat16(), layer.weight)


def test_a_merge_is_the_same_in_blocks_of_rows():
    d, k, r = 2 * BLOCK_ROWS + 3, 5, 2
    u, a, w = torch.randn(d, r), torch.randn(r, k), torch.randn(d, k)
    expected = 0.9 * w - u @ a
    merge(w, u, a, seed=0, decay=0.9)
    torch.testing.assert_close(w, expected)
