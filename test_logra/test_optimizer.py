"""The optimizer as its users meet it: steps, groups, schedules, clipping, AdamW beside it, and what it refuses."""

from __future__ import annotations

import math

import pytest

torch = pytest.importorskip("torch", reason="the optimizer needs torch: pip install .[rl]")

from torch import nn  # noqa: E402

import logra  # noqa: E402
import optimizer_checks as checks  # noqa: E402
from chains import backward, batch, bits, build, chain, close, linear, moments, same  # noqa: E402


def test_merge_uses_the_sketchs_projection():
    checks.check_merge_uses_the_sketchs_projection(logra)


def test_torchs_own_generator_is_left_alone():
    checks.check_global_generator_is_left_alone(logra)


def test_a_refused_step_changes_nothing():
    checks.check_refused_step_changes_nothing(logra)


def test_two_phases_are_one_step():
    one, other = chain(6, 9, 5), chain(6, 9, 5)
    stepped, split = build(logra, one), build(logra, other)
    backward(one)
    stepped.step()
    backward(other)
    before = bits(other)
    proposed = split.propose()
    assert same(before, bits(other))
    assert not moments(split)
    assert proposed["0"].modules == (other[0],)
    assert torch.equal(split.directions()["0"].direction, proposed["0"].direction)
    split.apply()
    assert same(bits(one), bits(other))


def test_alpha_scales_the_update_and_zero_still_counts():
    changes = []
    for alpha in (0.0, 1.0, 2.0):
        model = chain(6, 5)
        before = model[0].weight.clone()
        optimizer = build(logra, model, ratio=0.1)
        backward(model)
        optimizer.propose()
        optimizer.apply(alpha)
        changes.append(model[0].weight - before)
        assert optimizer.update == 1
    assert not changes[0].any()
    close(changes[2], 2 * changes[1], rtol=1e-5, atol=1e-6)


def test_a_controller_sees_the_unscaled_proposal():
    checks.check_controller_sees_the_unscaled_proposal(logra)


def test_a_controllers_state_is_saved_and_taken_up():
    model = chain(6, 5)
    optimizer = build(logra, model, controller=checks.Halve())
    backward(model)
    optimizer.step()
    other = build(logra, chain(6, 5), controller=checks.Halve())
    other.load_state_dict(optimizer.state_dict())
    assert other.controller.state_dict() == {"steps": 1}


def test_a_failing_controller_leaves_the_step_to_be_tried_again():
    model = chain(6, 5)
    optimizer = build(logra, model)
    backward(model)
    before = bits(model)
    optimizer.controller = type("Broken", (checks.Halve,), {"step_scale": lambda self, optimizer: math.nan})()
    with pytest.raises(ValueError, match="alpha"):
        optimizer.step()
    assert same(before, bits(model))
    optimizer.controller = None
    optimizer.step()
    assert not same(before, bits(model))


def test_a_closure_is_run_with_gradients():
    model = chain(6, 5)
    optimizer = build(logra, model)
    x, y = batch(model)

    def closure():
        optimizer.zero_grad()
        loss = (model(x) - y).square().mean()
        loss.backward()
        return loss

    with torch.no_grad():
        losses = [float(optimizer.step(closure).detach()) for _ in range(5)]
    assert losses[-1] < losses[0]


def test_a_schedule_scales_the_step():
    model = chain(6, 5)
    optimizer = build(logra, model, ratio=0.1)
    schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: 0.5**step)
    sizes = []
    for step in range(3):
        before = model[0].weight.clone()
        backward(model, seed=step)
        optimizer.step()
        schedule.step()
        sizes.append(float((model[0].weight - before).norm() / before.norm()))
    close(torch.tensor(sizes), [0.1, 0.05, 0.025], rtol=1e-5)


def test_groups_take_their_own_options():
    model = chain(6, 9, 5)
    optimizer = build(logra, model, groups=[{"targets": ["2"], "lr": 0.0}])
    backward(model)
    before = bits(model)
    optimizer.step()
    assert torch.equal(model[2].weight, before["2.weight"])
    assert not torch.equal(model[0].weight, before["0.weight"])
    assert [group["names"] for group in optimizer.param_groups] == [["2"], ["0"]]


