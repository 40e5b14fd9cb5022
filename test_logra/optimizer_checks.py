"""What must hold of the optimizer, as functions of the package under test, so that wrong versions meet the same checks.

Each takes `logra`, the package or a deliberately wrong copy of it, and raises AssertionError where it is wrong.
"""

from __future__ import annotations

import copy
from types import ModuleType
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.utils.checkpoint import checkpoint

from chains import (
    backward,
    batch,
    bits,
    build,
    chain,
    close,
    dense_gradients,
    gradients_and_bounds,
    moments,
    near,
    normal,
    same,
    sketches,
    through_a_file,
)
from oracles.logra_dense import DenseLoGRA, Settings

FORMS = ("norm_preserving", "plain")
RULES = {"target_ratio": {"ratio": 1e-3}, "trust_region": {"ratio": 1e-3, "lr": 0.25}, "lr": {"lr": 1e-3}}


def check_against_dense(
    logra: ModuleType,
    *,
    widths: tuple[int, ...] = (6, 9, 5),
    rank: int = 3,
    steps: int = 3,
    seed: int = 0,
    bf16_factor: bool = False,
    gradient_scale: float = 1.0,
    tokens: float = 1.0,
    alphas: tuple[float, ...] = (1.0,),
    **options: Any,
) -> None:
    """Every step's direction, moment and weights equal those of the dense float64 oracle from the same weights."""
    model = chain(*widths, seed=seed)
    factor = torch.bfloat16 if bf16_factor else torch.float32
    optimizer = build(logra, model, rank=rank, factor_dtype=factor, **options)
    group = optimizer.param_groups[0]
    settings = Settings(rank, round_factor=bf16_factor, **{**options, "lr": group["lr"], "ratio": group["ratio"]})
    oracle, worst = DenseLoGRA({}, settings), 0.0
    for step in range(steps):
        oracle.weights = {
            str(i): m.weight.detach().double().cpu().numpy() for i, m in enumerate(model) if isinstance(m, nn.Linear)
        }
        gradients, noise = dense_with_noise(model, oracle, step, gradient_scale)
        backward(model, seed=step, scale=gradient_scale)
        alpha = alphas[step % len(alphas)]
        actual = {name: d.direction.clone() for name, d in optimizer.propose(tokens=tokens).items()}
        optimizer.apply(alpha)
        before = dict(oracle.weights)
        expected = oracle.step(gradients, alpha=alpha, tokens=tokens)
        worst = max(worst, 1e-5, *noise.values())
        for name, layer in optimizer.layers.items():
            near(actual[name], expected[name], 2 * worst)
            near(optimizer.state[layer.weight]["row_second_moment"][:, 0], oracle.moments[name], 2 * worst)
            # float32 weights round each update; a bf16 factor may fall to the other side of a tie.
            moved = float(np.linalg.norm(oracle.weights[name] - before[name]))
            near(layer.weight, oracle.weights[name], 1e-6, (2 * worst + 4e-3 * bf16_factor) * moved)


def dense_with_noise(
    model: nn.Sequential, oracle: DenseLoGRA, seed: int, scale: float
) -> tuple[dict[str, np.ndarray], dict[str, float]]:
    """Each layer's G, and the largest relative error that float32 may leave in a row of its sketch.

    A row in which products cancel is small and inexact, and RowAdam makes every row as large as the others.
    """
    gradients, noise = {}, {}
    for name, (gradient, bound) in gradients_and_bounds(model, seed, scale).items():
        a = oracle.projection(name)
        rows = np.linalg.norm(gradient @ a.T, axis=1)
        limits = np.linalg.norm(bound @ np.abs(a).T, axis=1)
        gradients[name] = gradient
        noise[name] = float(1e-6 * np.max(limits / np.maximum(rows, 1e-300)))
    return gradients, noise


STORED = {
    "float64": (torch.float64, None),
    "float32": (torch.float32, None),
    "bf16 master": (torch.bfloat16, "master"),
    "fp16 master": (torch.float16, "master"),
    "bf16 stochastic": (torch.bfloat16, "stochastic"),
}


