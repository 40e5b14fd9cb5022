"""The golden vectors of the two public implementations, as checks of the package under test."""

from __future__ import annotations

import json
from pathlib import Path
from types import ModuleType

import numpy as np
import torch
from torch import Tensor, nn

from chains import close

GOLDEN = Path(__file__).parent / "golden"
VECTORS = json.loads((GOLDEN / "vectors.json").read_text(encoding="utf-8"))
ARRAYS = np.load(GOLDEN / "vectors.npz")


def golden(key: str) -> Tensor:
    """A golden array as a tensor, on the default device."""
    return torch.from_numpy(ARRAYS[key]).to(torch.get_default_device())


def check_golden_seeds(logra: ModuleType) -> None:
    for case in VECTORS["seeds"]:
        assert logra.projection_seed(case["base_seed"], case["update"], case["name"]) == case["seed"], case["name"]


def check_golden_projections(logra: ModuleType) -> None:
    name = "model.layers.0.self_attn.q_proj"
    seed = logra.projection_seed(42, 0, name)
    for law in ("rademacher", "gaussian"):
        expected = golden(f"proj/{law}/b42_u0_{name}_r4_w19/P").cpu()
        assert torch.equal(logra.make_projection(4, 19, seed, law), expected), law


def check_golden_directions(logra: ModuleType) -> None:
    for form, key in (("norm_preserving", "dirP"), ("plain", "dirG")):
        moment = torch.zeros(7, 1)
        for step in (1, 2):
            at = f"rowadam/random/{step}"
            sketch = golden(f"{at}/sketch")
            direction = logra.row_adam_direction(sketch, moment, step=step, beta2=0.95, epsilon=1e-8, form=form)
            close(direction, golden(f"{at}/{key}"))
            close(moment, golden(f"{at}/moment"), atol=1e-10)


class GoldenModel(nn.Module):
    """The two layers of the golden trajectory, with the weights it starts from."""

    def __init__(self, at: str) -> None:
        super().__init__()
        self.q_proj = nn.Linear(7, 11, bias=False)
        self.o_proj = nn.Linear(11, 7, bias=False)
        for name in ("q_proj", "o_proj"):
            getattr(self, name).weight.data.copy_(golden(f"{at}/init/{name}.weight"))


def check_golden_trajectory(logra: ModuleType) -> None:
    case = VECTORS["traj_injected"][0]
    at = case["tag"]
    model = GoldenModel(at)
    optimizer = logra.LoGRA(model, rank=case["rank"], ratio=case["update_ratio"], base_seed=case["seed"])
    for step in case["steps"]:
        here = f"{at}/{step['step']}"
        for name, layer in optimizer.layers.items():
            assert torch.equal(layer.projection, golden(f"{here}/A/{name}")), f"A of {here}"
            layer.sketch.copy_(golden(f"{here}/sketch/{name}"))
            layer.backwards = 1
        close(torch.tensor(optimizer.sketch_norm()), step["reported_sketch_norm"])
        proposed = optimizer.propose(tokens=step["tokens"])
        for name, direction in proposed.items():
            close(direction.direction, golden(f"{here}/direction/{name}"))
        optimizer.apply(step["alpha"])
        for name, layer in optimizer.layers.items():
            close(layer.weight, golden(f"{here}/weight/{name}"))
            close(optimizer.state[layer.weight]["row_second_moment"], golden(f"{here}/moment/{name}"), atol=1e-10)
        assert optimizer.update == step["logra_step"]
