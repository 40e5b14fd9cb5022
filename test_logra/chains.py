"""Chains of linear layers in which the optimizer's arithmetic can be followed, and what reads their state."""

from __future__ import annotations

import io
import itertools
from types import ModuleType
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn


def chain(*widths: int, seed: int = 0, bias: bool = False) -> nn.Sequential:
    """Linear layers in a row with a tanh between them, named "0", "2", "4"."""
    torch.manual_seed(seed)
    layers: list[nn.Module] = []
    for before, after in itertools.pairwise(widths):
        layers += [nn.Linear(before, after, bias=bias, device="cpu"), nn.Tanh()]
    return nn.Sequential(*layers[:-1]).to(torch.get_default_device())


def linear(name: str, module: nn.Module) -> bool:
    """The target predicate that takes every linear layer."""
    return True


def batch(model: nn.Sequential, rows: int = 12, seed: int = 1) -> tuple[Tensor, Tensor]:
    """Inputs and targets for a chain."""
    generator = torch.Generator("cpu").manual_seed(seed)
    first, last = model[0], model[-1]
    x = torch.randn(rows, first.in_features, generator=generator, device="cpu")
    y = torch.randn(rows, last.out_features, generator=generator, device="cpu")
    return x.to(first.weight), y.to(last.weight)  # in the weights' dtype, where they are


def normal(*shape: int, seed: int) -> Tensor:
    """Normal numbers on the default device, the same on every kind."""
    return torch.randn(shape, generator=torch.Generator("cpu").manual_seed(seed), device="cpu").to(
        torch.get_default_device()
    )


def backward(model: nn.Sequential, seed: int = 1, scale: float = 1.0) -> float:
    """One microbatch's backward pass; returns the loss."""
    x, y = batch(model, seed=seed)
    loss = scale * (model(x) - y).square().mean()
    loss.backward()
    return float(loss.detach())


def dense_gradients(model: nn.Sequential, seed: int = 1, scale: float = 1.0) -> dict[str, np.ndarray]:
    """G of each layer by ordinary autograd, on a float64 copy."""
    return {name: gradient for name, (gradient, _) in gradients_and_bounds(model, seed, scale).items()}


def gradients_and_bounds(
    model: nn.Sequential, seed: int = 1, scale: float = 1.0
) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """G [d, k] in float64, and |dY|^T |X| [d, k], G if nothing cancelled: what its rounding scales with."""
    twin = chain(*[m.in_features for m in model if isinstance(m, nn.Linear)], model[-1].out_features).double().cpu()
    seen: dict[str, Tensor] = {}
    for i, (ours, theirs) in enumerate(zip(twin, model, strict=True)):
        if isinstance(ours, nn.Linear):
            ours.weight.data.copy_(theirs.weight.data)
            ours.register_forward_hook(lambda _, x, y, name=str(i): seen.update({name: x[0]}))
            ours.register_full_backward_hook(
                lambda _, dx, dy, name=str(i): seen.update({name: dy[0].abs().T @ seen[name].abs()})
            )
    x, y = (tensor.double().cpu() for tensor in batch(model, seed=seed))
    (scale * (twin(x.requires_grad_(True)) - y).square().mean()).backward()
    return {name: (twin[int(name)].weight.grad.numpy(), bound.detach().numpy()) for name, bound in seen.items()}


def close(actual: Any, expected: Any, rtol: float = 2e-6, atol: float = 2e-8) -> None:
    """torch's assert_close over whatever can become a tensor, without its check of dtype and device."""
    expected = torch.as_tensor(expected).detach().cpu()
    torch.testing.assert_close(actual.detach().cpu().to(expected.dtype), expected, rtol=rtol, atol=atol)


def near(actual: Any, expected: np.ndarray, tolerance: float, absolute: float = 0.0) -> None:
    """Frobenius distance at most `tolerance` of the expected norm, plus `absolute`."""
    actual = np.asarray(actual.detach().double().cpu() if isinstance(actual, Tensor) else actual)
    scale = float(np.linalg.norm(expected))
    distance = float(np.linalg.norm(actual - expected))
    assert distance <= tolerance * scale + absolute, f"off by {distance / max(scale, 1e-300):.3g} of the norm"


def build(logra: ModuleType, model: nn.Module, **options: Any) -> Any:
    """LoGRA over every linear layer, with factors kept exact so that arithmetic can be compared."""
    return logra.LoGRA(model, **{"targets": linear, "rank": 3, "factor_dtype": torch.float32, **options})


def bits(model: nn.Module) -> dict[str, Tensor]:
    """A copy of the model's tensors."""
    return {name: tensor.clone() for name, tensor in model.state_dict().items()}


def same(one: dict[str, Tensor], other: dict[str, Tensor]) -> bool:
    """Whether two sets of tensors hold the same bits."""
    return one.keys() == other.keys() and all(torch.equal(one[name], other[name]) for name in one)


def sketches(optimizer: Any) -> dict[str, Tensor]:
    """A copy of the sketches by layer."""
    return {name: layer.sketch.clone() for name, layer in optimizer.layers.items()}


def moments(optimizer: Any) -> dict[str, Tensor]:
    """A copy of the row moments by layer."""
    return {
        name: optimizer.state[layer.weight]["row_second_moment"].clone()
        for name, layer in optimizer.layers.items()
        if layer.weight in optimizer.state
    }


def through_a_file(state: dict[str, Any]) -> dict[str, Any]:
    """A state as another process would read it, by the loader that runs no code."""
    file = io.BytesIO()
    torch.save(state, file)
    file.seek(0)
    loaded: dict[str, Any] = torch.load(file, weights_only=True)
    return loaded