def check_stored_weights_against_dense(
    logra: ModuleType, *, stored: str = "bf16 master", width: int = 6, rows: int = 5, rank: int = 3, steps: int = 3
) -> None:
    """From the same gradients, weights in any storage follow the dense oracle, as closely as their dtype can."""
    dtype, low_precision = STORED[stored]
    model = chain(width, rows).to(dtype)
    optimizer = build(logra, model, rank=rank, low_precision=low_precision, ratio=1e-2)
    layer = optimizer.layers["0"]
    oracle = DenseLoGRA(
        {"0": layer.weight.detach().double().cpu().numpy().copy()}, Settings(rank, ratio=1e-2, round_factor=False)
    )
    for step in range(steps):
        gradient = normal(rows, width, seed=step).double()
        layer.sketch.copy_(gradient @ layer.projection.double().T)
        layer.backwards = 1
        if low_precision == "stochastic":  # nothing is kept beside the rounded weights
            oracle.weights["0"] = layer.weight.detach().double().cpu().numpy().copy()
        optimizer.step()
        oracle.step({"0": gradient.cpu().numpy()})
        exact = oracle.weights["0"]
        if low_precision == "stochastic":
            spacing = 2.0 ** (np.floor(np.log2(np.abs(exact) + 1e-30)) - 7)
            assert bool((np.abs(layer.weight.detach().double().cpu().numpy() - exact) <= 1.001 * spacing).all())
        else:
            kept = optimizer.state[layer.weight].get("master", layer.weight)
            near(kept, exact, 1e-6)
            assert torch.equal(layer.weight, kept.to(dtype))


def check_merge_uses_the_sketchs_projection(logra: ModuleType) -> None:
    """The change of a weight is -D A with the A that made the sketch, drawn from this update's seed."""
    for refresh in (True, False):
        model = chain(6, 9, 5)
        optimizer = build(logra, model, ratio=0.1, refresh=refresh)
        for step in range(3):
            before = bits(model)
            backward(model, seed=step)
            proposed = {n: (d.projection.clone(), d.direction.clone()) for n, d in optimizer.propose().items()}
            optimizer.apply()
            for name, (a, d) in proposed.items():
                law = logra.make_projection(3, a.shape[1], logra.projection_seed(42, step if refresh else 0, name))
                assert torch.equal(a.cpu(), law), f"A of {name} at step {step}"
                change = model.get_submodule(name).weight - before[f"{name}.weight"]
                near(change, -(d.double() @ a.double()).cpu().numpy(), 1e-5)


def check_directions_scale_with_the_sketch(logra: ModuleType) -> None:
    """epsilon is relative in the norm-preserving form: a sketch c times as large gives a direction c times as large."""
    sketch = normal(6, 3, seed=0) * torch.arange(1.0, 7.0)[:, None]
    reference = None
    for scale in (1.0, 1024.0, 2.0**-20):
        direction = logra.row_adam_direction(sketch * scale, torch.zeros(6, 1), step=1, beta2=0.95, epsilon=0.5)
        reference = direction if reference is None else reference
        close(direction / scale, reference)


def check_norm_is_preserved(logra: ModuleType) -> None:
    """||D||_F = ||S||_F in the norm-preserving form, at every step."""
    moment = torch.zeros(8, 1)
    for step in range(1, 6):
        sketch = normal(8, 4, seed=step) * 10.0 ** (step - 3)
        direction = logra.row_adam_direction(sketch, moment, step=step, beta2=0.95, epsilon=1e-8)
        close(direction.norm(), sketch.norm())


def check_ratio_is_global(logra: ModuleType) -> None:
    """One factor for all layers: the whole update has the target norm, and layers keep their sketches' proportion."""
    model = chain(6, 9, 5)
    model[0].weight.data.mul_(30.0)
    optimizer = build(logra, model, ratio=1e-3)
    for seed in range(2):
        backward(model, seed=seed)
        norms = {name: float(s.norm()) for name, s in sketches(optimizer).items()}
        proposed = optimizer.propose()
        ratios = {name: float(d.direction.norm()) / norms[name] for name, d in proposed.items()}
        close(torch.tensor(ratios["0"]), ratios["2"], rtol=1e-5)
        update = sum(float((d.direction @ d.projection).norm()) ** 2 for d in proposed.values()) ** 0.5
        weights = sum(float(layer.weight.norm()) ** 2 for layer in optimizer.layers.values()) ** 0.5
        close(torch.tensor(update), 1e-3 * weights, rtol=1e-5)
        optimizer.apply()


