"""Finite differences of the logits along a low-rank update, for kernels that have no forward derivative."""

from __future__ import annotations

import math
from collections.abc import Callable
from contextlib import ExitStack
from typing import Any

import torch
from torch import Tensor, nn

from logra.low_rank import Carrier, changed_output
from logra.predicted_kl import half_covariance

# Predicted KL in nats to which the step of a difference is scaled. The truncation error grows with it (SmolLM2-135M:
# 0.03 % at 1e-4, 4 % at 1e-2) and the rounding noise falls: in 16 bits that alone is worth more than 1e-3 nats.
_TARGET = 1e-4
_TARGET_16_BIT = 1e-2
_ROUNDS = 6
_SECOND_STEP = 1.25  # a different step is rounded differently


def difference_tangents(layers: list[Carrier], forward: Callable[[], Tensor]) -> tuple[Tensor, tuple[Tensor, ...]]:
    """The logits of `forward` and central differences of them along W - s D A, computed without touching a weight.

    In 16 bits there are two differences, at two steps. The rounding noise of each is as large as the change itself, and
    would add to the variance of the one, but it is independent between the two and drops out of their covariance.
    Call it in evaluation mode without autograd.
    """
    logits, coarse = _unmoved(layers, forward)
    step = _step(logits, layers, forward, _TARGET_16_BIT if coarse else _TARGET)
    steps = (step, step * _SECOND_STEP) if coarse else (step,)
    return logits, tuple(_central(layers, forward, each) for each in steps)


def relative_error(logits: Tensor, tangent: Tensor, *others: Tensor) -> float:
    """Distance of `tangent` from the other estimates, over its own size, in the norm of the predicted KL."""
    first, last = others[0], others[-1]
    size = float(half_covariance(logits, first, last).mean())
    distance = float(half_covariance(logits, tangent.to(first) - first, tangent.to(last) - last).mean())
    return math.sqrt(max(distance, 0.0) / size) if size > 0 else math.inf


def _step(logits: Tensor, layers: list[Carrier], forward: Callable[[], Tensor], target: float) -> float:
    """A step whose own predicted KL is near `target`: the KL is quadratic in it, so a few rounds find it."""
    step = 1.0
    for _ in range(_ROUNDS):
        tangent = _central(layers, forward, step)
        kl = float(half_covariance(logits, tangent, tangent).mean()) * step**2
        if kl == 0 or not math.isfinite(kl) or target / 2 <= kl <= target * 2:
            break
        step *= min(max(math.sqrt(target / kl), 1e-3), 1e3)
    return step


def _central(layers: list[Carrier], forward: Callable[[], Tensor], step: float) -> Tensor:
    """(z(s) - z(-s)) / 2s in fp32 or better."""
    ahead, behind = _moved(layers, forward, step), _moved(layers, forward, -step)
    dtype = torch.promote_types(ahead.dtype, torch.float32)
    return (ahead.to(dtype) - behind.to(dtype)) / (2 * step)


def _moved(layers: list[Carrier], forward: Callable[[], Tensor], step: float) -> Tensor:
    """The logits with every weight at W - step D A."""

    def hook(carrier: Carrier) -> Callable[[nn.Module, Any, Tensor], Tensor]:
        return lambda module, arguments, output: changed_output(carrier, arguments[0], output, step)

    with ExitStack() as hooks:
        for carrier in layers:
            hooks.callback(carrier.module.register_forward_hook(hook(carrier), prepend=True).remove)
        return forward()


def _unmoved(layers: list[Carrier], forward: Callable[[], Tensor]) -> tuple[Tensor, bool]:
    """The logits as they are, and whether they or a layer's output are in 16 bits (under autocast only the latter)."""
    seen: set[torch.dtype] = set()
    with ExitStack() as hooks:
        for carrier in layers:
            hook = carrier.module.register_forward_hook(lambda module, inputs, output: seen.add(output.dtype))
            hooks.callback(hook.remove)
        logits = forward()
    return logits, bool({logits.dtype, *seen} & {torch.bfloat16, torch.float16})
