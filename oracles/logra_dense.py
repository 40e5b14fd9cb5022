"""LoGRA written the expensive way, in float64: the whole gradient G [d, k] is formed and every update is dense.

An oracle for the optimizer's arithmetic, after the papers' equations and independent of the optimizer's code. Only
`rademacher` needs torch, because the method is defined on its CPU generator.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

Matrix = NDArray[np.float64]

WRAPPER_COMPONENTS = ("_checkpoint_wrapped_module", "_fsdp_wrapped_module", "_orig_mod")


def seed_of(base_seed: int, update: int, name: str) -> int:
    """(base * 1000003 + t * 7919 + h) mod 2^62, h the little-endian 8-byte BLAKE2b digest of the bare name."""
    bare = ".".join(part for part in name.split(".") if part not in WRAPPER_COMPONENTS)
    digest = hashlib.blake2b(bare.encode(), digest_size=8).digest()
    return int((base_seed * 1_000_003 + update * 7_919 + int.from_bytes(digest, "little")) % 2**62)


def rademacher(rank: int, in_features: int, seed: int) -> Matrix:
    """A [r, k] of signs over sqrt(r), in the float32 value that the method uses, row by row from torch's generator."""
    import torch

    bits = torch.randint(0, 2, (rank, in_features), generator=torch.Generator().manual_seed(seed), dtype=torch.uint8)
    signs = np.where(bits.numpy() == 1, 1.0, -1.0)
    return np.asarray(signs * float(np.float32(1.0 / math.sqrt(rank))))


def to_bf16(values: Matrix) -> Matrix:
    """Round to the nearest bfloat16, ties to even."""
    bits = values.astype(np.float32).view(np.uint32).astype(np.uint64)
    odd = (bits >> np.uint64(16)) & np.uint64(1)
    upper = ((bits + np.uint64(0x7FFF) + odd) & np.uint64(0xFFFF0000)).astype(np.uint32)
    return np.asarray(upper.view(np.float32), dtype=np.float64)


@dataclass
class Settings:
    """The optimizer's choices under the names of the papers."""

    rank: int
    form: str = "norm_preserving"
    rule: str = "target_ratio"
    lr: float = 1.0
    ratio: float = 6e-5
    beta2: float = 0.95
    epsilon: float = 1e-8
    weight_decay: float = 0.0
    max_grad_norm: float | None = None
    refresh: bool = True
    base_seed: int = 42
    round_factor: bool = True


@dataclass
class DenseLoGRA:
    """Float64 weights W [d, k] by layer name, and the row moments v [d]."""

    weights: dict[str, Matrix]
    settings: Settings
    draw: Callable[[int, int, int], Matrix] = rademacher
    update: int = 0
    moments: dict[str, Matrix] = field(default_factory=dict)

    def projection(self, name: str) -> Matrix:
        """A [r, k] of the present update."""
        s = self.settings
        seed = seed_of(s.base_seed, self.update if s.refresh else 0, name)
        return self.draw(s.rank, self.weights[name].shape[1], seed)

    def sketches(self, gradients: Mapping[str, Any]) -> dict[str, Matrix]:
        """S = G A^T [d, r] of each layer."""
        return {name: np.asarray(g, dtype=np.float64) @ self.projection(name).T for name, g in gradients.items()}

    def grad_norm(self, gradients: Mapping[str, Any]) -> float:
        """The norm of all S A together, each built in full."""
        sketches = self.sketches(gradients)
        return math.sqrt(sum(np.sum((s @ self.projection(name)) ** 2) for name, s in sketches.items()))

    def directions(self, gradients: Mapping[str, Any], tokens: float = 1.0) -> dict[str, Matrix]:
        """D [d, r] of each layer with its step size; moves the moments on."""
        sketches = self.sketches(gradients)
        limit = self.settings.max_grad_norm
        clip = 1.0 if limit is None else min(1.0, limit / (self.grad_norm(gradients) + 1e-6))
        unsized = {name: self._row_adam(name, s * clip / tokens) for name, s in sketches.items()}
        return self._sized(unsized)

    def step(self, gradients: Mapping[str, Any], *, alpha: float = 1.0, tokens: float = 1.0) -> dict[str, Matrix]:
        """One update W <- (1 - lr wd) W - U A with U = alpha D, rounded to bf16 if so set; returns the D."""
        s = self.settings
        directions = self.directions(gradients, tokens)
        for name, direction in directions.items():
            u = to_bf16(alpha * direction) if s.round_factor else alpha * direction
            kept = (1.0 - s.lr * s.weight_decay) * self.weights[name]
            self.weights[name] = kept - u @ self.projection(name)
        self.update += 1
        return directions

    def _row_adam(self, name: str, sketch: Matrix) -> Matrix:
        s, t = self.settings, self.update + 1
        before = self.moments.get(name, np.zeros(sketch.shape[0]))
        self.moments[name] = s.beta2 * before + (1 - s.beta2) * np.mean(sketch**2, axis=1)
        root = np.sqrt(self.moments[name] / (1 - s.beta2**t))
        if s.form == "plain":
            return np.asarray(sketch / (root + s.epsilon)[:, None])
        if not np.any(sketch):
            return np.zeros_like(sketch)
        # Rows by the inverse of their root; a row that never had a gradient has nothing to divide.
        inverse = 1.0 / (root + max(s.epsilon * float(np.mean(root)), float(np.finfo(np.float32).tiny)))
        shaped = inverse[:, None] * sketch
        return np.asarray(shaped / np.linalg.norm(shaped) * np.linalg.norm(sketch))

    def _sized(self, directions: dict[str, Matrix]) -> dict[str, Matrix]:
        s = self.settings
        if s.rule == "lr":
            return {name: s.lr * d for name, d in directions.items()}
        built = {name: np.linalg.norm(d @ self.projection(name)) for name, d in directions.items()}
        norms = {name: np.linalg.norm(w) for name, w in self.weights.items()}
        if s.rule == "target_ratio":
            whole = math.sqrt(sum(float(b) ** 2 for b in built.values()))
            target = s.lr * s.ratio * math.sqrt(sum(float(n) ** 2 for n in norms.values()))
            return {name: d * (target / whole if whole else 1.0) for name, d in directions.items()}
        capped = {}
        for name, d in directions.items():
            size = s.lr * float(built[name])
            cap = s.ratio * float(norms[name])
            capped[name] = s.lr * d * (cap / size if size > cap else 1.0)
        return capped
