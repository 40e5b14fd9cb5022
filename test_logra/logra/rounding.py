"""Writing an update into weights: float32 in place, float32 masters of low-precision weights, or stochastic rounding.

A typical update is far below half a bf16 step: rounding to nearest would drop about 99 % of it (at ratio 6e-5).
"""

from __future__ import annotations

from typing import Any, Literal

import torch
from torch import Tensor

Storage = Literal["float32", "master", "stochastic"]

# Bounds the temporaries of a merge. Part of the replica's protocol: the rounding noise is drawn block by block.
BLOCK_ROWS = 256

# Keeps the rounding noise of a layer apart from its projection, which is drawn from the bare seed.
NOISE_SALT = 0x5DEECE66D


def stochastic_round(values: Tensor, generator: torch.Generator | None = None) -> Tensor:
    """float32 to bf16, up or down with the odds that make the expectation exact; exact values stay.

    Non-finite values pass through; a value beyond bf16's largest is cut to it rather than rounded to infinity.
    """
    if values.dtype != torch.float32:
        raise TypeError(f"stochastic rounding takes float32 values, not {values.dtype}")
    noise = torch.randint(0, 1 << 16, values.shape, generator=generator, dtype=torch.int32, device=values.device)
    # A bf16 is the upper half of a float32: noise in the lower half carries with probability remainder / 2^16,
    # and cutting it off then rounds the magnitude down or up.
    bits = values.contiguous().view(torch.int32)
    rounded = ((bits + noise) & -65536).view(torch.float32)
    limit = torch.finfo(torch.bfloat16).max
    # A carry out of the largest bf16 would be infinity, and the noise would turn infinity into NaN.
    rounded = torch.where(torch.isfinite(values), rounded.clamp(-limit, limit), values)
    return rounded.to(torch.bfloat16)


def storage_of(weight: Tensor, low_precision: str | None, name: str) -> Storage:
    """How updates of a weight are kept, by its dtype and the rule chosen for low precision."""
    if weight.dtype in (torch.float32, torch.float64):
        return "float32"
    if low_precision == "master":
        return "master"
    if low_precision == "stochastic" and weight.dtype == torch.bfloat16:
        return "stochastic"
    if low_precision is None:
        raise ValueError(
            f"{name} is stored in {weight.dtype}, where rounding to nearest loses most of an update: choose "
            "low_precision='master' (float32 masters, 4 bytes a weight) or 'stochastic' (bfloat16 only, no masters), "
            "or load the model in float32"
        )
    raise ValueError(f"{name}: low_precision={low_precision!r} does not fit {weight.dtype}; use 'master'")


def take_master(state: dict[str, Any], weight: Tensor, name: str) -> Tensor:
    """A low-precision weight's float32 master, made from it when first asked for and kept in the optimizer's state."""
    if "master" not in state:
        state["master"] = weight.detach().float()
    state["master"] = state["master"].to(weight.device)
    master: Tensor = state["master"]
    if not torch.equal(master.to(weight.dtype), weight):
        raise RuntimeError(
            f"{name}: the weight no longer is its float32 master rounded; it was changed outside the optimizer. "
            "Load weights before the first step, or together with the optimizer's state"
        )
    return master


def noise_generator(seed: int, device: torch.device) -> torch.Generator:
    """The generator of one layer's rounding noise in one update, from the seed of that update's projection."""
    return torch.Generator(device=device).manual_seed(seed ^ NOISE_SALT)


def merge(
    weight: Tensor,
    factor: Tensor,
    projection: Tensor,
    *,
    seed: int,
    decay: float = 1.0,
    master: Tensor | None = None,
    storage: Storage = "float32",
) -> None:
    """W <- decay W - U A, in place. weight [d, k], factor U [d, r], projection A [r, k] float32.

    A trainer and its replicas call this one function, so the same inputs give the same bits on the same device.
    """
    generator = noise_generator(seed, weight.device) if storage == "stochastic" else None
    for start in range(0, weight.shape[0], BLOCK_ROWS):
        rows = slice(start, start + BLOCK_ROWS)
        target = weight[rows] if master is None else master[rows]  # [b, k], a view
        if storage == "stochastic":
            # float32 throughout, and one rounding at the end
            exact = torch.addmm(target.float(), factor[rows].float(), projection, beta=decay, alpha=-1.0)
            target.copy_(stochastic_round(exact, generator))
        else:
            target.addmm_(factor[rows].to(target.dtype), projection.to(target.dtype), beta=decay, alpha=-1.0)
        if master is not None:
            weight[rows].copy_(target)  # to the nearest: the master keeps what this drops
