"""Predict the KL divergence of an update from logits and their derivative, and scale the update to a budget."""

from __future__ import annotations

import math

import torch
from torch import Tensor

# Positions held in float64 at once: 64 x 248,320 (Qwen3.5's vocabulary) x 8 bytes is 0.12 GiB a buffer.
CHUNK = 64


class PredictedKLError(FloatingPointError, ValueError):
    """A predicted KL that no step can be scaled by: NaN, infinite or negative."""


def predicted_kl(
    logits: Tensor, tangent: Tensor, *, temperature: float = 1.0, mask: Tensor | None = None, chunk: int = CHUNK
) -> Tensor:
    """The KL in nats, to second order, between softmax(logits / T) and softmax((logits + tangent) / T), per position.

    `logits` and `tangent` are [..., vocabulary]; the answer is float64 [...], on their device. With `mask`, a boolean
    [...], only the positions it selects are looked at and the answer is flat, [number selected], in row-major order.
    A token whose logit is -inf has probability 0 and does not count, whatever its tangent. At most `chunk` positions
    are held in float64 at a time. Raises ValueError for shapes or a temperature that make no sense and
    PredictedKLError, naming the first position, where the prediction is not finite.
    """
    values = half_covariance(logits, tangent, tangent, temperature=temperature, mask=mask, chunk=chunk)
    bad = (~torch.isfinite(values)).reshape(-1).nonzero()
    if bad.numel():
        raise PredictedKLError(
            f"the predicted KL is not finite at {bad.shape[0]} of {values.numel()} positions, first at "
            f"{int(bad[0, 0])} of them (flattened): the logits or their tangent hold NaN or inf"
        )
    return values


def half_covariance(
    logits: Tensor,
    first: Tensor,
    second: Tensor,
    *,
    temperature: float = 1.0,
    mask: Tensor | None = None,
    chunk: int = CHUNK,
) -> Tensor:
    """0.5 Cov_p(first / T, second / T), p = softmax(logits / T): `predicted_kl` where both tangents are the same.

    With two estimates of one tangent whose errors are independent, its mean is the predicted KL without the variance of
    the errors; single positions may be negative then. Shapes and `mask` as in `predicted_kl`.
    """
    for tangent in (first, second):
        _check_shapes(logits, tangent, mask)
    if not (math.isfinite(temperature) and temperature > 0):
        raise ValueError(f"temperature must be positive and finite, not {temperature!r}; use the sampling temperature")
    if chunk < 1:
        raise ValueError(f"chunk must be at least one position, not {chunk!r}")
    # [..., v] to [n, v]; a view where the logits are contiguous
    rows, *tangents = (given.detach().reshape(-1, logits.shape[-1]) for given in (logits, first, second))  # [n, v]
    # KL(p(z) || p(z + zdot)) = 0.5 zdot^T (diag(p) - p p^T) zdot + O(zdot^3) = 0.5 Var_p(zdot): the Fisher information
    # of a softmax in its logits, with z / T for z.
    count = rows.shape[0]
    chosen = torch.arange(count, device=rows.device) if mask is None else mask.reshape(-1).nonzero().squeeze(1)
    values = torch.empty(chosen.numel(), dtype=torch.float64, device=rows.device)
    for start in range(0, chosen.numel(), chunk):
        part = chosen[start : start + chunk].to(rows.device)
        p = torch.softmax(rows[part].double() / temperature, dim=-1)  # [m, v]
        deltas = [_centred(p, tangent[part].double() / temperature) for tangent in tangents]
        values[start : start + chunk] = 0.5 * (p * deltas[0] * deltas[1]).sum(dim=-1)
    return values if mask is not None else values.reshape(logits.shape[:-1])


def kl_step_scale(kl: float | Tensor, *, budget: float, alpha_max: float = 3.0) -> float:
    """The factor alpha for an update whose mean predicted KL at alpha = 1 is `kl`, so that alpha^2 kl meets `budget`.

    alpha = min(alpha_max, sqrt(budget / kl)): the budget is a target, so alpha may exceed 1. A `kl` of exactly zero
    says nothing about the step, so alpha is 1, even below an `alpha_max` under 1 (the authors' rule).
    Raises ValueError for a budget or alpha_max that is not positive and finite, and PredictedKLError for the `kl`.
    """
    for name, value in (("budget", budget), ("alpha_max", alpha_max)):
        if not (math.isfinite(value) and value > 0):
            raise ValueError(f"{name} must be positive and finite, not {value!r}")
    value = float(kl)
    if not (math.isfinite(value) and value >= 0):
        raise PredictedKLError(
            f"the predicted KL must be finite and not negative, not {value!r}: the step was not taken"
        )
    # K is quadratic in the step, hence the root. The division may overflow to inf, which alpha_max then caps.
    return 1.0 if value == 0 else min(alpha_max, math.sqrt(budget / value))


def _centred(p: Tensor, delta: Tensor) -> Tensor:
    """delta less its mean under p, [m, v]: E[d^2] - E[d]^2 would cancel where a shift of all logits hides the rest."""
    delta = torch.where(p > 0, delta, 0.0)  # a vocabulary masked by -inf may carry a NaN tangent: 0 * NaN is NaN
    return delta - (p * delta).sum(dim=-1, keepdim=True)


def _check_shapes(logits: Tensor, tangent: Tensor, mask: Tensor | None) -> None:
    if logits.shape != tangent.shape or logits.dim() < 1 or logits.shape[-1] < 1:
        raise ValueError(
            "logits and tangent must have one shape [..., vocabulary], "
            f"not {list(logits.shape)} and {list(tangent.shape)}"
        )
    if mask is not None and (mask.dtype != torch.bool or mask.shape != logits.shape[:-1]):
        raise ValueError(
            f"mask must be boolean of shape {list(logits.shape[:-1])} (logits without the vocabulary), "
            f"not {mask.dtype} of shape {list(mask.shape)}"
        )
