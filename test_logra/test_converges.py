"""Every form and rule makes a quadratic go down to nothing, and a small language model learn its text."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch", reason="the optimizer needs torch: pip install .[rl]")
pytest.importorskip("transformers", reason="the language model needs transformers: pip install .[rl]")

from torch import nn  # noqa: E402
from torch.optim.lr_scheduler import CosineAnnealingLR  # noqa: E402

import logra  # noqa: E402
from chains import linear  # noqa: E402
from tiny_models import llama, qwen3_5  # noqa: E402

# (form, rule): options for the quadratic, options for the language model
FORMS = {
    ("norm_preserving", "target_ratio"): ({"ratio": 2e-2}, {"ratio": 2e-2}),
    ("norm_preserving", "trust_region"): ({"ratio": 2e-2, "lr": 2e-2}, {"ratio": 3e-2}),
    ("norm_preserving", "lr"): ({"lr": 2e-2}, {"lr": 1.0}),
    ("plain", "target_ratio"): ({"ratio": 2e-2}, {"ratio": 2e-2}),
    ("plain", "trust_region"): ({"ratio": 2e-2, "lr": 2e-2}, {"ratio": 3e-2, "lr": 1e-2}),
    ("plain", "lr"): ({"lr": 1e-2}, {"lr": 5e-3}),
}


@pytest.mark.parametrize(("form", "rule"), FORMS)
def test_a_quadratic_goes_down_in_1000_steps(form, rule):
    torch.manual_seed(0)
    model, goal = nn.Linear(24, 16, bias=False), torch.randn(16, 24)
    optimizer = logra.LoGRA(model, targets=linear, rank=4, form=form, rule=rule, **FORMS[form, rule][0])
    schedule = CosineAnnealingLR(optimizer, 1000)
    x = torch.eye(24) * torch.linspace(0.3, 3.0, 24).sqrt()  # condition 10
    losses = []
    for _ in range(1000):
        loss = (model(x) - x @ goal.T).square().sum()
        loss.backward()
        optimizer.step()
        schedule.step()
        losses.append(float(loss.detach()))
    assert losses[-1] < 1e-3 * losses[0]


def learn(model, **options):
    """300 steps on one sentence, read at every offset; the first and the last loss in nats a character."""
    text = torch.tensor([ord(c) % 61 for c in "the quick brown fox jumps over the lazy dog. " * 3])
    optimizer = logra.LoGRA(model.train(), rank=8, **options)
    schedule = CosineAnnealingLR(optimizer, 300)
    losses = []
    for step in range(300):
        ids = text[step % 45 : step % 45 + 24][None]
        loss = model(input_ids=ids, labels=ids).loss
        loss.backward()
        optimizer.step()
        schedule.step()
        losses.append(float(loss.detach()))
    return losses[0], sum(losses[-45:]) / 45


@pytest.mark.parametrize(("form", "rule"), FORMS)
def test_a_language_model_learns_in_300_steps(form, rule):
    first, last = learn(llama(layers=1), form=form, rule=rule, **FORMS[form, rule][1])
    assert first > 4.0  # ln 61 = 4.1
    assert last < 2.3  # the characters' frequencies alone leave 3.0


@pytest.mark.slow
def test_qwen3_5s_layers_learn_in_300_steps():
    first, last = learn(qwen3_5(), ratio=2e-2)
    assert first > 4.0
    assert last < 2.0


@pytest.mark.slow
@pytest.mark.parametrize("low_precision", ["master", "stochastic"])
def test_a_bf16_language_model_learns_in_300_steps(low_precision):
    _, last = learn(llama().bfloat16(), ratio=2e-2, low_precision=low_precision)
    assert last < 2.2
