"""The authors' own code, if LOGRA_REFERENCE names the folder that holds their package `rpga`, does the same."""

from __future__ import annotations

import os
import sys

import pytest

torch = pytest.importorskip("torch", reason="the optimizer needs torch: pip install .[rl]")

import logra  # noqa: E402
from chains import build, chain, close  # noqa: E402

REFERENCE = os.environ.get("LOGRA_REFERENCE")
pytestmark = pytest.mark.skipif(not REFERENCE, reason="set LOGRA_REFERENCE to the folder of the authors' rpga package")


@pytest.fixture
def rpga(monkeypatch):
    """The authors' package, imported from where the user has it."""
    monkeypatch.syspath_prepend(REFERENCE)
    projection = pytest.importorskip("rpga.projection")
    optimizer = pytest.importorskip("rpga.optimizer")
    yield projection, optimizer
    for name in [name for name in sys.modules if name.partition(".")[0] == "rpga"]:
        del sys.modules[name]


@pytest.mark.parametrize("distribution", ["rademacher", "gaussian"])
@pytest.mark.parametrize("update", [0, 1, 200])
def test_seeds_and_projections_are_theirs(rpga, distribution, update):
    name = "model.layers.0.self_attn.q_proj"
    seed = logra.projection_seed(42, update, name)
    assert seed == rpga[0].layer_seed(42, update, name)
    theirs = rpga[0].make_projection(4, 19, seed, kind=distribution)
    assert torch.equal(logra.make_projection(4, 19, seed, distribution), theirs)


@pytest.mark.parametrize("factor_dtype", [torch.bfloat16, torch.float32])
def test_updates_are_theirs(rpga, factor_dtype):
    model, twin = chain(7, 11, 7), chain(7, 11, 7).requires_grad_(False)
    ours = build(logra, model, ratio=1e-3, factor_dtype=factor_dtype)
    theirs = rpga[1].RPGAOptimizer(
        [
            rpga[1].RPGALayer(
                name, twin.get_submodule(name).weight, None, 3, logra.projection_seed(42, 0, name), "rademacher",
                need_m=False, need_v=False,
            )
            for name in ours.layers
        ],
        rpga[1].RPGAConfig(
            rank=3, lr=1.0, base_seed=42, optimizer="rowadam", max_sketch_norm=0.0, max_update_ratio=1e-3,
            update_mode="target", merge_precision="fp32", preserve_layer_scale=True,
            u_wire_dtype=torch.bfloat16 if factor_dtype == torch.bfloat16 else None,
        ),
    )  # fmt: skip
    for tokens in (33, 71, 11):
        for mine, other in zip(ours.layers.values(), theirs.layers, strict=True):
            sketch = torch.randn(mine.sketch.shape, generator=torch.Generator().manual_seed(tokens))
            mine.sketch.copy_(sketch)
            mine.backwards = 1
            other.S.copy_(sketch)
        theirs.tokens = tokens
        theirs.merge()
        ours.step(tokens=tokens)
        for mine, other in zip(ours.layers.values(), theirs.layers, strict=True):
            close(mine.weight, other.W)
            close(ours.state[mine.weight]["row_second_moment"], other.v_row, atol=1e-10)
            assert torch.equal(mine.projection, other.A)
