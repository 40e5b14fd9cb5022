"""Projections keep the laws that the method needs, and anyone with the arguments draws the same."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch", reason="the optimizer needs torch: pip install .[rl]")

from hypothesis import given  # noqa: E402
from hypothesis import strategies as st  # noqa: E402

from logra.projection import make_projection, projection_seed  # noqa: E402
from oracles.logra_dense import rademacher, seed_of  # noqa: E402

SEEDS = st.integers(0, 2**62 - 1)


@given(st.integers(-(2**70), 2**70), st.integers(0, 10**6), st.text(max_size=20))
def test_seeds_are_those_of_the_oracle_and_fit_a_generator(base_seed, update, name):
    seed = projection_seed(base_seed, update, name)
    assert seed == seed_of(base_seed, update, name)
    assert 0 <= seed < 2**62


@given(st.integers(1, 9), st.integers(1, 9), SEEDS)
def test_projections_are_those_of_the_oracle(rank, width, seed):
    assert torch.equal(make_projection(rank, width, seed).double(), torch.from_numpy(rademacher(rank, width, seed)))


@given(st.integers(1, 9), st.integers(1, 9), SEEDS)
def test_the_draw_on_the_device_is_the_same_on_the_cpu_for_signs(rank, width, seed):
    assert torch.equal(make_projection(rank, width, seed), make_projection(rank, width, seed, draw="device"))


@pytest.mark.parametrize("distribution", ["rademacher", "gaussian"])
def test_the_expectation_of_ata_is_the_identity(distribution):
    draws = [make_projection(8, 6, seed, distribution).double() for seed in range(2000)]
    mean = sum(a.T @ a for a in draws) / len(draws)
    assert float((mean - torch.eye(6)).abs().max()) < 0.05


def test_columns_of_signs_have_norm_one():
    torch.testing.assert_close(make_projection(5, 40, 3).norm(dim=0), torch.ones(40))


def test_a_projection_in_bf16_is_the_float32_one_rounded():
    assert torch.equal(make_projection(3, 7, 1, dtype=torch.bfloat16), make_projection(3, 7, 1).bfloat16())


@pytest.mark.parametrize(
    ("arguments", "options", "message"),
    [
        ((0, 4, 1), {}, "rank >= 1"),
        ((4, 0, 1), {}, "in_features >= 1"),
        ((4, 4, 1), {"distribution": "uniform"}, "rademacher"),
        ((4, 4, 1), {"draw": "gpu"}, "'cpu' or 'device'"),
    ],
)
def test_senseless_arguments_are_refused(arguments, options, message):
    with pytest.raises(ValueError, match=message):
        make_projection(*arguments, **options)