@pytest.mark.parametrize(
    ("group", "message"),
    [
        ({"targets": ["7"]}, "matches no target"),
        ({"targets": ["2"], "momentum": 0.9}, "momentum"),
        ({"lr": 0.1}, "targets"),
        ({"targets": ["2"], "weight_decay": 0.1}, "plain"),
    ],
)
def test_a_senseless_group_is_refused(group, message):
    with pytest.raises(ValueError, match=message):
        build(logra, chain(6, 9, 5), groups=[group])


@pytest.mark.parametrize("option", [{"beta2": 0.5}, {"epsilon": 0.3}, {"ratio": 1e-2}])
def test_a_groups_option_is_that_of_an_optimizer_for_it_alone(option):
    one, other = chain(6, 5), chain(6, 5)
    grouped, alone = build(logra, one, groups=[{"targets": ["0"], **option}]), build(logra, other, **option)
    for step in range(3):
        for model, optimizer in ((one, grouped), (other, alone)):
            backward(model, seed=step)
            optimizer.step()
    assert same(bits(one), bits(other))


def test_a_group_cannot_be_added_later():
    optimizer = build(logra, chain(6, 5))
    with pytest.raises(RuntimeError, match="groups="):
        optimizer.add_param_group({"params": [nn.Parameter(torch.zeros(2))]})


def test_parameters_frozen_before_stay_frozen():
    model = chain(6, 5, bias=True)
    model[0].bias.requires_grad_(False)
    optimizer = build(logra, model)
    optimizer.close()
    assert [p.requires_grad for p in model.parameters()] == [True, False]


def test_a_step_without_backward_is_refused():
    optimizer = build(logra, model := chain(6, 5))
    with pytest.raises(RuntimeError, match="backward"):
        optimizer.step()
    backward(model)
    optimizer.step()
    with pytest.raises(RuntimeError, match="backward"):
        optimizer.step()


def test_a_gradient_of_zero_is_a_step_that_moves_nothing():
    model = chain(6, 9, 5)
    optimizer = build(logra, model)
    before = bits(model)
    backward(model, scale=0.0)
    optimizer.step()
    assert same(before, bits(model))
    assert optimizer.update == 1


def test_zero_grad_drops_a_proposal():
    model = chain(6, 5)
    optimizer = build(logra, model)
    backward(model)
    optimizer.propose()
    with pytest.raises(RuntimeError, match="proposed already"):
        optimizer.propose()
    with pytest.raises(RuntimeError, match="not applied"):
        optimizer.state_dict()
    optimizer.zero_grad()
    with pytest.raises(RuntimeError, match="propose"):
        optimizer.apply()
    with pytest.raises(RuntimeError, match="propose"):
        optimizer.directions()


@pytest.mark.parametrize("alpha", [-0.1, math.nan, math.inf])
def test_a_senseless_alpha_is_refused(alpha):
    model = chain(6, 5)
    optimizer = build(logra, model)
    backward(model)
    optimizer.propose()
    with pytest.raises(ValueError, match="alpha"):
        optimizer.apply(alpha)
    optimizer.apply()


def test_a_factor_that_overflows_is_refused_before_any_weight_changes():
    model = chain(6, 9, 5)
    optimizer = build(logra, model, rule="lr", lr=1.0)
    backward(model)
    before = bits(model)
    optimizer.propose()
    with pytest.raises(FloatingPointError, match="nothing was changed"):
        optimizer.apply(1e300)
    assert same(before, bits(model))


