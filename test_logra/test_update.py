"""The pure arithmetic against the golden vectors, the dense oracle and its own defining properties."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch", reason="the optimizer needs torch: pip install .[rl]")

from hypothesis import given, settings  # noqa: E402
from hypothesis import strategies as st  # noqa: E402

import golden_checks  # noqa: E402
import logra  # noqa: E402
import optimizer_checks as checks  # noqa: E402
from logra.update import clip_scale, projected_squared_norm, row_adam_direction  # noqa: E402


def test_seeds_are_golden():
    golden_checks.check_golden_seeds(logra)


def test_projections_are_golden():
    golden_checks.check_golden_projections(logra)


def test_directions_are_golden():
    golden_checks.check_golden_directions(logra)


def test_trajectory_is_golden():
    golden_checks.check_golden_trajectory(logra)


def test_directions_scale_with_the_sketch():
    checks.check_directions_scale_with_the_sketch(logra)


def test_norm_is_preserved():
    checks.check_norm_is_preserved(logra)


def test_ratio_is_global():
    checks.check_ratio_is_global(logra)


def test_trust_region_caps_each_layer():
    checks.check_trust_region(logra)


@st.composite
def sketches(draw):
    d, r = draw(st.integers(1, 6)), draw(st.integers(1, 5))
    values = st.floats(-1e3, 1e3, width=32).map(lambda x: 0.0 if abs(x) < 1e-3 else x)
    return torch.tensor(draw(st.lists(st.lists(values, min_size=r, max_size=r), min_size=d, max_size=d)))


@given(sketches(), st.sampled_from(checks.FORMS), st.integers(1, 50))
def test_a_row_keeps_its_direction_and_a_zero_row_stays(sketch, form, step):
    direction = row_adam_direction(sketch, torch.zeros(len(sketch), 1), step=step, beta2=0.95, epsilon=1e-8, form=form)
    for before, after in zip(sketch, direction, strict=True):
        assert torch.isfinite(after).all()
        cosine = torch.dot(before.double(), after.double()) - before.double().norm() * after.double().norm()
        assert abs(cosine) <= 1e-5 * before.double().norm() * after.double().norm()
        assert bool((after == 0).all()) == bool((before == 0).all())


@given(sketches(), st.integers(0, 2**31))
def test_gram_norm_is_that_of_the_product(direction, seed):
    a = logra.make_projection(direction.shape[1], 7, seed)
    expected = (direction.double() @ a.double()).square().sum()
    assert abs(projected_squared_norm(direction, a) - expected) <= 1e-12 * (1 + direction.double().square().sum())


@given(st.floats(1e-3, 1e3), st.floats(1e-3, 1e3))
def test_clipping_is_torchs(norm, max_norm):
    parameter = torch.nn.Parameter(torch.zeros(1, dtype=torch.float64))
    parameter.grad = torch.full((1,), norm, dtype=torch.float64)
    torch.nn.utils.clip_grad_norm_(parameter, max_norm)
    assert clip_scale(norm, max_norm) * norm == pytest.approx(float(parameter.grad), rel=1e-12)


def test_low_precision_sketch_is_computed_in_float32():
    sketch = torch.randn(5, 4).bfloat16()
    moment = torch.zeros(5, 1)
    direction = row_adam_direction(sketch, moment, step=1, beta2=0.95, epsilon=1e-8, form="plain")
    assert direction.dtype == torch.float32
    torch.testing.assert_close(moment, 0.05 * sketch.float().square().mean(1, keepdim=True))


def test_a_refused_direction_keeps_the_moment():
    checks.check_refused_direction_keeps_the_moment(logra)


def test_a_row_without_gradient_stays_without_epsilon():
    for form in checks.FORMS:
        sketch, moment = torch.tensor([[0.0, 0.0], [1.0, 2.0]]), torch.zeros(2, 1)
        direction = row_adam_direction(sketch, moment, step=1, beta2=0.95, epsilon=0.0, form=form)
        assert bool((direction[0] == 0).all() and torch.isfinite(direction).all())


@pytest.mark.parametrize("kept", [float("nan"), float("inf"), -1.0])
def test_a_moment_that_is_none_is_blamed(kept):
    with pytest.raises(FloatingPointError, match="row moment"):
        row_adam_direction(torch.ones(2, 2), torch.full((2, 1), kept), step=1, beta2=0.95, epsilon=1e-8)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"step": 0}, "counts from 1"),
        ({"beta2": 1.0}, "beta2"),
        ({"epsilon": -1.0}, "epsilon"),
        ({"form": "plane"}, "norm_preserving"),
        ({"moment": torch.zeros(3)}, r"\[d, 1\]"),
        ({"sketch": torch.ones(3, 0)}, "empty"),
    ],
)
def test_senseless_arguments_are_refused(change, message):
    arguments = {"moment": torch.zeros(3, 1), "step": 1, "beta2": 0.95, "epsilon": 1e-8, **change}
    with pytest.raises(ValueError, match=message):
        row_adam_direction(arguments.pop("sketch", torch.ones(3, 2)), **arguments)


@given(
    d=st.integers(1, 9), r=st.integers(1, 9), k=st.integers(1, 9), hidden=st.integers(1, 9),
    form=st.sampled_from(checks.FORMS), rule=st.sampled_from(sorted(checks.RULES)), refresh=st.booleans(),
    beta2=st.sampled_from([0.0, 0.5, 0.95]), epsilon=st.sampled_from([1e-8, 1e-2]), base_seed=st.integers(-5, 2**40),
    clip=st.sampled_from([None, 1e-2, 1e2]), decay=st.sampled_from([0.0, 0.1]), scale=st.sampled_from([1e-3, 1.0, 1e3]),
    bf16=st.booleans(), tokens=st.sampled_from([1.0, 7.0]), alpha=st.sampled_from([0.0, 0.5, 1.0, 3.0]),
    steps=st.integers(1, 4),
)  # fmt: skip
@settings(max_examples=60, deadline=None)
def test_every_step_is_that_of_the_dense_oracle(
    d, r, k, hidden, form, rule, refresh, beta2, epsilon, base_seed, clip, decay, scale, bf16, tokens, alpha, steps
):
    checks.check_against_dense(
        logra, widths=(k, hidden, d), rank=r, steps=steps, bf16_factor=bf16, gradient_scale=scale, tokens=tokens,
        alphas=(alpha, 1.0), form=form, rule=rule, refresh=refresh, beta2=beta2, epsilon=epsilon, base_seed=base_seed,
        max_grad_norm=clip, weight_decay=decay if form == "plain" else 0.0, **checks.RULES[rule],
    )  # fmt: skip


@given(
    st.sampled_from(sorted(checks.STORED)), st.integers(1, 9), st.integers(1, 9), st.integers(1, 9), st.integers(1, 5)
)
def test_weights_in_every_storage_follow_the_dense_oracle(stored, width, rows, rank, steps):
    checks.check_stored_weights_against_dense(logra, stored=stored, width=width, rows=rows, rank=rank, steps=steps)
