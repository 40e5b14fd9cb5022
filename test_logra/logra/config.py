"""What a LoGRA optimizer was built with: the choices that a checkpoint must share with the run that loads it."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any

import torch

from logra.update import FORMS

RULES = ("target_ratio", "trust_region", "lr")

# target_ratio: the authors' NeMo-RL port. trust_region: 6e-4 ||W||, a single-GPU port's published figure.
DEFAULT_RATIO = {"target_ratio": 6e-5, "trust_region": 6e-4, "lr": None}


@dataclass(frozen=True)
class Config:
    """The choices that hold for a whole run; what may change during one (lr and the like) lives in param_groups."""

    rank: int
    form: str
    rule: str
    distribution: str
    draw: str
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


def group_defaults(
    config: Config, lr: float | None, ratio: float | None, beta2: float, epsilon: float, weight_decay: float
) -> dict[str, Any]:
    """The options that each param group may set for itself."""
    if lr is None:
        if config.rule == "lr":
            raise ValueError("rule='lr' needs lr=; it compares with Adam's, and 1e-5 is a start for a pretrained model")
        lr = 1.0
    if ratio is None:
        ratio = DEFAULT_RATIO[config.rule]
    elif config.rule == "lr":
        raise ValueError("rule='lr' has no ratio; choose rule='target_ratio' or 'trust_region'")
    return {"lr": lr, "ratio": ratio, "beta2": beta2, "epsilon": epsilon, "weight_decay": weight_decay}


def check_group(config: Config, group: Mapping[str, Any]) -> None:
    """Refuse a param group whose numbers make no sense, before it is used."""
    lr, ratio = float(group["lr"]), group["ratio"]
    if not 0.0 <= lr < math.inf:
        raise ValueError(f"lr is finite and >= 0, not {lr}")
    if ratio is not None and not 0.0 < ratio < math.inf:
        raise ValueError(f"ratio is a positive number, not {ratio}")
    if not 0.0 <= group["beta2"] < 1.0 or not 0.0 <= group["epsilon"] < math.inf:
        raise ValueError(f"beta2 lies in [0, 1) and epsilon is >= 0, not {group['beta2']} and {group['epsilon']}")
    if not 0.0 <= group["weight_decay"] < math.inf:
        raise ValueError(f"weight_decay is finite and >= 0, not {group['weight_decay']}")
    if group["weight_decay"] and config.form != "plain":
        # The norm-preserving method fixes the norm of the whole update; a decay beside it would be outside that norm.
        raise ValueError("weight_decay belongs to form='plain'; the norm-preserving form has none")


def _one_of(name: str, value: object, choices: tuple[object, ...]) -> None:
    if value not in choices:
        raise ValueError(f"{name} is one of {', '.join(map(repr, choices))}, not {value!r}")
