"""A run that is killed and taken up gives the same bits, and a checkpoint that does not fit says why."""

from __future__ import annotations

import copy

import pytest

torch = pytest.importorskip("torch", reason="the optimizer needs torch: pip install .[rl]")

import logra  # noqa: E402
import optimizer_checks as checks  # noqa: E402
from chains import backward, bits, build, chain, moments, same, through_a_file  # noqa: E402

RUNS = {
    "float32": {},
    "plain form": {"form": "plain", "rule": "lr", "lr": 1e-3, "weight_decay": 0.1},
    "trust region": {"rule": "trust_region", "max_grad_norm": 0.1},
    "fixed A": {"refresh": False},
    "gaussian": {"distribution": "gaussian"},
    "masters": {"dtype": torch.bfloat16, "low_precision": "master", "ratio": 1e-3},
    "half masters": {"dtype": torch.float16, "low_precision": "master", "ratio": 1e-3},
    "stochastic": {"dtype": torch.bfloat16, "low_precision": "stochastic", "ratio": 1e-3},
}


@pytest.mark.parametrize("stop", range(6))
@pytest.mark.parametrize("run", RUNS)
def test_resume_gives_the_same_bits(run, stop):
    checks.check_resume(logra, stop=stop, **RUNS[run])


def test_resume_with_native_adamw_and_a_schedule_gives_the_same_bits():
    def start(seed):
        model = chain(6, 9, 5, seed=seed, bias=True)
        optimizer = build(logra, model, native={"lr": 1e-2})
        return model, optimizer, torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, 6)

    def go(model, optimizer, schedule, steps):
        for step in steps:
            backward(model, seed=step)
            optimizer.step()
            optimizer.zero_grad()
            schedule.step()

    straight, resumed = start(0), start(3)
    go(*straight, range(3))
    saved = bits(straight[0]), through_a_file(straight[1].state_dict()), straight[2].state_dict()
    go(*straight, range(3, 6))
    go(*resumed, range(50, 51))
    for part, state in zip(resumed, saved, strict=True):
        part.load_state_dict(state)
    go(*resumed, range(3, 6))
    assert same(bits(straight[0]), bits(resumed[0]))


def test_a_checkpoint_holds_plain_tensors_in_float32():
    model = chain(6, 9, 5).bfloat16()
    optimizer = build(logra, model, low_precision="master")
    backward(model)
    optimizer.step()
    state = through_a_file(optimizer.state_dict())
    assert {key: tuple(value.shape) for key, value in state["state"][0].items()} == {
        "row_second_moment": (9, 1),
        "master": (9, 6),
    }
    other = build(logra, chain(6, 9, 5).bfloat16(), low_precision="master")
    other.load_state_dict(state)
    assert all(value.dtype == torch.float32 for values in other.state.values() for value in values.values())


def test_a_state_is_copied_not_shared():
    model = chain(6, 5)
    optimizer = build(logra, model)
    backward(model)
    optimizer.step()
    state = optimizer.state_dict()
    other = build(logra, chain(6, 5))
    other.load_state_dict(state)
    before = moments(optimizer)
    next(iter(other.state.values()))["row_second_moment"].fill_(7.0)
    assert same(before, moments(optimizer))


DIFFERENCES = {
    "rank": ({"rank": 2}, "rank: 3 in the checkpoint, 2 here"),
    "form": ({"form": "plain"}, "form: 'norm_preserving' in the checkpoint, 'plain' here"),
    "rule": ({"rule": "trust_region"}, "rule: 'target_ratio' in the checkpoint, 'trust_region' here"),
    "base_seed": ({"base_seed": 7}, "base_seed: 42 in the checkpoint, 7 here"),
    "distribution": ({"distribution": "gaussian"}, "distribution: 'rademacher'"),
    "refresh": ({"refresh": False}, "refresh: True in the checkpoint, False here"),
    "draw": ({"draw": "device"}, "draw: 'cpu'"),
    "factor": ({"factor_dtype": torch.bfloat16}, "factor_dtype: 'float32' in the checkpoint, 'bfloat16' here"),
    "clip": ({"max_grad_norm": 1.0}, "max_grad_norm: None in the checkpoint, 1.0 here"),
    "targets": ({"targets": ["0"]}, "layer 2: in the checkpoint, not a target here"),
    "groups": ({"groups": [{"targets": ["2"]}]}, r"param group 0: \['0', '2'\] in the checkpoint, \['2'\] here"),
}


