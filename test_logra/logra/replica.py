"""Following a trainer bit for bit: an update travels as U and a seed a layer, and the receiver draws A again."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, get_args

import torch
from torch import Tensor, nn

from logra.projection import layer_name, make_projection
from logra.rounding import Storage, merge

if TYPE_CHECKING:
    from logra.config import Config
    from logra.sketch import SketchedLayer

FORMAT = 1


class Applied:
    """The update that was last merged, kept to be sent."""

    def __init__(self, config: Config, update: int, layers: dict[str, dict[str, Any]]) -> None:
        self.config = config
        self.update = update
        self.layers = layers

    def add(self, layer: SketchedLayer, factor: Tensor, decay: float, storage: str) -> None:
        """Keep one layer's factor U [d, r] and what the merge was told beside it."""
        self.layers[layer.name] = {
            "factor": factor,
            "seed": layer.seed,
            "noise_seed": layer.noise_seed,
            "decay": decay,
            "storage": storage,
            "shape": list(layer.weight.shape),
            "dtype": str(layer.weight.dtype).removeprefix("torch."),
        }

    def message(self) -> dict[str, Any]:
        """Plain values and tensors: `torch.save` it, or send the factors any other way; 2 r d bytes a layer in bf16."""
        return {
            "format": FORMAT,
            "update": self.update,
            "distribution": self.config.distribution,
            "draw": self.config.draw,
            "layers": self.layers,
        }


@torch.no_grad()  # type: ignore[untyped-decorator]
def apply_factors(model: nn.Module, message: Mapping[str, Any], masters: dict[str, Tensor] | None = None) -> None:
    """Merge a trainer's update into a replica that holds the weights the trainer had before it.

    A replica of float32 weights, or of bf16 weights with stochastic rounding, needs nothing else. Where the trainer
    keeps float32 masters of low-precision weights, pass one dictionary as `masters` on every call: it is filled on
    the first and carries the masters on. Every check comes before any change.
    """
    if message.get("format") != FORMAT:
        raise ValueError(f"the message has format {message.get('format')}, this version reads {FORMAT}")
    modules = {layer_name(name): module for name, module in model.named_modules()}
    weights = {name: _receiver(name, entry, modules.get(name), masters) for name, entry in message["layers"].items()}
    for name, entry in message["layers"].items():
        weight = weights[name]
        factor = entry["factor"].to(weight.device)
        a = make_projection(
            factor.shape[1],
            weight.shape[1],
            entry["seed"],
            message["distribution"],
            weight.device,
            draw=message["draw"],
        )
        master = (
            masters.setdefault(name, weight.float()) if entry["storage"] == "master" and masters is not None else None
        )
        merge(
            weight,
            factor,
            a,
            seed=entry["noise_seed"],
            decay=entry["decay"],
            master=master,
            storage=entry["storage"],
        )


def _receiver(name: str, entry: Mapping[str, Any], module: nn.Module | None, masters: object) -> Tensor:
    weight = getattr(module, "weight", None)
    if not isinstance(weight, Tensor):
        raise ValueError(f"the replica has no layer {name}")
    if list(weight.shape) != list(entry["shape"]):
        raise ValueError(f"{name}: the trainer's weight is {entry['shape']}, the replica's {list(weight.shape)}")
    _check_factor(name, entry["factor"], weight)
    if entry["storage"] not in get_args(Storage):
        raise ValueError(f"{name}: this version knows no storage {entry['storage']!r}")
    if str(weight.dtype) != f"torch.{entry['dtype']}":
        raise ValueError(
            f"{name}: the trainer's weight is {entry['dtype']}, the replica's {weight.dtype}; the same bits "
            "cannot follow. Keep the replica in the trainer's dtype and cast a copy"
        )
    if entry["storage"] == "master" and masters is None:
        raise ValueError(f"{name}: the trainer keeps float32 masters; pass masters={{}}, the same on every call")
    return weight


def _check_factor(name: str, factor: Tensor, weight: Tensor) -> None:
    # A message may have been cut or garbled on its way; a trainer never sends what is refused here.
    if factor.ndim != 2 or factor.shape[0] != weight.shape[0]:
        raise ValueError(f"{name}: a factor U of shape {list(factor.shape)} does not fit a weight {list(weight.shape)}")
    if not bool(torch.isfinite(factor).all()):
        raise FloatingPointError(f"{name}: the factor U holds NaN or inf; nothing was changed")
