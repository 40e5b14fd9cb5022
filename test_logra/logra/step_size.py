"""How far to go along the directions: one global ratio, a cap a layer, or a learning rate."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor

from logra.update import projected_squared_norm, squared_norm, target_ratio_scale, trust_region_scale


def step_scales(
    rule: str,
    directions: Mapping[str, Tensor],
    projections: Mapping[str, Tensor],
    weights: Mapping[str, Tensor],
    groups: Mapping[str, Mapping[str, Any]],
) -> dict[str, float]:
    """The factor on each layer's direction D [d, r], for weights W [d, k] and projections A [r, k], all by layer name.

    target_ratio: lr ratio sqrt(sum ||W||^2 / sum ||D A||^2), the sums over all layers. trust_region: lr, lowered where
    ||lr D A|| would exceed ratio ||W||; a layer whose weights are all zero does not move. lr: lr.
    """
    if rule == "lr":
        return {name: groups[name]["lr"] for name in directions}
    names = list(directions)
    sizes = floats([projected_squared_norm(directions[name], projections[name]) for name in names])  # ||D A||^2
    norms = floats([squared_norm(weights[name]) for name in names])  # ||W||^2
    if not all(map(math.isfinite, sizes + norms)):
        raise FloatingPointError("the norm of a weight or of an update is not finite; nothing was changed")
    scales = {}
    for name, size, norm in zip(names, sizes, norms, strict=True):
        lr, ratio = groups[name]["lr"], groups[name]["ratio"]
        if rule == "target_ratio":
            # one factor for all layers: their proportions stay those of the directions
            scales[name] = lr * target_ratio_scale(sum(norms), sum(sizes), ratio)
        else:
            # the cap is on what is applied, lr D A
            scales[name] = lr * trust_region_scale(norm, lr * lr * size, ratio)
    return scales


def floats(scalars: list[Tensor]) -> list[float]:
    """Scalar tensors as floats, with one wait for the device."""
    if not scalars:
        return []
    values: list[float] = torch.stack([s.double().to(scalars[0].device) for s in scalars]).tolist()
    return values