def check_trust_region(logra: ModuleType) -> None:
    """Each layer's update, lr D A, is capped by its own weights' norm, and left alone under the cap."""
    for scale, lr, capped in ((1e3, 1.0, True), (1e3, 0.5, True), (1e-6, 1.0, False), (1e-6, 0.5, False)):
        optimizer = build(logra, model := chain(6, 9, 5), rule="trust_region", lr=lr)
        backward(model, scale=scale)
        norms = {name: float(s.norm()) for name, s in sketches(optimizer).items()}
        for name, d in optimizer.propose().items():
            if capped:
                size = (d.direction.double() @ d.projection.double()).norm()
                close(size, 6e-4 * float(d.modules[0].weight.norm()), rtol=1e-5)
            else:
                close(d.direction.norm(), lr * norms[name], rtol=1e-5)


class Halve:
    """A controller that halves every step, and keeps what it saw."""

    def __init__(self) -> None:
        self.seen: list[dict[str, Tensor]] = []

    def step_scale(self, optimizer: Any) -> float:
        self.seen.append({name: d.direction.clone() for name, d in optimizer.directions().items()})
        return 0.5

    def state_dict(self) -> dict[str, Any]:
        return {"steps": len(self.seen)}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        self.seen = [{}] * state["steps"]


def check_controller_sees_the_unscaled_proposal(logra: ModuleType) -> None:
    """In every step the controller sees alpha = 1 over weights not yet touched, and half of it is applied."""
    model, twin = chain(6, 9, 5), chain(6, 9, 5)
    steered, split = build(logra, model, controller=Halve()), build(logra, twin)
    for step in range(3):
        backward(model, seed=step)
        steered.step()
        backward(twin, seed=step)
        proposed = {name: d.direction.clone() for name, d in split.propose().items()}
        split.apply(0.5)
        assert same(steered.controller.seen[-1], proposed)
        assert same(bits(model), bits(twin))


def check_accumulation_is_float32(logra: ModuleType) -> None:
    """512 equal microbatches of a bf16 model give 512 times one: bf16 sums would stand still at 256."""
    model = chain(6, 9, 5).bfloat16()
    optimizer = build(logra, model, low_precision="stochastic")
    backward(model)
    once = sketches(optimizer)
    for _ in range(511):
        backward(model)
    for name, sketch in sketches(optimizer).items():
        close(sketch, once[name] * 512, rtol=1e-4, atol=1e-6)


def check_sketch_is_that_of_the_dense_gradient(logra: ModuleType) -> None:
    """S = G A^T, summed over two backward passes."""
    model = chain(6, 9, 5)
    optimizer = build(logra, model)
    dense = [dense_gradients(model, seed=seed) for seed in (1, 2)]
    backward(model, seed=1)
    backward(model, seed=2)
    for name, layer in optimizer.layers.items():
        near(layer.sketch, sum(g[name] for g in dense) @ layer.projection.double().cpu().numpy().T, 1e-5)
        assert layer.weight.grad is None


def check_checkpointing(logra: ModuleType) -> None:
    """Plain, non-reentrant and reentrant checkpointing give the same sketches, bit for bit."""
    found = {}
    for mode in ("plain", "reentrant", "non-reentrant"):
        optimizer = build(logra, model := chain(6, 9, 9, 5))
        x, y = batch(model)
        x.requires_grad_(True)
        out = model(x) if mode == "plain" else checkpoint(model, x, use_reentrant=mode == "reentrant")
        (out - y).square().mean().backward()
        found[mode] = sketches(optimizer)
        assert all(float(s.norm()) > 0 for s in found[mode].values()), f"no sketch under {mode} checkpointing"
        assert same(found["plain"], found[mode])


def check_retained_graph(logra: ModuleType) -> None:
    """Three backward passes through one graph count three times, as a dense gradient would."""
    optimizer = build(logra, model := chain(6, 9, 5))
    x, y = batch(model)
    loss = (model(x) - y).square().mean()
    loss.backward(retain_graph=True)
    once = sketches(optimizer)
    loss.backward(retain_graph=True)
    loss.backward()
    for name, sketch in sketches(optimizer).items():
        close(sketch, 3 * once[name])


def check_refused_step_changes_nothing(logra: ModuleType) -> None:
    """A NaN, an infinity or an overflow in the last layer leaves no trace; the run goes on as if it never was."""
    for poison in (float("nan"), float("inf"), 1e25):
        clean, tried = chain(6, 9, 5), chain(6, 9, 5)
        one, other = build(logra, clean), build(logra, tried)
        for seed in range(3):
            backward(clean, seed=seed)
            one.step()
            refuse(other, tried, poison)
            backward(tried, seed=seed)
            other.step()
        assert same(bits(clean), bits(tried)), f"{poison} left a trace in the weights"
        assert same(moments(one), moments(other)), f"{poison} left a trace in the moments"


