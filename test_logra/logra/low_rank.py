"""The change of a layer's output under the low-rank update W - s D A, without touching W."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional as F

# {layer: (A [r, k], D [d, r])}: the proposed update of the layer's weight W [d, k] is W - s D A.
Directions = Mapping[nn.Module, tuple[Tensor, Tensor]]


class Carrier(NamedTuple):
    """A module whose weight the update changes: a target, or a module tied to a target's weight."""

    name: str
    module: nn.Module
    A: Tensor  # [r, k]
    D: Tensor  # [d, r]


def carriers(model: nn.Module, directions: Directions) -> list[Carrier]:
    """Every module of `model` that a merge of `directions` would change, with its name in `model`.

    Raises ValueError for no direction, a target outside `model`, two updates of one weight or factors that do not fit,
    and TypeError for a tied module whose output is not known to be linear in the weight.
    """
    if not directions:
        raise ValueError("directions is empty: there is no layer to probe")
    # Tied weights: lm_head and the embedding, or two projections, are one Parameter under several modules.
    owners: dict[int, nn.Module] = {}
    for module, factors in directions.items():
        owner = owners.setdefault(id(module.weight), module)
        if directions[owner] is not factors and any(
            a is not b for a, b in zip(directions[owner], factors, strict=True)
        ):
            raise ValueError("two targets share one weight but not their factors: tied layers have one update")
    found = []
    # named_modules gives a module that is reachable twice once: its hook fires on every call anyway
    for name, module in model.named_modules():
        owner = module if module in directions else owners.get(id(getattr(module, "weight", None)))
        if owner is not None:
            A, D = directions[owner]
            _check(name, module, A, D)
            found.append(Carrier(name, module, A, D))
    missing = [repr(module) for module in directions if all(carrier.module is not module for carrier in found)]
    if missing:
        raise ValueError(f"not a layer of the model: {missing[0]}, {len(missing)} of {len(directions)} targets")
    return found


def layer_input(arguments: tuple[Any, ...], options: Mapping[str, Any]) -> Tensor:
    """What a layer was called with, as layer(x) or layer(input=x)."""
    x: Tensor = arguments[0] if arguments else options["input"]
    return x


def output_change(carrier: Carrier, x: Tensor) -> Tensor:
    """d output / d s of the carrier for input `x`, [..., d] for a linear layer and [..., k] for an embedding, >= fp32.

    The update is merged in fp32, so its effect is computed in fp32 too: in the activations' precision the tangent of a
    layer would carry a relative error of 2^-8 and so would A, where 1 / sqrt(r) is no power of two.
    """
    with torch.autocast(x.device.type, enabled=False):
        if isinstance(carrier.module, nn.Embedding):
            # the output is rows of W, so the change is those rows of -D A: ids [...] to [..., k]
            return -(carrier.D[x] @ carrier.A)  # rows of W - s D A: [..., r] [r, k]
        dtype = torch.promote_types(x.dtype, torch.float32)
        # (W - s D A) x^T = W x^T - s D (A x^T): two thin products, D A [d, k] is never formed
        projected = x.to(dtype) @ carrier.A.to(dtype).T  # [..., k] [k, r]
        return -(projected @ carrier.D.to(dtype).T)  # [..., r] [r, d]


def changed_output(carrier: Carrier, x: Tensor, output: Tensor, step: float) -> Tensor:
    """What the carrier would put out for `x` with the weight W - step D A, in the dtype of `output`.

    An output in 16 bits is already rounded, so most of a small change added to it would round away: the layer is
    computed again in fp32 from the operands that it used, and rounded once.
    """
    change = output_change(carrier, x)
    exact = output  # [..., d], exact enough in fp32
    if output.dtype in (torch.bfloat16, torch.float16) and isinstance(carrier.module, nn.Linear):
        exact = _linear_in_float32(carrier.module, x, output.dtype)
    return (exact.to(change.dtype) + step * change).to(output.dtype)


def _linear_in_float32(module: nn.Linear, x: Tensor, dtype: torch.dtype) -> Tensor:
    with torch.autocast(x.device.type, enabled=False):
        # .to(dtype) first: under autocast the layer saw a 16-bit cast of an fp32 weight and input
        bias = None if module.bias is None else module.bias.to(dtype).float()
        return F.linear(x.to(dtype).float(), module.weight.to(dtype).float(), bias)


def _check(name: str, module: nn.Module, A: Tensor, D: Tensor) -> None:
    plain_embedding = isinstance(module, nn.Embedding) and type(module).forward is nn.Embedding.forward
    if not (isinstance(module, nn.Linear) or plain_embedding):
        raise TypeError(
            f"{name} ({type(module).__name__}) uses the weight of a target, but only nn.Linear and a plain "
            "nn.Embedding can be probed: untie the weight or leave the layer out of the targets"
        )
    weight = module.weight
    if A.dim() != 2 or D.dim() != 2 or A.shape[0] != D.shape[1] or (D.shape[0], A.shape[1]) != tuple(weight.shape):
        raise ValueError(
            f"{name}: D {list(D.shape)} times A {list(A.shape)} is no update of the weight {list(weight.shape)}; "
            "A is [rank, in_features] and D is [out_features, rank]"
        )
