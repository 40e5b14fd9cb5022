"""Clipping, and torch's AdamW beside the sketches: what a step does with gradients that are not sketched."""

from __future__ import annotations

import math

import pytest

torch = pytest.importorskip("torch", reason="the optimizer needs torch: pip install .[rl]")

import logra  # noqa: E402
from chains import backward, bits, build, chain, close, same, sketches  # noqa: E402


@pytest.mark.parametrize("native", [None, {"lr": 1e-2}])
def test_clipping_by_the_gram_form(native):
    model = chain(6, 9, 5, bias=True)
    optimizer = build(logra, model, native=native)
    backward(model)
    squares = [(s @ optimizer.layers[n].projection).square().sum() for n, s in sketches(optimizer).items()]
    squares += [p.grad.square().sum() for p in model.parameters() if p.grad is not None]
    expected = float(sum(squares)) ** 0.5
    close(torch.tensor(optimizer.clip_grad_norm_(expected / 3)), expected, rtol=1e-5)
    close(torch.tensor(optimizer.grad_norm()), expected / 3, rtol=1e-4)


@pytest.mark.parametrize("max_norm", [0.0, -1.0, math.nan])
def test_a_senseless_clip_is_refused(max_norm):
    optimizer = build(logra, model := chain(6, 5))
    backward(model)
    before = sketches(optimizer)
    with pytest.raises(ValueError, match="max_norm"):
        optimizer.clip_grad_norm_(max_norm)
    assert same(before, sketches(optimizer))


def test_clipping_within_a_step_is_clipping_before_it():
    one, other = chain(6, 9, 5, bias=True), chain(6, 9, 5, bias=True)
    options = {"form": "plain", "rule": "lr", "lr": 1e-2, "epsilon": 1.0, "native": {"lr": 1e-2}}
    inside, before = build(logra, one, max_grad_norm=1e-2, **options), build(logra, other, **options)
    for step in range(3):
        backward(one, seed=step)
        inside.step()
        inside.zero_grad()
        backward(other, seed=step)
        before.clip_grad_norm_(1e-2)
        before.step()
        before.zero_grad()
    for a, b in zip(one.parameters(), other.parameters(), strict=True):
        close(a, b, rtol=1e-5, atol=1e-7)


def test_native_adamw_is_torchs():
    model, twin = chain(6, 5, bias=True), chain(6, 5, bias=True)
    optimizer = build(logra, model, native={"lr": 1e-2, "weight_decay": 0.1}, ratio=1e-3)
    adamw = torch.optim.AdamW([twin[0].bias], lr=1e-2, weight_decay=0.1)
    for step in range(4):
        twin[0].weight.data.copy_(model[0].weight)
        backward(model, seed=step)
        backward(twin, seed=step)
        optimizer.step()
        adamw.step()
        optimizer.zero_grad()
        adamw.zero_grad()
        assert torch.equal(model[0].bias, twin[0].bias)


def test_a_step_uses_up_native_gradients_as_it_does_sketches():
    one, other = chain(6, 9, 5, bias=True), chain(6, 9, 5, bias=True)
    careless, careful = (build(logra, model, native={"lr": 1e-2}) for model in (one, other))
    for step in range(3):
        backward(one, seed=step)
        careless.step()
        careful.zero_grad()
        backward(other, seed=step)
        careful.step()
    assert same(bits(one), bits(other))


def test_a_schedule_reaches_native_adamw():
    model = chain(6, 5, bias=True)
    optimizer = build(logra, model, native={"lr": 1e-2})
    torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: 0.0)
    before = model[0].bias.clone()
    backward(model)
    optimizer.step()
    assert torch.equal(model[0].bias, before)


@pytest.mark.parametrize("poison", [math.nan, 1e25])
def test_a_poisoned_native_gradient_refuses_the_whole_step(poison):
    model = chain(6, 5, bias=True)
    optimizer = build(logra, model, native={"lr": 1e-2})
    backward(model)
    before = bits(model)
    model[0].bias.grad[1] = poison
    with pytest.raises(FloatingPointError, match="native"):
        optimizer.step()
    assert same(before, bits(model))
    assert optimizer.update == 0


def test_native_adamw_needs_something_to_train():
    with pytest.raises(ValueError, match="no parameter beside"):
        build(logra, chain(6, 5), native={"lr": 1e-2})


def test_a_refused_native_option_leaves_the_model_alone():
    for model, native in ((chain(6, 5), {}), (chain(6, 5, bias=True), {"lr": -1.0})):
        with pytest.raises(ValueError):
            build(logra, model, native=native)
        assert all(p.requires_grad for p in model.parameters())
        assert not model[0]._forward_hooks