def check_refused_direction_keeps_the_moment(logra: ModuleType) -> None:
    """NaN, infinity and finite values whose squares overflow are refused before the moment is touched."""
    for poison in (float("nan"), float("inf"), -float("inf"), 1e25):
        for form in FORMS:
            sketch, moment = torch.ones(3, 2), torch.full((3, 1), 0.5)
            sketch[2, 1] = poison
            try:
                logra.row_adam_direction(sketch, moment, step=2, beta2=0.95, epsilon=1e-8, form=form)
                raise AssertionError(f"{poison} was accepted")
            except FloatingPointError:
                pass
            assert bool((moment == 0.5).all()), f"{poison} changed the moment"


def refuse(optimizer: Any, model: nn.Sequential, poison: float) -> None:
    """A step that must be refused and leave everything as it was."""
    weights, state, update = bits(model), moments(optimizer), optimizer.update
    backward(model)
    last = list(optimizer.layers.values())[-1]
    last.sketch[0, 0] = poison
    try:
        optimizer.step()
        raise AssertionError(f"{poison} was accepted")
    except FloatingPointError as error:
        where = str(error)
    assert last.name in where, f"the message does not say where: {where}"
    assert same(weights, bits(model)), "weights changed"
    assert same(state, moments(optimizer)), "moments changed"
    assert optimizer.update == update, "the update was counted"
    optimizer.zero_grad()


def check_resume(logra: ModuleType, *, dtype: torch.dtype = torch.float32, stop: int = 2, **options: Any) -> None:
    """Killed after `stop` steps, taken up by an optimizer that has already been elsewhere: the same bits after six."""
    straight = chain(6, 9, 5).to(dtype)
    optimizer = build(logra, straight, **options)
    for step in range(6):
        if step == stop:
            saved, weights = through_a_file(optimizer.state_dict()), bits(straight)
        backward(straight, seed=step)
        optimizer.step()
    resumed = chain(6, 9, 5, seed=7).to(dtype)
    other = build(logra, resumed, **options)
    for step in range(4):
        backward(resumed, seed=90 + step)
        other.step()
    resumed.load_state_dict(weights)
    other.load_state_dict(saved)
    for step in range(stop, 6):
        backward(resumed, seed=step)
        other.step()
    assert same(bits(straight), bits(resumed)), f"other bits after resuming at {stop}"
    assert same(moments(optimizer), moments(other))


def check_global_generator_is_left_alone(logra: ModuleType) -> None:
    """Projections and rounding noise have generators of their own: dropout and sampling see no difference."""
    for draw in ("cpu", "device"):
        model, follower = chain(6, 9, 5).bfloat16(), chain(6, 9, 5).bfloat16()
        torch.manual_seed(7)
        expected = torch.rand(4)
        torch.manual_seed(7)
        optimizer = build(logra, model, low_precision="stochastic", keep_factors=True, draw=draw)
        for step in range(2):
            backward(model, seed=step)
            optimizer.step()
            logra.apply_factors(follower, optimizer.factors())
        assert torch.equal(torch.rand(4), expected)


def check_stochastic_rounding_is_unbiased(logra: ModuleType) -> None:
    """The mean of many roundings is the value itself, on both sides of zero, and values that bf16 holds stay."""
    values = torch.tensor([1.0 + 0.3 / 128, -1.0 - 0.3 / 128, 3.1415927, -1e-20, 0.5, 0.0])
    generator = torch.Generator(values.device).manual_seed(0)
    draws = logra.stochastic_round(values.repeat(20000, 1), generator).double()
    spacing = values.abs().double() / 128
    assert bool(((draws.mean(0) - values.double()).abs() <= 0.02 * spacing).all()), f"mean {draws.mean(0)}"
    assert bool((draws[:, 4] == 0.5).all() and (draws[:, 5] == 0).all())


def check_replica(logra: ModuleType, *, dtype: torch.dtype = torch.float32, **options: Any) -> None:
    """A replica that gets factors and seeds follows bit for bit over five updates."""
    model = chain(6, 9, 5).to(dtype)
    follower = copy.deepcopy(model)
    options = {"keep_factors": True, "factor_dtype": torch.bfloat16, **options}
    optimizer = build(logra, model, **options)
    masters: dict[str, Tensor] = {}
    for step in range(5):
        backward(model, seed=step)
        optimizer.step()
        logra.apply_factors(follower, through_a_file(optimizer.factors()), masters)
        assert same(bits(model), bits(follower)), f"other bits after update {step}"
