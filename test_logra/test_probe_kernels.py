"""Tests of the probe on models with fused gated-delta kernels, by stand-ins that have no forward derivative."""

from __future__ import annotations

import functools
import importlib
from typing import Any

import pytest

torch = pytest.importorskip("torch", reason="the optimizer needs torch: pip install .[rl]")
pytest.importorskip("transformers", reason="the models need transformers: pip install .[rl]")

import tiny_models  # noqa: E402
from kl_checks import logits_of, model_update, tokens  # noqa: E402
from logra.predicted_kl import predicted_kl  # noqa: E402
from logra.probe import MissingDerivative, probe  # noqa: E402
from logra.reference_path import reference_path  # noqa: E402

modelling = importlib.import_module("transformers.models.qwen3_5.modeling_qwen3_5")


class Opaque(torch.autograd.Function):
    """A value with a backward and no forward derivative, as flash-linear-attention's."""

    @staticmethod
    def forward(ctx: Any, value: Any, *sources: Any) -> Any:
        return value.clone()

    @staticmethod
    def backward(ctx: Any, *gradients: Any) -> Any:
        raise AssertionError("not in a probe")


def fused(reference: Any) -> Any:
    """What computes as `reference` does, in a kernel of its own."""

    def kernel(*arguments: Any, **options: Any) -> Any:
        out = reference(*arguments, **options)
        many = isinstance(out, tuple)
        opaque = Opaque.apply(out[0] if many else out, *(a for a in arguments if isinstance(a, torch.Tensor)))
        return (opaque, *out[1:]) if many else opaque

    return kernel


def dispatched(torch_function: Any) -> Any:
    """As transformers dispatches to a package's kernel: the torch code stays behind as __wrapped__."""
    implementation = fused(torch_function)

    @functools.wraps(torch_function)
    def wrapped(*arguments: Any, **options: Any) -> Any:
        return torch_function if implementation is None else implementation(*arguments, **options)

    return wrapped


@pytest.fixture
def with_kernels(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("torch_chunk_gated_delta_rule", "causal_conv1d_fn"):
        monkeypatch.setattr(modelling, name, dispatched(getattr(modelling, name).__wrapped__))


def mean_kl(logits: Any, tangent: Any) -> float:
    return float(predicted_kl(logits, tangent)[:, 16:].mean())


def test_kernels_with_torch_code_behind_them_are_passed_by(with_kernels: None) -> None:
    model = tiny_models.qwen3_5()
    factors, forward = model_update(model), logits_of(model, tokens())
    kernel = modelling.torch_chunk_gated_delta_rule
    assert probe(model, factors, forward).method == "forward"
    assert modelling.torch_chunk_gated_delta_rule is kernel


def test_kernels_held_by_the_layer_are_passed_by(monkeypatch: pytest.MonkeyPatch) -> None:
    model = tiny_models.qwen3_5()
    layer, fallback = model.model.layers[0].linear_attn, modelling.torch_chunk_gated_delta_rule
    layer.chunk_gated_delta_rule, layer.causal_conv1d_fn = kernels = (object(), object())
    with reference_path(model):
        assert layer.chunk_gated_delta_rule is getattr(fallback, "__wrapped__", fallback) or fallback
        assert layer.causal_conv1d_fn is None
    assert (layer.chunk_gated_delta_rule, layer.causal_conv1d_fn) == kernels


def use_unknown_kernel(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(modelling, "torch_chunk_gated_delta_rule", fused(modelling.torch_chunk_gated_delta_rule))


def test_an_unknown_kernel_is_named_with_what_to_set(monkeypatch: pytest.MonkeyPatch) -> None:
    model = tiny_models.qwen3_5()
    use_unknown_kernel(monkeypatch)
    with pytest.raises(MissingDerivative, match=r"layers.0.linear_attn \(Qwen3_5GatedDeltaNet\) .*method='difference'"):
        probe(model, model_update(model), logits_of(model, tokens()), method="forward")


def test_an_unknown_kernel_is_probed_by_differences(monkeypatch: pytest.MonkeyPatch) -> None:
    model = tiny_models.qwen3_5()
    factors, forward = model_update(model), logits_of(model, tokens(64))
    exact = probe(model, factors, forward, method="forward").tangents[0]
    use_unknown_kernel(monkeypatch)
    with pytest.warns(RuntimeWarning, match="finite differences"):
        found = probe(model, factors, forward)
    assert found.method == "difference"
    assert mean_kl(found.logits, found.tangents[0]) == pytest.approx(mean_kl(found.logits, exact), rel=0.02)


def use_silent_kernel(monkeypatch: pytest.MonkeyPatch) -> None:
    reference = modelling.torch_chunk_gated_delta_rule

    def silent(query: Any, key: Any, value: Any, **options: Any) -> Any:
        return reference(query.detach(), key.detach(), value.detach(), **options)

    monkeypatch.setattr(modelling, "torch_chunk_gated_delta_rule", silent)


def test_a_kernel_that_drops_tangents_in_silence_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    model = tiny_models.qwen3_5()
    factors, forward = model_update(model), logits_of(model, tokens())
    use_silent_kernel(monkeypatch)
    with pytest.raises(MissingDerivative, match=r"lost before model\.layers\.0\.linear_attn\.out_proj"):
        probe(model, factors, forward, method="forward", verify=True)


@pytest.mark.parametrize("build", [tiny_models.qwen3_5, tiny_models.llama])
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
@pytest.mark.parametrize("seed", range(3))
def test_a_sound_model_is_verified(build: Any, dtype: Any, seed: int) -> None:
    model = build(seed=seed).to(dtype)
    factors, forward = model_update(model, seed=seed), logits_of(model, tokens(seed=seed))
    assert probe(model, factors, forward, method="forward", verify=True).method == "forward"