@pytest.mark.parametrize("what", DIFFERENCES)
def test_a_mismatch_is_refused_by_name_and_changes_nothing(what):
    options, message = DIFFERENCES[what]
    saved = build(logra, chain(6, 9, 5)).state_dict()
    model = chain(6, 9, 5)
    other = build(logra, model, **options)
    backward(model)
    other.step()
    before = moments(other)
    with pytest.raises(ValueError, match=message):
        other.load_state_dict(saved)
    assert same(before, moments(other))
    assert other.update == 1


def test_all_differences_are_named_at_once():
    saved = build(logra, chain(6, 9, 5)).state_dict()
    other = build(logra, chain(6, 8, 5), rank=2, base_seed=1)
    with pytest.raises(ValueError) as caught:
        other.load_state_dict(saved)
    for part in ("rank", "base_seed", "layer 0: [9, 6] in the checkpoint, [8, 6] here", "layer 2"):
        assert part in str(caught.value)


def test_a_layer_that_the_checkpoint_lacks_is_named():
    saved = build(logra, chain(6, 9, 5), targets=["0"]).state_dict()
    with pytest.raises(ValueError, match="layer 2: a target here, not in the checkpoint"):
        build(logra, chain(6, 9, 5)).load_state_dict(saved)


def test_groups_of_the_same_sizes_with_other_layers_are_refused():
    saved = build(logra, chain(6, 6, 6), groups=[{"targets": ["0"]}]).state_dict()
    with pytest.raises(ValueError, match=r"param group 0: \['0'\] in the checkpoint, \['2'\] here"):
        build(logra, chain(6, 6, 6), groups=[{"targets": ["2"]}]).load_state_dict(saved)


def test_native_parameters_of_another_shape_are_refused():
    saved = build(logra, chain(6, 5, bias=True), native={}).state_dict()
    model = chain(6, 5, bias=True)
    model.extra = torch.nn.Parameter(torch.zeros(2))
    with pytest.raises(ValueError, match=r"param group 1: \[\[5\]\] in the checkpoint, \[\[2\], \[5\]\] here"):
        build(logra, model, native={}).load_state_dict(saved)


def test_an_optimizer_is_not_copied_but_its_state_is():
    optimizer = build(logra, chain(6, 5))
    with pytest.raises(TypeError, match="state_dict"):
        copy.deepcopy(optimizer)
    assert copy.deepcopy(optimizer.state_dict())["param_groups"]


def test_a_missing_controller_is_named():
    model = chain(6, 5)
    plain, steered = build(logra, model), None
    saved = plain.state_dict()
    plain.close()
    steered = build(logra, model, controller=type("Still", (), {"state_dict": lambda self: {}})())
    with pytest.raises(ValueError, match="controller: one here, none in the checkpoint"):
        steered.load_state_dict(saved)
    with pytest.raises(ValueError, match="controller: one in the checkpoint, none here"):
        build(logra, chain(6, 5)).load_state_dict(steered.state_dict())


def test_a_foreign_state_is_refused():
    optimizer = build(logra, chain(6, 5))
    with pytest.raises(ValueError, match="not the state of a LoGRA"):
        optimizer.load_state_dict(torch.optim.SGD([torch.zeros(2)], lr=0.1).state_dict())
    newer = optimizer.state_dict()
    newer["param_groups"][0]["logra"]["format"] = 2
    with pytest.raises(ValueError, match="format 2"):
        optimizer.load_state_dict(newer)


def test_weights_changed_behind_their_masters_are_noticed():
    model = chain(6, 5).bfloat16()
    optimizer = build(logra, model, low_precision="master")
    backward(model)
    optimizer.step()
    model[0].weight.data.mul_(2.0)
    backward(model)
    with pytest.raises(RuntimeError, match="outside the optimizer"):
        optimizer.step()
