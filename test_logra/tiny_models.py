"""Models that the optimizer's tests build in milliseconds: random, tiny, with the layer types of real ones."""

from __future__ import annotations

from typing import Any

import torch
from torch import nn

VOCABULARY = 61
PROJECTIONS = (
    "q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj",
    "in_proj_qkv", "in_proj_z", "in_proj_b", "in_proj_a", "out_proj",
)  # fmt: skip


def qwen3_5(*, layers: int = 4, seed: int = 0, **settings: Any) -> nn.Module:
    """A Qwen3.5 text model: three gated-delta layers to one of full attention, float32, evaluation mode."""
    from transformers import Qwen3_5ForCausalLM, Qwen3_5TextConfig

    config = Qwen3_5TextConfig(
        vocab_size=VOCABULARY, hidden_size=32, intermediate_size=48, num_hidden_layers=layers,
        num_attention_heads=2, num_key_value_heads=1, head_dim=16, max_position_embeddings=256,
        linear_key_head_dim=16, linear_value_head_dim=16, linear_num_key_heads=2, linear_num_value_heads=4,
        initializer_range=0.1, **settings,
    )  # fmt: skip
    return _seeded(Qwen3_5ForCausalLM, config, seed)


def llama(*, layers: int = 2, seed: int = 0, **settings: Any) -> nn.Module:
    """A Llama: full attention only, the type of SmolLM2."""
    from transformers import LlamaConfig, LlamaForCausalLM

    config = LlamaConfig(
        vocab_size=VOCABULARY, hidden_size=32, intermediate_size=48, num_hidden_layers=layers, num_attention_heads=4,
        num_key_value_heads=2, max_position_embeddings=256, initializer_range=0.1, **settings,
    )  # fmt: skip
    return _seeded(LlamaForCausalLM, config, seed)


def targets(model: nn.Module) -> dict[str, nn.Linear]:
    """The projections that LoGRA trains in a model of these."""
    return {
        name: module
        for name, module in model.named_modules()
        if isinstance(module, nn.Linear) and name.rpartition(".")[2] in PROJECTIONS
    }


def _seeded(kind: type[Any], config: Any, seed: int) -> nn.Module:
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        model: nn.Module = kind(config)
    return model.eval()
