"""Tests of the forward-mode probe: exact, without a trace in the model, and loud where a derivative is missing."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

torch = pytest.importorskip("torch", reason="the optimizer needs torch: pip install .[rl]")
pytest.importorskip("transformers", reason="the models need transformers: pip install .[rl]")

from torch import Tensor, nn  # noqa: E402

import tiny_models  # noqa: E402
from kl_checks import logits_of, model_update, random_update, tokens  # noqa: E402
from logra.low_rank import output_change  # noqa: E402
from logra.probe import MissingDerivative, probe  # noqa: E402

BUILDERS = [tiny_models.qwen3_5, tiny_models.llama]


def dense_derivative(model: nn.Module, factors: Any, forward: Callable[[], Tensor]) -> Any:
    """d logits / d s with dense tangents -D A on the weights: the definition, by torch.func."""
    names = {id(parameter): name for name, parameter in model.named_parameters()}
    weights = {names[id(layer.weight)]: layer.weight.detach() for layer in factors}
    changes = {names[id(layer.weight)]: -(D @ A).to(layer.weight) for layer, (A, D) in factors.items()}

    class Call(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.inner = model

        def forward(self) -> Tensor:
            return forward()

    def run(given: Any) -> Any:
        return torch.func.functional_call(Call(), {f"inner.{name}": value for name, value in given.items()}, ())

    return torch.func.jvp(run, (weights,), (changes,))


@pytest.mark.parametrize("build", BUILDERS)
def test_the_derivative_is_exact(build: Any) -> None:
    model = build(attn_implementation="eager")
    factors, forward = model_update(model), logits_of(model, tokens())
    found = probe(model, factors, forward, method="forward")
    logits, tangent = dense_derivative(model, factors, forward)
    assert found.method == "forward"
    torch.testing.assert_close(found.logits, logits, rtol=0, atol=0)
    torch.testing.assert_close(found.tangents[0], tangent, rtol=1e-4, atol=1e-5 * float(tangent.detach().abs().max()))


@pytest.mark.parametrize("build", BUILDERS)
def test_default_attention_is_probed(build: Any) -> None:
    model = build()
    assert model.config._attn_implementation == "sdpa"  # which has no forward derivative on a CPU
    factors, forward = model_update(model), logits_of(model, tokens())
    found = probe(model, factors, forward, method="forward")
    model.set_attn_implementation("eager")
    torch.testing.assert_close(found.tangents, probe(model, factors, forward).tangents)


class Attention(nn.Module):
    """One head, by torch's own function."""

    def __init__(self, width: int = 8) -> None:
        super().__init__()
        self.q_proj, self.k_proj, self.v_proj, self.o_proj = (nn.Linear(width, width) for _ in range(4))

    def forward(self, x: Tensor) -> Tensor:
        q, k, v = self.q_proj(x), self.k_proj(x), self.v_proj(x)
        out: Tensor = self.o_proj(nn.functional.scaled_dot_product_attention(q[:, None], k[:, None], v[:, None])[:, 0])
        return out


def test_math_attention_is_used_where_a_model_calls_torch_itself() -> None:
    model, x = Attention().double(), torch.randn(2, 5, 8, dtype=torch.float64)
    factors = random_update(model.children())
    found = probe(model, factors, lambda: model(x), method="forward")
    with torch.nn.attention.sdpa_kernel(torch.nn.attention.SDPBackend.MATH):
        _, tangent = dense_derivative(model, factors, lambda: model(x))
    torch.testing.assert_close(found.tangents[0], tangent, rtol=1e-5, atol=1e-9)


def snapshot(model: Any) -> Any:
    hooks = [(len(m._forward_hooks), len(m._forward_pre_hooks), m.training, dict(vars(m))) for m in model.modules()]
    weights = [parameter.clone() for parameter in model.parameters()]
    return hooks, weights, model.config._attn_implementation, torch.is_grad_enabled()


