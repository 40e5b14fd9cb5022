"""Sketches are those of the dense gradient, however autograd gets there."""

from __future__ import annotations

import copy
import weakref

import pytest

torch = pytest.importorskip("torch", reason="the optimizer needs torch: pip install .[rl]")

from torch import nn  # noqa: E402

import logra  # noqa: E402
import optimizer_checks as checks  # noqa: E402
from chains import backward, batch, build, chain, close, linear, sketches  # noqa: E402


def test_sketch_is_that_of_the_dense_gradient():
    checks.check_sketch_is_that_of_the_dense_gradient(logra)


def test_checkpointing_changes_nothing():
    checks.check_checkpointing(logra)


def test_a_retained_graph_counts_once_a_backward():
    checks.check_retained_graph(logra)


def test_accumulation_is_float32():
    checks.check_accumulation_is_float32(logra)


def assert_sketches_match_autograd(model, loss_of, rtol=1e-5):
    """Compare with G A^T, G from autograd on an unhooked twin of any model."""
    twin = copy.deepcopy(model)
    optimizer = build(logra, model)
    loss_of(twin).backward()
    loss_of(model).backward()
    for name, layer in optimizer.layers.items():
        gradient = twin.get_submodule(name).weight.grad
        assert gradient is not None, name
        close(layer.sketch, gradient.float() @ layer.projection.T, rtol=rtol, atol=rtol * float(gradient.abs().max()))
    return optimizer


class Shared(nn.Module):
    def __init__(self):
        super().__init__()
        torch.manual_seed(0)
        self.block, self.spare = nn.Linear(5, 5), nn.Linear(5, 5)

    def forward(self, x):
        return self.block(torch.tanh(self.block(x)))


def test_a_module_used_twice_sums_its_uses_and_an_unused_one_stays_still():
    model, twin, x = Shared(), Shared(), torch.randn(4, 5)
    before = model.spare.weight.clone()
    optimizer = build(logra, model)
    twin(x).square().sum().backward()
    model(x).square().sum().backward()
    layer = optimizer.layers["block"]
    close(layer.sketch, twin.block.weight.grad @ layer.projection.T, rtol=1e-5, atol=1e-5)
    optimizer.step()
    assert torch.equal(model.spare.weight, before)


def test_tied_linear_layers_are_one_weight():
    model = chain(5, 5, 5)
    model[2].weight = model[0].weight
    x, y = batch(model)
    twin = chain(5, 5, 5)
    twin[2].weight = twin[0].weight
    (twin(x) - y).square().mean().backward()
    optimizer = build(logra, model)
    assert list(optimizer.layers) == ["0"]
    backward(model)
    layer = optimizer.layers["0"]
    close(layer.sketch, twin[0].weight.grad @ layer.projection.T, rtol=1e-5, atol=1e-6)


class InPlace(nn.Module):
    def __init__(self):
        super().__init__()
        torch.manual_seed(0)
        self.up, self.down = nn.Linear(6, 8), nn.Linear(8, 3)
        self.relu = nn.ReLU(inplace=True)

    def forward(self, x):
        return self.down(self.relu(self.up(x))).mul_(2.0).transpose(0, 1)


def test_outputs_changed_in_place_afterwards():
    x = torch.randn(7, 6)
    assert_sketches_match_autograd(InPlace(), lambda model: model(x).square().sum())


def test_inputs_of_any_number_of_dimensions():
    for shape in ((6,), (2, 6), (2, 3, 6), (2, 1, 3, 6)):
        x = torch.randn(shape)
        assert_sketches_match_autograd(chain(6, 4, 3, bias=True), lambda model, x=x: model(x).square().sum())


def test_autocast():
    model = chain(64, 32, 16)
    x, y = batch(model)

    def loss(m):
        with torch.autocast("cpu", dtype=torch.bfloat16):
            return (m(x) - y).float().square().mean()

    assert_sketches_match_autograd(model, loss, rtol=2e-2)


@pytest.mark.parametrize("rank", [3, 4, 5, 16])
def test_a_bf16_projection_has_the_float32_scale(rank):
    # 1/sqrt(3) rounds up by 0.13 % in bf16. Sums of four such entries are exact there, so nothing else is rounded.
    model = nn.Sequential(nn.Linear(4, 4, bias=False)).bfloat16()
    optimizer = build(logra, model, rank=rank, low_precision="stochastic")
    x = torch.eye(4).bfloat16()
    model(x).sum().backward()  # G is all ones, so S holds the sums of A's rows
    layer = optimizer.layers["0"]
    expected = layer.projection.sum(1).expand(4, rank)
    close(layer.sketch, expected)


