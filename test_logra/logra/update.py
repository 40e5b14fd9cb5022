"""The arithmetic of one update as pure functions: a sketch and a row moment in, a direction and its size out.

Shapes: W [d, k], G = dL/dW [d, k], A [r, k], S = G A^T [d, r], D and U [d, r]; the update is W <- W - U A.
"""

from __future__ import annotations

import math
from typing import Literal

import torch
from torch import Tensor

Form = Literal["norm_preserving", "plain"]
FORMS = ("norm_preserving", "plain")


def row_adam_direction(
    sketch: Tensor,
    moment: Tensor,
    *,
    step: int,
    beta2: float,
    epsilon: float,
    form: Form = "norm_preserving",
) -> Tensor:
    """The RowAdam direction D [d, r] of a sketch S [d, r]; `moment` [d, 1] is updated in place.

    `step` counts from 1. `norm_preserving` equalises the rows and gives the layer its sketch's norm back, with
    `epsilon` relative to the layer's mean root (the paper's code); `plain` is S / (sqrt(v) + epsilon) with `epsilon`
    absolute (NVIDIA's NeMo-RL).

    Raises FloatingPointError, with `moment` as it was, when the sketch, its squares or the result are not finite.
    """
    _check_arguments(sketch, moment, step, beta2, epsilon, form)
    # bf16 holds 8 bits: squares and means of a low-precision sketch are taken in float32.
    s = sketch if sketch.dtype == torch.float64 else sketch.float()
    mean_square = s.square().mean(dim=1, keepdim=True)  # [d, 1]
    # v_t = beta2 v_{t-1} + (1 - beta2) mean_j S_ij^2, one number a row. Rows survive a new A, coordinates do not.
    new_moment = beta2 * moment.to(s.dtype) + (1.0 - beta2) * mean_square  # [d, 1]
    root = (new_moment / (1.0 - beta2**step)).sqrt()  # q [d, 1]; v starts at 0, so the early mean is too small
    direction = _norm_preserving(s, root, epsilon) if form == "norm_preserving" else _plain(s, root, epsilon)
    # Everything is checked before anything is kept: a finite S whose square overflows makes v infinite.
    if not bool(torch.isfinite(new_moment).all() & torch.isfinite(direction).all()):
        raise FloatingPointError(_why_not_finite(s, moment))
    moment.copy_(new_moment)
    return direction


def _norm_preserving(s: Tensor, root: Tensor, epsilon: float) -> Tensor:
    tiny = torch.finfo(s.dtype).tiny
    denominator = root + (epsilon * root.mean()).clamp_min(tiny)  # [d, 1]
    # min/den lies in (0, 1] where 1/den overflows for an all-zero sketch; the factor cancels in the norm below.
    weight = denominator.min() / denominator  # [d, 1]
    weight = weight / weight.square().mean().sqrt().clamp_min(tiny)  # rms 1
    direction = weight * s  # [d, r], rows of about equal size
    # ||D||_F = ||S||_F: the relative size of the layers stays that of their sketches.
    return direction * (torch.linalg.vector_norm(s) / torch.linalg.vector_norm(direction).clamp_min(tiny))


def _plain(s: Tensor, root: Tensor, epsilon: float) -> Tensor:
    # With epsilon = 0 a row that never had a gradient would be 0 / 0.
    return s / (root + epsilon).clamp_min(torch.finfo(s.dtype).tiny)  # [d, r]


def _check_arguments(sketch: Tensor, moment: Tensor, step: int, beta2: float, epsilon: float, form: str) -> None:
    if sketch.ndim != 2 or not sketch.numel() or moment.shape != (sketch.shape[0], 1):
        raise ValueError(
            "a sketch is [d, r] and its moment [d, 1], neither of them empty, "
            f"got {tuple(sketch.shape)} and {tuple(moment.shape)}"
        )
    if step < 1:
        raise ValueError(f"step counts from 1, got {step}")
    if not 0.0 <= beta2 < 1.0 or not 0.0 <= epsilon < math.inf:
        raise ValueError(f"beta2 lies in [0, 1) and epsilon is finite and >= 0, got {beta2} and {epsilon}")
    if form not in FORMS:
        raise ValueError(f"form is one of {', '.join(FORMS)}, not {form!r}")


def _why_not_finite(s: Tensor, moment: Tensor) -> str:
    if not bool((torch.isfinite(moment) & (moment >= 0)).all()):
        return "the row moment it came with is not finite and >= 0"
    bad = int((~torch.isfinite(s)).sum())
    if bad:
        return f"{bad} of the sketch's {s.numel()} entries are NaN or infinite"
    return f"the sketch's squares overflow {s.dtype} (largest entry {float(s.abs().max()):.3g})"


def squared_norm(weight: Tensor) -> Tensor:
    """||W||_F^2 as a float64 scalar tensor."""
    return torch.linalg.vector_norm(weight, dtype=torch.float64).square()


def projected_squared_norm(direction: Tensor, projection: Tensor) -> Tensor:
    """||D A||_F^2 as a float64 scalar tensor, by the Gram matrix A A^T [r, r]: D A [d, k] is never built.

    float64 throughout: with r > k, D may lie near A's null space, where float32 would leave a negative remainder.
    """
    a = projection.double()  # [r, k]
    d = direction.double()  # [d, r]
    # ||D A||^2 = tr(D (A A^T) D^T)
    return ((d @ (a @ a.T)) * d).sum().clamp_min(0.0)


def target_ratio_scale(weight_squares: float, direction_squares: float, ratio: float) -> float:
    """The one factor for all layers that makes sqrt(sum ||D A||^2) equal `ratio` sqrt(sum ||W||^2), up or down."""
    if direction_squares == 0.0:  # every D is 0, or in the null space of its A: nothing to scale
        return 1.0
    return ratio * math.sqrt(weight_squares / direction_squares)


def trust_region_scale(weight_square: float, direction_square: float, ratio: float) -> float:
    """The factor <= 1 for one layer that keeps ||D A|| at or under `ratio` ||W||."""
    limit = ratio * math.sqrt(weight_square)  # 0 for a layer of zeros, which then stays
    size = math.sqrt(direction_square)
    return 1.0 if size <= limit else limit / size


def clip_scale(norm: float, max_norm: float) -> float:
    """The factor <= 1 that brings a global gradient norm down to `max_norm`, as torch's clip_grad_norm_ has it."""
    return min(1.0, max_norm / (norm + 1e-6))  # torch's epsilon


def update_factor(direction: Tensor, alpha: float, dtype: torch.dtype) -> Tensor:
    """U = alpha D rounded to the dtype that travels to replicas, so that trainer and replica merge the same bits."""
    return (direction * alpha).to(dtype)
