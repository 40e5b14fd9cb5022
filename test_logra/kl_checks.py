"""Updates to probe, and the divergence that they really cause, for the tests of the predicted KL."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor, nn

import tiny_models

Factors = dict[nn.Module, tuple[Tensor, Tensor]]


def random_update(layers: Any, *, rank: int = 4, ratio: float = 1e-3, seed: int = 0) -> Factors:
    """{layer: (A, D)} with Rademacher A and Gaussian D, each update `ratio` of its layer's norm."""
    draw = torch.Generator().manual_seed(seed)
    factors: Factors = {}
    for layer in layers:
        out_features, in_features = layer.weight.shape
        A = (torch.randint(0, 2, (rank, in_features), generator=draw) * 2.0 - 1.0) / rank**0.5
        D = torch.randn(out_features, rank, generator=draw)
        factors[layer] = (A, D * (ratio * layer.weight.float().norm() / (D @ A).norm()))
    return factors


def model_update(model: nn.Module, **options: Any) -> Factors:
    """A random update of all projections of a model."""
    return random_update(tiny_models.targets(model).values(), **options)


def tokens(length: int = 48, *, seed: int = 0, vocabulary: int = tiny_models.VOCABULARY) -> Tensor:
    """Random token ids [1, length]."""
    return torch.randint(0, vocabulary, (1, length), generator=torch.Generator().manual_seed(seed))


def logits_of(model: nn.Module, ids: Tensor) -> Callable[[], Tensor]:
    """A forward function for the probe."""
    return lambda: model(input_ids=ids, use_cache=False).logits  # type: ignore[no-any-return]


@contextmanager
def merged(factors: Factors, scale: float) -> Iterator[None]:
    """W - scale D A in every layer, the old bits put back afterwards."""
    kept = {layer: layer.weight.detach().clone() for layer in factors}
    try:
        with torch.no_grad():
            for layer, (A, D) in factors.items():
                layer.weight.copy_(layer.weight.double() - scale * (D.double() @ A.double()))
        yield
    finally:
        with torch.no_grad():
            for layer, weight in kept.items():
                layer.weight.copy_(weight)


@torch.no_grad()
def measured_kl(factors: Factors, scale: float, forward: Callable[[], Tensor], temperature: float = 1.0) -> Tensor:
    """KL(before || after) [..., length] in float64 of the merge of `scale` times the update."""
    before = torch.log_softmax(forward().double() / temperature, dim=-1)
    with merged(factors, scale):
        after = torch.log_softmax(forward().double() / temperature, dim=-1)
    return (before.exp() * (before - after)).sum(dim=-1)
