"""How much memory LoGRA takes beside dense AdamW, computed from shapes and counted from live tensors."""

from __future__ import annotations

import gc
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import nn

from logra.targets import select_targets

# Qwen3.5-0.8B: 24 layers, 18 of gated-delta and 6 of full attention, tied embeddings.
QWEN3_5_0_8B = {
    "vocab_size": 248320,
    "hidden_size": 1024,
    "intermediate_size": 3584,
    "num_hidden_layers": 24,
    "num_attention_heads": 8,
    "num_key_value_heads": 2,
    "head_dim": 256,
    "linear_num_key_heads": 16,
    "linear_num_value_heads": 16,
    "linear_key_head_dim": 128,
    "linear_value_head_dim": 128,
    "tie_word_embeddings": True,
}
QWEN3_5_0_8B_PARAMETERS = 752_393_024


@dataclass(frozen=True)
class Account:
    """Bytes that training some layers [d, k] takes, apart from weights and activations."""

    parameters: int  # in the layers
    sketches: int  # S [d, r] float32, in the place of the gradients
    projections: int  # A [r, k] float32
    moments: int  # v [d, 1] float32
    step: int  # D float32 and the next v, while a step is taken
    masters: int  # float32 copies of low-precision weights, if they are kept
    dense: int  # AdamW's float32 gradient and two moments

    @property
    def total(self) -> int:
        """Gradients, optimizer state and sketches at their peak, masters apart."""
        return self.sketches + self.projections + self.moments + self.step

    @property
    def share(self) -> float:
        """The total over dense AdamW's."""
        return self.total / self.dense


def account(shapes: Mapping[str, tuple[int, int]], rank: int) -> Account:
    """Compute what LoGRA takes for layers of shape (d, k) by name.

    Left out, because it does not grow with the model: the workspace of merging 256 rows of one layer at a time.
    """
    rows = sum(d for d, _ in shapes.values())
    columns = sum(k for _, k in shapes.values())
    parameters = sum(d * k for d, k in shapes.values())
    return Account(
        parameters=parameters,
        sketches=4 * rank * rows,
        projections=4 * rank * columns,
        moments=4 * rows,
        step=4 * rank * rows + 4 * rows,
        masters=4 * parameters,
        dense=12 * parameters,
    )


def target_shapes(model: nn.Module) -> dict[str, tuple[int, int]]:
    """The shapes (d, k) of the default targets by name; a model on the meta device will do."""
    chosen = select_targets(model)
    return {name: (modules[0].out_features, modules[0].in_features) for name, modules in chosen.items()}


def unique_parameters(model: nn.Module) -> int:
    """The number of weights, tied ones once."""
    return sum(parameter.numel() for parameter in model.parameters())


def qwen3_5_0_8b(device: str = "meta", dtype: torch.dtype = torch.float32) -> nn.Module:
    """A model of Qwen3.5-0.8B's shape; with random weights anywhere but on the meta device."""
    from transformers import Qwen3_5ForCausalLM, Qwen3_5TextConfig

    config = Qwen3_5TextConfig(**QWEN3_5_0_8B)
    with torch.device(device):
        model: nn.Module = Qwen3_5ForCausalLM._from_config(config, dtype=dtype)
    if unique_parameters(model) != QWEN3_5_0_8B_PARAMETERS:
        raise RuntimeError(f"{unique_parameters(model):,} parameters are not Qwen3.5-0.8B's; transformers has changed")
    return model


def configured(path: Path) -> nn.Module:
    """A model on the meta device from the config.json in a local folder."""
    from transformers import AutoConfig, AutoModelForCausalLM

    config = AutoConfig.from_pretrained(path, local_files_only=True)
    with torch.device("meta"):
        model: nn.Module = AutoModelForCausalLM.from_config(config)
    return model


def live_bytes() -> int:
    """The bytes of all tensor storages that Python holds, each once; autograd's own are not seen."""
    gc.collect()
    storages: dict[int, int] = {}
    for thing in gc.get_objects():
        # type() rather than isinstance(): lazy proxies answer isinstance by importing what they stand for.
        if issubclass(type(thing), torch.Tensor) and thing.device.type != "meta":
            storage = thing.untyped_storage()
            storages[storage.data_ptr()] = storage.nbytes()
    return sum(storages.values())


def measure(model: nn.Module, rank: int, tokens: int = 8, **options: Any) -> tuple[int, int]:
    """Bytes that training adds to the model in its second step: after backward, and with the update proposed.

    Runs two forward and backward passes of `tokens` tokens on the model's device.
    """
    from logra.optimizer import LoGRA

    before = live_bytes()
    optimizer = LoGRA(model, rank=rank, **options)
    ids = torch.arange(tokens, device=next(model.parameters()).device)[None]
    model(input_ids=ids, labels=ids).loss.backward()
    optimizer.step()
    model(input_ids=ids, labels=ids).loss.backward()
    accumulated = live_bytes() - before
    optimizer.propose()
    stepping = live_bytes() - before
    optimizer.close()
    return accumulated, stepping