def same(before: Any, after: Any) -> bool:
    return before[0] == after[0] and all(map(torch.equal, before[1], after[1])) and before[2:] == after[2:]


@pytest.mark.parametrize("method", ["forward", "difference"])
@pytest.mark.parametrize("build", BUILDERS)
def test_nothing_in_the_model_changes(build: Any, method: str) -> None:
    model = build()
    model.train()
    model.model.layers[1].eval()  # a module set apart stays so
    before = snapshot(model)
    probe(model, model_update(model), logits_of(model, tokens()), method=method)
    assert same(before, snapshot(model))


@pytest.mark.parametrize("method", ["forward", "difference"])
def test_nothing_in_the_model_changes_when_the_forward_fails(method: str) -> None:
    model = tiny_models.qwen3_5()
    before, handle = snapshot(model), model.model.layers[2].register_forward_pre_hook(lambda *_: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        probe(model, model_update(model), logits_of(model, tokens()), method=method)
    handle.remove()
    assert same(before, snapshot(model))


def test_dropout_is_off_in_the_probe() -> None:
    model = tiny_models.llama(attention_dropout=0.5)
    factors, forward = model_update(model), logits_of(model, tokens())
    still = probe(model, factors, forward)
    model.train()
    assert torch.equal(probe(model, factors, forward).tangents[0], still.tangents[0])


def test_a_compiled_model_is_probed() -> None:
    model = tiny_models.llama()
    compiled, factors = torch.compile(model), model_update(model)
    found = probe(compiled, factors, logits_of(compiled, tokens()), method="forward")
    torch.testing.assert_close(found.tangents, probe(model, factors, logits_of(model, tokens())).tangents)


class Twice(nn.Module):
    """A layer that is used twice, between others."""

    def __init__(self, width: int = 6) -> None:
        super().__init__()
        self.first, self.shared = nn.Linear(width, width), nn.Linear(width, width)

    def forward(self, x: Tensor) -> Tensor:
        return torch.tanh(self.shared(torch.tanh(self.shared(self.first(x)))))


def test_a_module_used_twice_counts_twice() -> None:
    model, x = Twice().double(), torch.randn(3, 6, dtype=torch.float64)
    factors = random_update([model.shared, model.first])
    _, tangent = dense_derivative(model, factors, lambda: model(x))
    torch.testing.assert_close(probe(model, factors, lambda: model(x)).tangents[0], tangent)


class ByKeyword(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.up, self.down = nn.Linear(4, 6), nn.Linear(6, 4)

    def forward(self, x: Tensor) -> Tensor:
        out: Tensor = self.down(input=torch.tanh(self.up(input=x)))
        return out


@pytest.mark.parametrize("method", ["forward", "difference"])
def test_a_layer_called_by_keyword_is_probed(method: str) -> None:
    model, x = ByKeyword().double(), torch.randn(3, 4, dtype=torch.float64)
    factors = random_update(model.children())
    _, tangent = dense_derivative(model, factors, lambda: model(x))
    torch.testing.assert_close(
        probe(model, factors, lambda: model(x), method=method).tangents[0], tangent, rtol=1e-2, atol=1e-5
    )


def test_an_embedding_tied_to_a_target_moves_with_it() -> None:
    model = tiny_models.llama(tie_word_embeddings=True)
    factors, forward = random_update([model.lm_head]), logits_of(model, tokens())
    model.set_attn_implementation("eager")
    _, tangent = dense_derivative(model, factors, forward)
    for method in ("forward", "difference"):
        found = probe(model, factors, forward, method=method).tangents[0]
        torch.testing.assert_close(found, tangent, rtol=1e-3, atol=2e-3 * float(tangent.detach().abs().max()))


def test_two_layers_with_one_weight_move_together() -> None:
    model, x = nn.Sequential(nn.Linear(5, 5), nn.Tanh(), nn.Linear(5, 5)).double(), torch.randn(4, 5).double()
    model[2].weight = model[0].weight
    factors = random_update([model[0]])
    _, tangent = dense_derivative(model, factors, lambda: model(x))
    torch.testing.assert_close(probe(model, factors, lambda: model(x)).tangents[0], tangent)
    both = {**factors, model[2]: factors[model[0]]}
    torch.testing.assert_close(probe(model, both, lambda: model(x)).tangents[0], tangent)
    with pytest.raises(ValueError, match="share one weight"):
        probe(model, random_update([model[0], model[2]]), lambda: model(x))


def test_the_tangent_of_a_layer_is_computed_in_float32() -> None:
    layer, x = nn.Linear(16, 8).bfloat16(), torch.randn(5, 16).bfloat16()
    factors = random_update([layer], rank=3)  # 1 / sqrt(3) is not exact in bfloat16
    A, D = factors[layer]
    for enabled in (False, True):
        with torch.autocast("cpu", torch.bfloat16, enabled=enabled):
            found = probe(layer, factors, lambda: layer(x)).tangents[0]
        assert torch.equal(found, (-(x.float() @ A.T) @ D.T).bfloat16())


def test_autocast_of_float32_weights_is_probed() -> None:
    model = tiny_models.llama()
    factors, forward = model_update(model), logits_of(model, tokens())
    exact = probe(model, factors, forward).tangents[0]
    with torch.autocast("cpu", torch.bfloat16):
        rough = probe(model, factors, forward, method="forward").tangents[0]
    assert float((rough - exact).norm() / exact.norm()) < 0.05


class Fused(torch.autograd.Function):
    """As a fused kernel is: a backward, no forward derivative."""

    @staticmethod
    def forward(ctx: Any, x: Tensor) -> Tensor:
        return x.tanh()

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> Tensor:
        raise AssertionError("not in a probe")


def drop(x: Tensor) -> Tensor:
    """As a kernel launched past torch's dispatcher: the values, no tangent."""
    return x.detach().tanh()


class Block(nn.Module):
    def __init__(self, activation: Callable[[Tensor], Tensor], width: int = 6) -> None:
        super().__init__()
        self.up_proj, self.down_proj, self.activation = nn.Linear(width, width), nn.Linear(width, width), activation

    def forward(self, x: Tensor) -> Tensor:
        out: Tensor = x + self.down_proj(self.activation(self.up_proj(x)))
        return out


def blocks(*activations: Callable[[Tensor], Tensor]) -> tuple[Any, Any, Callable[[], Tensor]]:
    torch.manual_seed(0)
    model, x = nn.Sequential(*map(Block, activations)), torch.randn(4, 6)
    layers = [layer for layer in model.modules() if isinstance(layer, nn.Linear)]
    return model, random_update(layers, ratio=1e-2), lambda: model(x)


def test_a_kernel_without_a_forward_derivative_is_named() -> None:
    model, factors, forward = blocks(torch.tanh, Fused.apply)
    with pytest.raises(MissingDerivative, match=r"1 \(Block\) has no forward derivative.*method='difference'"):
        probe(model, factors, forward, method="forward")


@pytest.mark.parametrize("place", [0, 1])
def test_a_derivative_lost_in_silence_is_found_and_named(place: int) -> None:
    model, factors, forward = blocks(*(drop if i == place else torch.tanh for i in range(2)))
    with pytest.raises(MissingDerivative, match=rf"lost before {place}.down_proj .*method='difference'"):
        probe(model, factors, forward, method="forward")


@pytest.mark.parametrize("broken", [drop, Fused.apply])
def test_auto_falls_back_on_differences(broken: Any) -> None:
    model, factors, forward = blocks(torch.tanh, broken)
    with pytest.warns(RuntimeWarning, match="falls back on finite differences: .*1"):
        found = probe(model, factors, forward)
    model[1].activation = torch.tanh
    exact = probe(model, factors, forward, method="forward").tangents[0]
    assert found.method == "difference"
    torch.testing.assert_close(found.tangents[0], exact, rtol=1e-2, atol=1e-2 * float(exact.abs().max()))


def test_a_derivative_lost_after_the_last_layer_is_found() -> None:
    model = nn.Sequential(nn.Linear(4, 4), nn.Identity())
    model[1].register_forward_hook(lambda module, inputs, output: output.detach())
    with pytest.raises(MissingDerivative, match="lost before the logits, after 0"):
        probe(model, random_update([model[0]]), lambda: model(torch.ones(2, 4)), method="forward")


class Towers(nn.Module):
    """Two branches: the second one's input owes nothing to the first."""

    def __init__(self) -> None:
        super().__init__()
        self.left, self.right = nn.Linear(4, 4), nn.Linear(4, 4)

    def forward(self, x: Tensor, y: Tensor) -> Tensor:
        out: Tensor = self.left(x) * self.right(y)
        return out


def test_an_input_that_rightly_has_no_derivative_passes() -> None:
    model, x, y = Towers().double(), torch.randn(3, 4).double(), torch.randn(3, 4).double()
    factors = random_update(model.children())
    _, tangent = dense_derivative(model, factors, lambda: model(x, y))
    torch.testing.assert_close(probe(model, factors, lambda: model(x, y), method="forward").tangents[0], tangent)


def test_layers_that_are_read_past_their_forward_are_refused() -> None:
    layer = nn.Linear(4, 4)
    with pytest.raises(MissingDerivative, match="without their forward"):
        probe(layer, random_update([layer]), lambda: torch.ones(2, 4) @ layer.weight, method="forward")


def test_other_errors_of_the_forward_pass_through() -> None:
    layer = nn.Linear(4, 4)
    with pytest.raises(RuntimeError, match="mat1 and mat2"):
        probe(layer, random_update([layer]), lambda: layer(torch.ones(2, 3)))


def test_factors_that_do_not_fit_are_refused() -> None:
    model = nn.Sequential(nn.Linear(4, 3))
    A, D = torch.zeros(2, 4), torch.zeros(3, 2)
    for factors in ((A.T, D), (A, D.T), (A[:1], D), (A[0], D)):
        with pytest.raises(ValueError, match=r"0: D .* is no update of the weight"):
            probe(model, {model[0]: factors}, lambda: model(torch.ones(1, 4)))
    with pytest.raises(ValueError, match="not a layer of the model"):
        probe(model, {nn.Linear(4, 3): (A, D)}, lambda: model(torch.ones(1, 4)))
    with pytest.raises(ValueError, match="directions is empty"):
        probe(model, {}, lambda: model(torch.ones(1, 4)))
    with pytest.raises(ValueError, match="method must be one of auto, forward, difference"):
        probe(model, {model[0]: (A, D)}, lambda: model(torch.ones(1, 4)), method="reverse")


class Scaled(nn.Embedding):
    def forward(self, ids: Tensor) -> Tensor:
        return super().forward(ids) * 3


def test_a_tied_module_of_unknown_kind_is_refused() -> None:
    model = nn.Sequential(Scaled(7, 4), nn.Linear(4, 7, bias=False))
    model[0].weight = model[1].weight
    with pytest.raises(TypeError, match=r"0 \(Scaled\) uses the weight of a target"):
        probe(model, random_update([model[1]]), lambda: model(torch.arange(3)))


def test_the_change_of_an_output_is_that_of_the_merge() -> None:
    layer, x = nn.Linear(5, 3).double(), torch.randn(2, 7, 5).double()
    A, D = torch.randn(2, 5).double(), torch.randn(3, 2).double()
    from logra.low_rank import Carrier

    moved = nn.functional.linear(x, layer.weight - D @ A, layer.bias)
    torch.testing.assert_close(layer(x) + output_change(Carrier("", layer, A, D), x), moved)
