"""The predicted KL against the divergence that a merged update really causes, on a random and on a real model."""

from __future__ import annotations

from typing import Any

import pytest

torch = pytest.importorskip("torch", reason="the optimizer needs torch: pip install .[rl]")
pytest.importorskip("transformers", reason="the models need transformers: pip install .[rl]")

import tiny_models  # noqa: E402
from kl_checks import Factors, logits_of, measured_kl, model_update, tokens  # noqa: E402
from logra.predicted_kl import half_covariance, predicted_kl  # noqa: E402
from logra.probe import probe  # noqa: E402

PROMPT = 16
STEPS = (1e-6, 1e-5, 1e-4)  # predicted KL in nats a token


def measured_over_predicted(factors: Factors, forward: Any, kl: Any) -> dict[float, float]:
    """{predicted KL: measured KL over it}, each a mean over the positions past the prompt."""
    mean = float(kl[:, PROMPT:].mean())
    return {
        target: float(measured_kl(factors, (target / mean) ** 0.5, forward)[:, PROMPT:].mean()) / target
        for target in STEPS
    }


def holds(ratios: dict[float, float]) -> bool:
    """Within 5 % at 1e-6 and 1e-5, and nearer the smaller the step, down to float32's own noise."""
    errors = [max(abs(ratios[target] - 1), 1e-3) for target in STEPS]
    return max(errors[:2]) < 0.05 and errors == sorted(errors)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("build", [tiny_models.qwen3_5, tiny_models.llama])
def test_prediction_equals_measurement_on_random_models(build: Any, seed: int) -> None:
    model = build(seed=seed)
    factors, forward = model_update(model, seed=seed), logits_of(model, tokens(64, seed=seed))
    found = probe(model, factors, forward, method="forward")
    ratios = measured_over_predicted(factors, forward, predicted_kl(found.logits, found.tangents[0]))
    assert holds(ratios), ratios


@pytest.fixture(scope="module")
def smollm2() -> Any:
    pytest.importorskip("gguf", reason="SmolLM2 is read by gguf: pip install .[rl]")
    from grpo.smollm2 import load

    return load()


def sampled(model: Any, tokenizer: Any, *, length: int = 96) -> Any:
    """A prompt and an answer of the model to it, [1, about length], at temperature 1."""
    chat = [{"role": "user", "content": "Tell me in a few sentences why the sea is salt."}]
    prompt = tokenizer.apply_chat_template(chat, add_generation_prompt=True, return_tensors="pt", return_dict=True)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        return model.generate(**prompt, max_new_tokens=length, do_sample=True, temperature=1.0, top_k=0)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3))
def test_prediction_equals_measurement_on_smollm2(smollm2: Any, seed: int) -> None:
    model, tokenizer = smollm2
    factors, forward = model_update(model, rank=16, ratio=6e-5, seed=seed), logits_of(model, sampled(model, tokenizer))
    found = probe(model, factors, forward, method="forward")
    ratios = measured_over_predicted(factors, forward, predicted_kl(found.logits, found.tangents[0]))
    assert holds(ratios), ratios


@pytest.mark.slow
def test_bfloat16_smollm2_is_predicted_by_both_methods(smollm2: Any) -> None:
    model, tokenizer = smollm2
    factors, forward = model_update(model, rank=16, ratio=6e-5), logits_of(model, sampled(model, tokenizer))
    exact = probe(model, factors, forward, method="forward")
    kl = float(predicted_kl(exact.logits, exact.tangents[0]).mean())
    with torch.autocast("cpu", torch.bfloat16):
        rough = probe(model, factors, forward, method="forward")
        differences = probe(model, factors, forward, method="difference")
    assert float(predicted_kl(rough.logits, rough.tangents[0]).mean()) == pytest.approx(kl, rel=0.03)
    assert float(half_covariance(differences.logits, *differences.tangents).mean()) == pytest.approx(kl, rel=0.15)