def test_a_wholly_frozen_model_still_gets_sketches():
    model = chain(6, 9, 5, bias=True)
    optimizer = build(logra, model)
    assert not any(p.requires_grad for p in model.parameters())
    backward(model)
    assert all(float(s.norm()) > 0 for s in sketches(optimizer).values())
    assert all(p.grad is None for p in model.parameters())


class Embedded(nn.Module):
    """An embedding, then a block under reentrant checkpointing, which needs an input that requires a gradient."""

    def __init__(self):
        super().__init__()
        torch.manual_seed(0)
        self.embedding, self.block = nn.Embedding(7, 6), chain(6, 8, 4)

    def forward(self, tokens):
        return torch.utils.checkpoint.checkpoint(self.block, self.embedding(tokens), use_reentrant=True)


def test_a_frozen_embedding_anchors_reentrant_checkpointing():
    model = Embedded()
    optimizer = build(logra, model)
    model(torch.arange(7)).square().sum().backward()
    assert all(float(s.norm()) > 0 for s in sketches(optimizer).values())


class Scaled(Embedded):
    """Changes the embedding's output in place, as some models scale theirs."""

    def forward(self, tokens):
        x = self.embedding(tokens)
        x *= 3.0
        return self.block(x)


def test_an_anchored_embedding_may_be_changed_in_place():
    model = Scaled()
    build(logra, model)
    model(torch.arange(7)).square().sum().backward()


def test_an_input_given_by_keyword():
    model = nn.Linear(6, 4)
    optimizer = build(logra, model)
    model(input=torch.ones(3, 6)).sum().backward()
    assert float(optimizer.layers[""].sketch.norm()) > 0


def test_projected_inputs_do_not_outlive_the_backward_pass():
    # Training loops keep loss tensors for their logs; their graphs must not keep a projected input for each microbatch.
    model = chain(6, 5)
    build(logra, model)
    output = model(batch(model)[0])
    projected = weakref.ref(output.grad_fn.saved_tensors[0])
    loss = output.square().sum()
    loss.backward(retain_graph=True)
    assert projected() is not None
    loss.backward()
    assert projected() is None
    assert loss.grad_fn is not None


def test_no_graph_is_recorded_without_gradients():
    model = chain(6, 9, 5)
    build(logra, model)
    x, _ = batch(model)
    with torch.no_grad():
        assert not model(x).requires_grad
    with torch.inference_mode():
        model(x)


def test_a_graph_from_before_the_step_is_refused():
    model = chain(6, 5)
    optimizer = build(logra, model)
    x, y = batch(model)
    stale = (model(x) - y).square().mean()
    backward(model)
    optimizer.step()
    with pytest.raises(RuntimeError, match="before the last optimizer step"):
        stale.backward()


def test_second_derivatives_are_refused():
    # A gradient penalty reaches W a second time, past the sketch.
    model = chain(6, 5)
    build(logra, model)
    x, y = batch(model)
    x.requires_grad_(True)
    (slope,) = torch.autograd.grad((model(x) - y).square().mean(), x, create_graph=True)
    with pytest.raises(RuntimeError, match="differentiate twice"):
        slope.square().sum().backward()


def test_the_graph_holds_only_the_projected_input():
    model = chain(512, 64)
    build(logra, model)
    x, _ = batch(model)
    saved = []
    with torch.autograd.graph.saved_tensors_hooks(lambda t: saved.append(t.shape) or t, lambda t: t):
        model(x)
    assert saved == [(12, 3)]


def test_the_model_keeps_its_state_dict():
    model = chain(6, 9, 5, bias=True)
    keys = list(model.state_dict())
    build(logra, model)
    backward(model)
    assert list(model.state_dict()) == keys


def test_a_closed_optimizer_leaves_the_model_as_it_was():
    model = chain(6, 9, 5, bias=True)
    optimizer = build(logra, model)
    optimizer.close()
    backward(model)
    assert all(p.grad is not None for p in model.parameters())
    assert all(layer.backwards == 0 for layer in optimizer.layers.values())


def test_two_runs_give_the_same_bits():
    runs = []
    for _ in range(2):
        model = chain(6, 9, 5)
        optimizer = logra.LoGRA(model, targets=linear, rank=3)
        for step in range(4):
            backward(model, seed=step)
            optimizer.step()
        runs.append(checks.bits(model))
    assert checks.same(*runs)
