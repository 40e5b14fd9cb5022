"""Finite differences of the logits along a low-rank update, for kernels that have no forward derivative."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from typing import Any

import torch
from torch import Tensor, nn

from logra.low_rank import Carrier, changed_output, layer_input
from logra.predicted_kl import half_covariance

# Predicted KL in nats to which the step of a difference is scaled. The truncation error grows with it (SmolLM2-135M:
# 0.03 % at 1e-4, 4 % at 1e-2) and the rounding noise falls: in 16 bits that alone is worth more than 1e-3 nats.
_TARGET = 1e-4
_TARGET_16_BIT = 1e-2
_ROUNDS = 8
_POSITIONS = 64
_SECOND_STEP = 1.25  # a different step is rounded differently
# A forward-mode tangent further than this from differences, relative to its size, is checked against what differences
# at a narrower step say of their own error.
_DISAGREEMENT = 0.1
_NARROW = 0.25


def difference_tangents(layers: list[Carrier], forward: Callable[[], Tensor]) -> tuple[Tensor, tuple[Tensor, ...]]:
    """The logits of `forward` and central differences of them along W - s D A, computed without touching a weight.

    In 16 bits there are two differences, at two steps. The rounding noise of each is as large as the change itself, and
    would add to the variance of the one, but it is independent between the two and drops out of their covariance.
    Call it in evaluation mode without autograd.
    """
    logits, coarse = _unmoved(layers, forward)
    step, tangent = _scaled(logits, layers, forward, _TARGET_16_BIT if coarse else _TARGET)
    if coarse:
        # E[Cov_p(zdot + e1, zdot + e2)] = Var_p(zdot) for independent e1, e2; Var_p(zdot + e) = Var_p(zdot) + Var_p(e)
        return logits, (tangent, _central(layers, forward, step * _SECOND_STEP))
    return logits, (tangent,)


def check_tangent(
    logits: Tensor,
    tangent: Tensor,
    inputs: Mapping[str, Tensor | None],
    layers: list[Carrier],
    forward: Callable[[], Tensor],
) -> tuple[float | None, str]:
    """(relative error, first layer whose input is wrong) of a forward-mode tangent; None where nothing is proved.

    `inputs` holds a `sample` of the tangent of each layer's input. Differences at two steps say how far they can be
    trusted: in 16 bits, or where a random model divides by almost nothing, they disagree with each other.
    """
    step, wide = _scaled(logits, layers, forward, _TARGET)
    ahead: dict[str, Tensor] = {}  # what each layer read at +s
    behind: dict[str, Tensor] = {}  # and at -s
    narrow = _central(layers, forward, step * _NARROW, ahead, behind)
    spread, error = (_relative(logits, given - narrow, narrow) for given in (wide, tangent.to(narrow)))
    if not (error > _DISAGREEMENT and error > 3 * spread):
        return None, ""
    # In the order of the calls: the first layer whose input moves otherwise than its tangent says is behind the loss.
    for name, found in inputs.items():
        expected = (ahead[name] - behind[name]) / (2 * step * _NARROW)
        missing = expected if found is None else found.to(expected) - expected
        if float(missing.norm()) > _DISAGREEMENT * float(expected.norm()):
            return error, name
    return error, "the logits"


def sample(values: Tensor) -> Tensor:
    """Some thousand elements spread over a tensor."""
    flat = values.detach().reshape(-1)
    return flat[:: max(flat.numel() // 4096, 1)].clone()


def _relative(logits: Tensor, change: Tensor, whole: Tensor) -> float:
    """Size of `change` over that of `whole`, in the norm that the predicted KL is the square of."""
    part, size = _mean_kl(logits, change), _mean_kl(logits, whole)
    return math.sqrt(part / size) if size > 0 else math.inf


def _mean_kl(logits: Tensor, tangent: Tensor) -> float:
    """The mean predicted KL over some positions: enough for a step size, where float64 over a vocabulary is slow."""
    rows, changes = (given.reshape(-1, given.shape[-1]) for given in (logits, tangent))  # [n, v]
    stride = max(rows.shape[0] // _POSITIONS, 1)
    return float(half_covariance(rows[::stride], changes[::stride], changes[::stride]).mean())


def _scaled(
    logits: Tensor, layers: list[Carrier], forward: Callable[[], Tensor], target: float
) -> tuple[float, Tensor]:
    """(a step whose own predicted KL is near `target`, the difference at it): K is quadratic, a few rounds find it."""
    step = 1.0  # the proposal itself
    for _ in range(_ROUNDS):
        tangent = _central(layers, forward, step)
        kl = _mean_kl(logits, tangent) * step**2
        if kl == 0 or target / 2 <= kl <= target * 2:
            break
        # K(s) = s^2 K(1), hence the root. Where logits saturate or overflow, K says only that the step is far too long.
        step *= min(max(math.sqrt(target / kl), 1e-3), 1e3) if math.isfinite(kl) else 1e-3
    else:
        tangent = _central(layers, forward, step)
    return step, tangent


def _central(
    layers: list[Carrier],
    forward: Callable[[], Tensor],
    step: float,
    inputs_ahead: dict[str, Tensor] | None = None,
    inputs_behind: dict[str, Tensor] | None = None,
) -> Tensor:
    """(z(s) - z(-s)) / 2s in fp32 or better; the dictionaries receive samples of what the layers read at s and -s."""
    ahead = _moved(layers, forward, step, inputs_ahead)
    behind = _moved(layers, forward, -step, inputs_behind)
    # z(s) - z(-s) = 2 s zdot + O(s^3): the curvature drops out, unlike in (z(s) - z(0)) / s
    dtype = torch.promote_types(ahead.dtype, torch.float32)
    return (ahead.to(dtype) - behind.to(dtype)) / (2 * step)


def _moved(
    layers: list[Carrier], forward: Callable[[], Tensor], step: float, inputs: dict[str, Tensor] | None = None
) -> Tensor:
    """The logits with every weight at W - step D A."""

    def hook(carrier: Carrier) -> Callable[[nn.Module, Any, Any, Tensor], Tensor]:
        def move(module: nn.Module, arguments: tuple[Any, ...], options: dict[str, Any], output: Tensor) -> Tensor:
            x = layer_input(arguments, options)
            if inputs is not None:
                # x at the moved weights of all layers before, so the sum of the hooks is the merged network, exactly
                inputs[carrier.name] = sample(x)
            return changed_output(carrier, x, output, step)

        return move

    with ExitStack() as hooks:
        for carrier in layers:
            hooks.callback(carrier.module.register_forward_hook(hook(carrier), prepend=True, with_kwargs=True).remove)
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
