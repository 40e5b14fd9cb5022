"""What a LoGRA optimizer was built with: the choices that a checkpoint must share with the run that loads it."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any

import torch

from logra.projection import Distribution, Draw
from logra.update import FORMS, Form

RULES = ("target_ratio", "trust_region", "lr")


@dataclass(frozen=True)
class Config:
    """The choices that hold for a whole run; what may change during one (lr and the like) lives in param_groups."""

    rank: int
    form: Form
    rule: str
    distribution: Distribution
    draw: Draw
    refresh: bool
    base_seed: int
    factor_dtype: str
    low_precision: str | None
    max_grad_norm: float | None
    native: bool

    def __post_init__(self) -> None:
        _one_of("form", self.form, FORMS)
        _one_of("rule", self.rule, RULES)
        _one_of("distribution", self.distribution, ("rademacher", "gaussian"))
        _one_of("draw", self.draw, ("cpu", "device"))
        _one_of("low_precision", self.low_precision, (None, "master", "stochastic"))
        _one_of("factor_dtype", self.factor_dtype, ("bfloat16", "float32"))
        if isinstance(self.rank, bool) or not isinstance(self.rank, int) or self.rank < 1:
            raise ValueError(f"rank is a whole number >= 1, not {self.rank!r}")
        if isinstance(self.base_seed, bool) or not isinstance(self.base_seed, int):
            raise ValueError(f"base_seed is a whole number, not {self.base_seed!r}")
        if self.max_grad_norm is not None and not 0 < self.max_grad_norm < math.inf:
            raise ValueError(f"max_grad_norm is a positive number or None, not {self.max_grad_norm!r}")

    @property
    def torch_factor_dtype(self) -> torch.dtype:
        return torch.bfloat16 if self.factor_dtype == "bfloat16" else torch.float32

    def plain(self) -> dict[str, Any]:
        """As plain values, for a checkpoint."""
        return asdict(self)

    def differences(self, saved: Mapping[str, Any]) -> list[str]:
        """One line for each choice that a checkpoint made otherwise."""
        mine = self.plain()
        return [
            f"{field.name}: {saved.get(field.name)!r} in the checkpoint, {mine[field.name]!r} here"
            for field in fields(self)
            if saved.get(field.name) != mine[field.name]
        ]


def _one_of(name: str, value: object, choices: tuple[object, ...]) -> None:
    if value not in choices:
        raise ValueError(f"{name} is one of {', '.join(map(repr, choices))}, not {value!r}")
