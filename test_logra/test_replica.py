"""A replica that receives factors and seeds holds the trainer's bits."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch", reason="the optimizer needs torch: pip install .[rl]")

import logra  # noqa: E402
import optimizer_checks as checks  # noqa: E402
from chains import backward, bits, build, chain, same  # noqa: E402

TRAINERS = {
    "float32": {},
    "float32 factors": {"factor_dtype": torch.float32},
    "fixed A": {"refresh": False},
    "gaussian": {"distribution": "gaussian"},
    "decay": {"form": "plain", "rule": "lr", "lr": 1e-2, "weight_decay": 0.1},
    "masters": {"dtype": torch.bfloat16, "low_precision": "master", "ratio": 1e-3},
    "stochastic": {"dtype": torch.bfloat16, "low_precision": "stochastic", "ratio": 1e-3},
}


@pytest.mark.parametrize("trainer", TRAINERS)
def test_a_replica_follows_bit_for_bit(trainer):
    checks.check_replica(logra, **TRAINERS[trainer])


def message(**options):
    model = chain(6, 9, 5).to(options.pop("dtype", torch.float32))
    optimizer = build(logra, model, keep_factors=True, **options)
    backward(model)
    optimizer.step()
    return optimizer.factors()


def test_a_message_is_two_bytes_a_row_and_rank():
    sent = message(factor_dtype=torch.bfloat16)
    assert sum(layer["factor"].nbytes for layer in sent["layers"].values()) == 2 * 3 * (9 + 5)


def test_alpha_is_in_the_factor():
    model, follower = chain(6, 5), chain(6, 5)
    optimizer = build(logra, model, keep_factors=True)
    backward(model)
    optimizer.propose()
    optimizer.apply(0.3)
    logra.apply_factors(follower, optimizer.factors())
    assert same(bits(model), bits(follower))


def test_factors_must_be_kept_and_there():
    optimizer = build(logra, chain(6, 5))
    with pytest.raises(RuntimeError, match="keep_factors=True"):
        optimizer.factors()
    optimizer.keep_factors = True
    with pytest.raises(RuntimeError, match="nothing was applied"):
        optimizer.factors()


@pytest.mark.parametrize(
    ("replica", "error"),
    [
        (chain(6, 9), "no layer 2"),
        (chain(6, 8, 5), r"\[9, 6\], the replica's \[8, 6\]"),
        (chain(6, 9, 5).bfloat16(), "float32, the replica's torch.bfloat16"),
    ],
)
def test_a_replica_that_cannot_follow_is_refused_untouched(replica, error):
    before = bits(replica)
    with pytest.raises(ValueError, match=error):
        logra.apply_factors(replica, message())
    assert same(before, bits(replica))


def test_masters_must_be_carried():
    with pytest.raises(ValueError, match="masters="):
        logra.apply_factors(chain(6, 9, 5).bfloat16(), message(dtype=torch.bfloat16, low_precision="master"))


def test_a_message_of_another_format_is_refused():
    for given, found in (({**message(), "format": 2}, "format 2"), ({}, "format None")):
        with pytest.raises(ValueError, match=found):
            logra.apply_factors(chain(6, 9, 5), given)


@pytest.mark.parametrize(
    ("change", "error"),
    [
        ({"factor": torch.zeros(4, 3)}, "does not fit"),
        ({"factor": torch.full((5, 3), float("nan"))}, "NaN"),
        ({"storage": "nearest"}, "no storage 'nearest'"),
    ],
)
def test_a_garbled_last_layer_leaves_the_first_alone(change, error):
    sent, replica = message(), chain(6, 9, 5)
    sent["layers"]["2"].update(change)
    before = bits(replica)
    with pytest.raises((ValueError, FloatingPointError), match=error):
        logra.apply_factors(replica, sent)
    assert same(before, bits(replica))


def test_a_loaded_optimizer_does_not_send_the_update_of_the_run_it_left():
    optimizer = build(logra, model := chain(6, 5), keep_factors=True)
    backward(model)
    optimizer.step()
    optimizer.load_state_dict(optimizer.state_dict())
    with pytest.raises(RuntimeError, match="nothing was applied"):
        optimizer.factors()
