"""Param groups: which options a layer is trained with, and the numbers that are refused."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Any

from logra.config import Config
from logra.targets import matches

# target_ratio: the authors' NeMo-RL port. trust_region: 6e-4 ||W||, a single-GPU port's published figure.
DEFAULT_RATIO = {"target_ratio": 6e-5, "trust_region": 6e-4, "lr": None}


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


def assign_groups(
    chosen: Mapping[str, Any], groups: Iterable[Mapping[str, Any]], defaults: Mapping[str, Any]
) -> list[dict[str, Any]]:
    """Param groups by layer name: each layer goes to the first group that matches it, or to the defaults."""
    left = list(chosen)
    assigned = []
    for group in groups:
        unknown = set(group) - set(defaults) - {"targets"}
        if unknown or "targets" not in group:
            raise ValueError(f"a group has 'targets' and any of {', '.join(defaults)}; got {', '.join(sorted(group))}")
        names = [name for name in left if any(matches(name, pattern) for pattern in group["targets"])]
        if not names:
            raise ValueError(f"group {list(group['targets'])} matches no target that is left")
        left = [name for name in left if name not in names]
        assigned.append({**defaults, **{k: v for k, v in group.items() if k != "targets"}, "names": names})
    return assigned + ([{**defaults, "names": left}] if left else [])