@pytest.mark.parametrize("max_grad_norm", [None, 1.0])
def test_norms_that_are_not_finite_are_refused(max_grad_norm):
    model = chain(6, 5)
    optimizer = build(logra, model, max_grad_norm=max_grad_norm)
    backward(model)
    optimizer.layers["0"].sketch[0, 0] = math.inf
    with pytest.raises(FloatingPointError):
        optimizer.propose()
    with pytest.raises(FloatingPointError):
        optimizer.clip_grad_norm_(1.0)
    optimizer.zero_grad()
    model[0].weight.data[0, 0] = math.inf
    optimizer.layers["0"].sketch.fill_(1.0)
    optimizer.layers["0"].backwards = 1
    with pytest.raises(FloatingPointError, match="norm of a weight"):
        optimizer.propose()


@pytest.mark.parametrize("tokens", [0, -1, math.nan])
def test_a_senseless_number_of_tokens_is_refused(tokens):
    model = chain(6, 5)
    optimizer = build(logra, model)
    backward(model)
    with pytest.raises(ValueError, match="tokens"):
        optimizer.step(tokens=tokens)


def test_a_constant_number_of_tokens_cancels():
    models = [chain(6, 9, 5), chain(6, 9, 5)]
    for model, tokens in zip(models, (1.0, 64.0), strict=True):
        optimizer = build(logra, model)
        for step in range(3):
            backward(model, seed=step)
            optimizer.step(tokens=tokens)
    close(models[0][0].weight, models[1][0].weight)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"rank": 0}, "rank"),
        ({"rank": 2.5}, "rank"),
        ({"form": "fancy"}, "form"),
        ({"rule": "ratio"}, "rule"),
        ({"distribution": "uniform"}, "distribution"),
        ({"draw": "gpu"}, "draw"),
        ({"low_precision": "nearest"}, "low_precision"),
        ({"factor_dtype": torch.float16}, "factor_dtype"),
        ({"max_grad_norm": 0.0}, "max_grad_norm"),
        ({"base_seed": 1.5}, "base_seed"),
        ({"rule": "lr"}, "needs lr"),
        ({"rule": "lr", "lr": 1e-4, "ratio": 1e-3}, "has no ratio"),
        ({"lr": -1.0}, "lr"),
        ({"ratio": 0.0}, "ratio"),
        ({"beta2": 1.0}, "beta2"),
        ({"epsilon": -1.0}, "beta2"),
        ({"weight_decay": 0.1}, "plain"),
        ({"weight_decay": -0.1, "form": "plain"}, "weight_decay"),
    ],
)
def test_senseless_options_are_refused_and_leave_the_model_alone(options, message):
    model = chain(6, 5)
    with pytest.raises(ValueError, match=message):
        build(logra, model, **options)
    assert model[0].weight.requires_grad
    assert not model[0]._forward_hooks


@pytest.mark.parametrize(("widths", "rank"), [((6, 1), 3), ((1, 4), 3), ((1, 1), 1), ((2, 3), 8)])
def test_thin_layers_and_ranks_above_the_width(widths, rank):
    model = chain(*widths)
    optimizer = build(logra, model, rank=rank, ratio=1e-2)
    before = model[0].weight.clone()
    backward(model)
    optimizer.step()
    close(((model[0].weight - before).norm() / before.norm()), 1e-2, rtol=1e-4)


def test_float64_weights_are_updated_in_float64():
    model = chain(6, 9, 5).double()
    optimizer = build(logra, model)
    backward(model)
    optimizer.step()
    assert model[0].weight.dtype == torch.float64


def test_a_row_without_gradient_stays():
    model = chain(6, 5)
    optimizer = build(logra, model, ratio=0.1)
    x, _ = batch(model)
    before = model[0].weight.clone()
    model(x)[:, :4].square().sum().backward()
    optimizer.step()
    assert torch.equal(model[0].weight[4], before[4])
    assert bool((model[0].weight[:4] != before[:4]).all())


def test_the_sketch_moves_with_the_model():
    model = chain(6, 5)
    optimizer = build(logra, model)
    backward(model)
    layer = optimizer.layers["0"]
    kept = layer.sketch
    layer._sketch = kept.to("meta")  # as if the model had been on another device before
    layer._projection = layer.projection.to("meta")
    assert layer.projection.device.type == "cpu"
    assert linear("0", model[0])
