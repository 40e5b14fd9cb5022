"""Which linear layers are trained through sketches, by name, and why a choice cannot be."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterable
from fnmatch import fnmatchcase

from torch import nn
from torch.nn.modules.linear import NonDynamicallyQuantizableLinear

from logra.projection import layer_name

Targets = Iterable[str] | Callable[[str, nn.Linear], bool]

# Attention and MLP of the Llama and Qwen families, then the gated-delta layers of Qwen3-Next and Qwen3.5.
ATTENTION_AND_MLP = ("q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj")
GATED_DELTA = ("in_proj_qkvz", "in_proj_ba", "in_proj_qkv", "in_proj_z", "in_proj_b", "in_proj_a", "out_proj")
DEFAULT_TARGETS = ATTENTION_AND_MLP + GATED_DELTA


def matches(name: str, pattern: str) -> bool:
    """Whether a pattern means a module: its whole name, its last components, or a glob over the whole name."""
    return name == pattern or name.endswith("." + pattern) or fnmatchcase(name, pattern)


def select_targets(model: nn.Module, targets: Targets | None = None) -> dict[str, tuple[nn.Linear, ...]]:
    """The target layers by name in the model's order; tied layers come as one entry under the first name.

    Raises ValueError or TypeError for what cannot be trained through a sketch, naming it.
    """
    if not isinstance(model, nn.Module):
        raise TypeError(f"LoGRA takes the model, whose layers it hooks, not {type(model).__name__} (its parameters?)")
    named = {layer_name(name): module for name, module in model.named_modules()}
    chosen = _chosen(named, targets)
    if not chosen:
        linear = sorted({name.rpartition(".")[2] for name, module in named.items() if isinstance(module, nn.Linear)})
        raise ValueError(f"no target matched; the model's linear layers end in: {', '.join(linear) or 'nothing'}")
    for name, module in chosen.items():
        if not isinstance(module.weight, nn.Parameter):
            raise TypeError(f"{name}: its weight is computed from others (a parametrization?), so it cannot be updated")
        if not module.weight.is_floating_point():
            raise TypeError(f"{name}: weights of {module.weight.dtype} cannot be updated; LoGRA needs floating point")
        if isinstance(module, NonDynamicallyQuantizableLinear):
            raise TypeError(f"{name}: nn.MultiheadAttention reads this weight past its forward, where no hook sees it")
    grouped: dict[int, list[str]] = {}
    for name, module in chosen.items():
        grouped.setdefault(id(module.weight), []).append(name)
    _refuse_foreign_uses(model, chosen, grouped)
    frozen = [names[0] for names in grouped.values() if not named[names[0]].weight.requires_grad]  # type: ignore[union-attr]
    if frozen:
        raise ValueError(
            f"frozen target{'s' if len(frozen) > 1 else ''} {_some(frozen)}: requires_grad is False. Set it to True "
            "on what is to be trained (LoGRA turns it off itself; close() an earlier one), or leave it out of targets"
        )
    return {names[0]: tuple(chosen[name] for name in names) for names in grouped.values()}


def _chosen(named: dict[str, nn.Module], targets: Targets | None) -> dict[str, nn.Linear]:
    if callable(targets):
        return {n: m for n, m in named.items() if isinstance(m, nn.Linear) and targets(n, m)}
    if isinstance(targets, str):
        raise TypeError(f"targets is a list of names, not one string; did you mean [{targets!r}]?")
    patterns = DEFAULT_TARGETS if targets is None else tuple(targets)
    chosen: dict[str, nn.Linear] = {}
    used: set[str] = set()
    for name, module in named.items():
        hit = [pattern for pattern in patterns if matches(name, pattern)]
        by_name = [pattern for pattern in hit if not any(c in pattern for c in "*?[")]
        if isinstance(module, nn.Linear) and hit:
            chosen[name] = module
            used.update(hit)
        elif by_name:
            # A glob may sweep over containers; a name that ends at one is a mistake, or an adapter's wrapper.
            raise TypeError(f"target {name} is a {type(module).__name__}, not an nn.Linear")
    if targets is not None:
        _refuse_unmatched([p for p in patterns if p not in used], named)
    return chosen


def _refuse_unmatched(unmatched: list[str], named: dict[str, nn.Module]) -> None:
    if not unmatched:
        return
    linear = {name for name, module in named.items() if isinstance(module, nn.Linear)}
    ends = sorted({name.rpartition(".")[2] for name in linear} | linear)
    near = difflib.get_close_matches(unmatched[0], ends, n=1)
    hint = f"; did you mean {near[0]!r}?" if near else ""
    raise ValueError(f"no target matched {_some([repr(p) for p in unmatched])}{hint}")


def _refuse_foreign_uses(model: nn.Module, chosen: dict[str, nn.Linear], grouped: dict[int, list[str]]) -> None:
    # A weight that an embedding also reads gets gradient that no hook on the linear layer sees.
    for name, module in model.named_modules(remove_duplicate=True):
        for attribute, parameter in module.named_parameters(recurse=False):
            owners = grouped.get(id(parameter))
            if owners and not any(module is chosen[owner] for owner in owners):
                raise ValueError(
                    f"the weight of target {owners[0]} is tied to {layer_name(name)}.{attribute}, which is not a "
                    f"target: its share of the gradient would be lost. Untie them, or leave {owners[0]} out of targets"
                )


def _some(names: list[str], limit: int = 3) -> str:
    rest = len(names) - limit
    return ", ".join(names[:limit]) + (f" and {rest} more" if rest > 0 else "")
