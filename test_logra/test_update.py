"""The pure arithmetic against the golden vectors and its own defining properties."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

torch = pytest.importorskip("torch", reason="the optimizer needs torch: pip install .[rl]")
np = pytest.importorskip("numpy")

from logra.projection import make_projection, projection_seed  # noqa: E402
from logra.update import row_adam_direction  # noqa: E402

GOLDEN = Path(__file__).parent / "golden"
VECTORS = json.loads((GOLDEN / "vectors.json").read_text(encoding="utf-8"))
ARRAYS = np.load(GOLDEN / "vectors.npz")


def close(actual, expected, rtol=2e-6, atol=2e-8):
    torch.testing.assert_close(actual, torch.as_tensor(expected), rtol=rtol, atol=atol)


@pytest.mark.parametrize(
    "case", VECTORS["seeds"], ids=lambda case: f"{case['base_seed']}-{case['update']}-{case['name']}"
)
def test_seed_is_golden(case):
    assert projection_seed(case["base_seed"], case["update"], case["name"]) == case["seed"]


@pytest.mark.parametrize("law", ["rademacher", "gaussian"])
def test_projection_is_golden(law):
    seed = projection_seed(42, 0, "model.layers.0.self_attn.q_proj")
    expected = torch.as_tensor(ARRAYS[f"proj/{law}/b42_u0_model.layers.0.self_attn.q_proj_r4_w19/P"])
    actual = make_projection(4, 19, seed, law)
    assert torch.equal(actual, expected)


@pytest.mark.parametrize(("form", "key"), [("norm_preserving", "dirP"), ("plain", "dirG")])
def test_direction_is_golden(form, key):
    moment = torch.zeros(7, 1)
    for step in (1, 2):
        at = f"rowadam/random/{step}"
        direction = row_adam_direction(
            torch.as_tensor(ARRAYS[f"{at}/sketch"]), moment, step=step, beta2=0.95, epsilon=1e-8, form=form
        )
        close(direction, ARRAYS[f"{at}/{key}"])
        close(moment, ARRAYS[f"{at}/moment"], atol=1e-10)
