"""Random projections that anyone with a seed can draw again: which seed a layer gets, and the matrix it gives."""

from __future__ import annotations

import hashlib
import math
from dataclasses import dataclass
from typing import Literal

import torch

Distribution = Literal["rademacher", "gaussian"]
Draw = Literal["cpu", "device"]

# Wrappers insert themselves into module names; a seed must not change because a layer was wrapped.
# DistributedDataParallel's "module" is kept: it may be a real name, and the published seeds keep it.
WRAPPERS = frozenset({"_checkpoint_wrapped_module", "_fsdp_wrapped_module", "_orig_mod"})

# Seeds stay below 2^62, within what every torch generator takes as a non-negative number.
SEED_MASK = (1 << 62) - 1


def layer_name(name: str) -> str:
    """A module's name without the components that wrappers add to it."""
    return ".".join(part for part in name.split(".") if part not in WRAPPERS)


def projection_seed(base_seed: int, update: int, name: str) -> int:
    """The seed of one layer's projection after `update` completed updates (0 for the first sketch).

    `name` is the module's name in `model.named_modules()`, without `.weight`.
    """
    digest = hashlib.blake2b(layer_name(name).encode("utf-8"), digest_size=8).digest()
    # Python integers are unbounded, so the mask also wraps negative base seeds the way the published code does.
    return (base_seed * 1_000_003 + update * 7_919 + int.from_bytes(digest, "little")) & SEED_MASK


def make_projection(
    rank: int,
    in_features: int,
    seed: int,
    distribution: Distribution = "rademacher",
    device: torch.device | str = "cpu",
    dtype: torch.dtype = torch.float32,
    *,
    draw: Draw = "cpu",
) -> torch.Tensor:
    """A of shape [rank, in_features] with E[A^T A] = I, the same for the same arguments on every machine.

    `draw="cpu"` draws on the CPU generator and copies: exact everywhere, but slow for large layers.
    `draw="device"` draws where the layer lives: fast, but CUDA's stream differs from the CPU's, so everyone who
    replays the update needs the same kind of device.
    """
    if rank < 1 or in_features < 1:
        raise ValueError(f"a projection needs rank >= 1 and in_features >= 1, got {rank} x {in_features}")
    if distribution not in ("rademacher", "gaussian"):
        raise ValueError(f"distribution is 'rademacher' or 'gaussian', not {distribution!r}")
    if draw not in ("cpu", "device"):
        raise ValueError(f"draw is 'cpu' or 'device', not {draw!r}")
    where = torch.device(device) if draw == "device" else torch.device("cpu")
    generator = torch.Generator(device=where).manual_seed(seed)
    scale = 1.0 / math.sqrt(rank)
    shape = (rank, in_features)
    if distribution == "rademacher":
        bits = torch.randint(0, 2, shape, generator=generator, dtype=torch.uint8, device=where)
        matrix = bits.to(torch.float32).mul_(2.0).sub_(1.0).mul_(scale)  # each column has norm 1
    else:
        # Drawn in float64 and rounded once; a float32 draw is another stream.
        matrix = torch.randn(shape, generator=generator, dtype=torch.float64, device=where).mul_(scale)
    return matrix.to(device=device, dtype=torch.float32).to(dtype)


@dataclass(frozen=True)
class Law:
    """How the projections of a run are drawn, for every layer and update."""

    rank: int
    base_seed: int = 42
    distribution: Distribution = "rademacher"
    draw: Draw = "cpu"
    refresh: bool = True

    def seed(self, name: str, update: int) -> int:
        """The seed of a layer's projection; without refresh it stays that of the first."""
        return projection_seed(self.base_seed, update if self.refresh else 0, name)

    def matrix(self, name: str, update: int, in_features: int, device: torch.device) -> torch.Tensor:
        """A [rank, in_features] float32 for the sketch that follows `update` completed updates."""
        seed = self.seed(name, update)
        return make_projection(self.rank, in_features, seed, self.distribution, device, draw=self.draw)
