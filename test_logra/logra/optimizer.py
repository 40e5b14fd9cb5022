"""LoGRA as a torch.optim.Optimizer: hooks that sketch, a proposal that changes nothing, and a merge that commits it."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import torch
from torch import Tensor, nn

from logra import checkpoint, replica
from logra.config import Config
from logra.groups import assign_groups, check_group, group_defaults
from logra.native import NativeAdamW
from logra.projection import Distribution, Draw, Law
from logra.proposal import Controller, Direction, Proposal
from logra.reduction import reduce_sketches
from logra.rounding import merge, storage_of, take_master
from logra.sketch import Anchor, SketchedLayer
from logra.step_size import floats, step_scales
from logra.targets import Targets, select_targets
from logra.update import (
    Form,
    clip_scale,
    projected_squared_norm,
    row_adam_direction,
    squared_norm,
    update_factor,
)


class LoGRA(torch.optim.Optimizer):  # type: ignore[misc]
    """Trains linear layers through low-rank gradient sketches: no dense gradient, no dense moments, full weights.

    During backward each target layer adds dY^T (X A^T) to a sketch S [d, r]; `step` turns S into a direction D and
    merges W <- W - alpha D A, then draws a new A. Use it where gradients and moments do not fit. Do not use it for
    small models (AdamW has momentum and sees the whole gradient), for layers that are not nn.Linear, or with
    GradScaler: use bf16 or float32.

    Arguments:
        model: its target weights get `requires_grad=False` and hooks; `close` undoes both.
        targets: names, last components or globs of linear layers, or a predicate (name, layer).
        groups: dicts with "targets" and any of lr, ratio, beta2, epsilon, weight_decay; other layers take the defaults.
        rank: r; memory is 8 r (d + k) bytes a layer during training, and 4 r d more during a step.
        lr: factor on every step, for schedules; 1.0 unless rule="lr", where it is needed and compares with Adam's.
        form: "norm_preserving" (the paper's code) or "plain" (NVIDIA's NeMo-RL).
        rule: "target_ratio": the whole update's norm is lr * ratio * the weights' norm. "trust_region": lr * D, each
            layer capped at ratio * ||W||. "lr": lr * D.
        epsilon: relative to the layer's mean root in the norm-preserving form, absolute in the plain one.
        weight_decay: decoupled, lr * weight_decay * W a step; plain form only. Not scaled by alpha.
        max_grad_norm: clip sketches and native gradients together at this norm of S A, which is about
            sqrt(1 + (k + 1) / r) times the dense gradient's.
        draw: "cpu" draws A alike on every machine; "device" is faster, alike on one kind of device only.
        factor_dtype: precision of U, and so of the merge.
        low_precision: for bf16 weights, "master" (float32 masters) or "stochastic" (rounding, no masters).
        native: options of the torch.optim.AdamW that trains the other parameters; None freezes them.
        keep_factors: hold the last U for `factors`, r d values a layer.
    """

    def __init__(
        self,
        model: nn.Module,
        *,
        targets: Targets | None = None,
        groups: Iterable[Mapping[str, Any]] = (),
        rank: int = 16,
        lr: float | None = None,
        form: Form = "norm_preserving",
        rule: str = "target_ratio",
        ratio: float | None = None,
        beta2: float = 0.95,
        epsilon: float = 1e-8,
        weight_decay: float = 0.0,
        max_grad_norm: float | None = None,
        distribution: Distribution = "rademacher",
        draw: Draw = "cpu",
        refresh: bool = True,
        base_seed: int = 42,
        factor_dtype: torch.dtype = torch.bfloat16,
        low_precision: str | None = None,
        native: Mapping[str, Any] | None = None,
        controller: Controller | None = None,
        keep_factors: bool = False,
    ) -> None:
        rounding = str(factor_dtype).removeprefix("torch.")  # plain values only: a checkpoint carries the choices
        drawn = (distribution, draw, refresh, base_seed)
        self.config = Config(rank, form, rule, *drawn, rounding, low_precision, max_grad_norm, native is not None)
        self.model = model
        self.controller = controller
        self.keep_factors = keep_factors
        self.update = 0
        self._proposal: Proposal | None = None
        self._applied: replica.Applied | None = None
        self._reduced = 0
        self._adopt(targets, groups, group_defaults(self.config, lr, ratio, beta2, epsilon, weight_decay), native)
        self._anchor = Anchor(model)

    def _adopt(
        self,
        targets: Targets | None,
        groups: Iterable[Mapping[str, Any]],
        defaults: dict[str, Any],
        native: Mapping[str, Any] | None,
    ) -> None:
        """Choose the layers, check everything, and only then freeze and hook them."""
        chosen = select_targets(self.model, targets)
        for name, modules in chosen.items():
            storage_of(modules[0].weight, self.config.low_precision, name)
        grouped = assign_groups(chosen, groups, defaults)
        for group in grouped:
            check_group(self.config, group)
            group["params"] = [chosen[name][0].weight for name in group["names"]]
        super().__init__(grouped, defaults)
        self._trained = [p for p in self.model.parameters() if p.requires_grad]
        weights = {modules[0].weight for modules in chosen.values()}
        rest = [p for p in self._trained if p not in weights]
        self._native = None if native is None else NativeAdamW(rest, native, self)
        # Frozen targets: autograd skips the dense G = dY^T X and still computes dX = dY W. What nobody trains is
        # frozen too, because its gradients would only pile up.
        for parameter in self._trained if self._native is None else weights:
            parameter.requires_grad_(False)
        c = self.config
        law = Law(c.rank, c.base_seed, c.distribution, c.draw, c.refresh)
        self.layers = {name: SketchedLayer(name, modules, law) for name, modules in chosen.items()}
        self._groups = {name: group for group in self.param_groups for name in group.get("names", ())}

    def add_param_group(self, param_group: dict[str, Any]) -> None:
        """Groups are fixed at construction; a weight added later would have no hooks."""
        if hasattr(self, "layers"):  # torch's own constructor comes through here as well
            raise RuntimeError("LoGRA's groups are fixed: pass groups= when you build it")
        super().add_param_group(param_group)

    def __getstate__(self) -> dict[str, Any]:
        raise TypeError("a LoGRA optimizer is bound to its model by hooks: copy or pickle its state_dict() instead")

    def close(self) -> None:
        """Remove the hooks and let the parameters that were trained before require gradients again."""
        for layer in self.layers.values():
            layer.detach()
        self._anchor.detach()
        for parameter in self._trained:
            parameter.requires_grad_(True)

    def zero_grad(self, set_to_none: bool = True) -> None:
        """Forget sketches, native gradients and a proposal that was not applied."""
        self._proposal = None
        self._reduced = 0
        for layer in self.layers.values():
            layer.clear()
        super().zero_grad(set_to_none)

    @torch.no_grad()  # type: ignore[untyped-decorator]
    def grad_norm(self) -> float:
        """The norm of what was accumulated: sqrt(sum ||S A||_F^2 + sum ||native gradients||^2), no S A being built."""
        self._reduce()
        squares = [projected_squared_norm(layer.sketch, layer.projection) for layer in self.layers.values()]
        squares += [squared_norm(g) for g in self._native.gradients()] if self._native else []
        return math.sqrt(sum(floats(squares)))

    @torch.no_grad()  # type: ignore[untyped-decorator]
    def clip_grad_norm_(self, max_norm: float) -> float:
        """Scale sketches and native gradients so that `grad_norm` is at most `max_norm`; returns it as it was.

        For plain loops; `max_grad_norm=` does the same within each step. Raises FloatingPointError, changing nothing,
        when the norm is not finite.
        """
        if not max_norm > 0:
            raise ValueError(f"max_norm is a positive number, not {max_norm}")
        norm: float = self.grad_norm()
        if not math.isfinite(norm):
            raise FloatingPointError(f"the gradient norm is {norm}; nothing was clipped")
        scale = clip_scale(norm, max_norm)
        for layer in self.layers.values():
            layer.sketch.mul_(scale)
        for gradient in self._native.gradients() if self._native else []:
            gradient.mul_(scale)
        return norm

    @torch.no_grad()  # type: ignore[untyped-decorator]
    def propose(self, *, tokens: float = 1.0) -> dict[str, Direction]:
        """Compute the directions of the next update; nothing that trains changes until `apply`.

        `tokens` divides the sketches: leave it at 1 when the loss is a mean, give the number of tokens when it is a
        sum. A constant factor cancels in the norm-preserving form, one that varies from step to step weighs the
        steps' moments. Raises FloatingPointError for NaN, infinity or an overflow; a step can then be tried again.
        """
        if self._proposal is not None:
            raise RuntimeError("an update is proposed already: apply() it, or drop it with zero_grad()")
        if not any(layer.backwards for layer in self.layers.values()):
            raise RuntimeError(
                "no sketch was accumulated since the last step: call backward() first. If you did, the forward pass "
                "ran without gradients, or under reentrant checkpointing with an input that needs none"
            )
        if not 0.0 < tokens < math.inf:
            raise ValueError(f"tokens is a positive number, not {tokens}")
        self._reduce()
        if self._native:
            self._native.check_finite()  # AdamW itself would put a NaN into its moments and go on
        clip = self._clip()
        directions, moments = {}, {}  # D [d, r] and the next v [d, 1], beside the v that is kept
        for name, layer in self.layers.items():
            moments[name] = self._moment(layer)  # row_adam_direction moves it on in place
            directions[name] = self._direction(layer, moments[name], clip / tokens)
        self._set_size(directions)
        self._proposal = Proposal(directions, moments, clip)
        return self.directions()

    def directions(self) -> dict[str, Direction]:
        """The proposed update by layer name; `apply(alpha)` makes it W <- W - alpha D A."""
        proposal = self._need_proposal()
        return {
            name: Direction(layer.modules, layer.projection, proposal.directions[name])
            for name, layer in self.layers.items()
        }

    @torch.no_grad()  # type: ignore[untyped-decorator]
    def apply(self, alpha: float = 1.0) -> None:
        """Commit the proposed update, scaled by `alpha` >= 0, and move on to the next projection.

        alpha = 0 counts as an update. Native AdamW and weight decay are not scaled.
        """
        proposal = self._need_proposal()
        if not 0.0 <= alpha < math.inf:
            raise ValueError(f"alpha is finite and >= 0, not {alpha}")
        dtype = self.config.torch_factor_dtype
        # U is made twice: holding every layer's at once would cost half a sketch more.
        if not all(
            floats([torch.isfinite(update_factor(d, alpha, dtype)).all() for d in proposal.directions.values()])
        ):
            raise FloatingPointError(f"an update is infinite in {dtype} at alpha {alpha}; nothing was changed")
        masters = {name: self._master(layer) for name, layer in self.layers.items()}
        # From here on everything is committed: the merge with the projection that made the sketch, then the refresh.
        applied = replica.Applied(self.config, self.update, {})
        for name, layer in self.layers.items():
            weight, group = layer.weight, self._groups[name]
            decay = 1.0 - group["lr"] * group["weight_decay"]  # decoupled, as AdamW's
            storage = storage_of(weight, self.config.low_precision, name)
            factor = update_factor(proposal.directions[name], alpha, dtype)
            seed, a = layer.noise_seed, layer.projection
            # W [d, k] <- decay W - U [d, r] A [r, k]
            merge(weight, factor, a, seed=seed, decay=decay, master=masters[name], storage=storage)
            self._state(layer)["row_second_moment"] = proposal.moments[name]
            if self.keep_factors:
                applied.add(layer, factor, decay, storage)
        if self._native:
            self._native.step(proposal.clip)
        self._applied = applied if self.keep_factors else None
        self._advance(self.update + 1)

    def step(self, closure: Callable[[], Any] | None = None, *, tokens: float = 1.0) -> Any:  # type: ignore[override]
        """Propose, let the controller choose alpha if there is one, and apply. A refused step changes nothing.

        A step uses up what was accumulated, sketches and native gradients alike, as if zero_grad() came after it.
        """
        loss = None
        if closure is not None:
            with torch.enable_grad():
                loss = closure()
        self.propose(tokens=tokens)
        # The controller sees the whole proposal, alpha = 1, over weights that are still the old ones.
        try:
            self.apply(1.0 if self.controller is None else self.controller.step_scale(self))
        finally:
            self._proposal = None  # sketches stay, so that a step that failed here can be taken again
        return loss

    def sketch_norm(self) -> float:
        """sqrt(sum ||S||_F^2) of what was accumulated since the last step."""
        self._reduce()
        return math.sqrt(sum(floats([squared_norm(layer.sketch) for layer in self.layers.values()])))

    def state_dict(self) -> dict[str, Any]:
        """Plain tensors and values: row moments, masters, native moments, and what `load_state_dict` compares.

        Sketches are not in it, as gradients are not in other optimizers': save between steps.
        """
        if self._proposal is not None:
            raise RuntimeError("an update is proposed but not applied; save before propose() or after apply()")
        return checkpoint.describe(self, super().state_dict())

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Take up where `state_dict` left; bitwise on the same kind of device.

        Raises ValueError, changing nothing, with every choice in which the checkpoint differs.
        """
        checkpoint.check(self, state_dict)
        self.zero_grad()  # sketches of the projections that were in use before
        self._applied = None  # an update of the run that is left
        self._advance(checkpoint.restore(self, state_dict))

    def factors(self) -> dict[str, Any]:
        """The last update as a message for `apply_factors`: U and a seed for each layer, plain tensors and values."""
        if self._applied is None:
            raise RuntimeError(
                "no update to send: nothing was applied yet"
                if self.keep_factors
                else "factors are not kept; build LoGRA with keep_factors=True"
            )
        return self._applied.message()

    def _need_proposal(self) -> Proposal:
        if self._proposal is None:
            raise RuntimeError("no update is proposed; call propose() first")
        return self._proposal

    def _state(self, layer: SketchedLayer) -> dict[str, Any]:
        state: dict[str, Any] = self.state[layer.weight]
        return state

    def _moment(self, layer: SketchedLayer) -> Tensor:
        # A copy: the moment of a refused or dropped proposal must not survive it.
        kept = self.state[layer.weight].get("row_second_moment") if layer.weight in self.state else None
        if kept is None:
            return torch.zeros(layer.weight.shape[0], 1, dtype=torch.float32, device=layer.weight.device)
        return kept.to(device=layer.weight.device, copy=True)

    def _master(self, layer: SketchedLayer) -> Tensor | None:
        if storage_of(layer.weight, self.config.low_precision, layer.name) != "master":
            return None
        return take_master(self._state(layer), layer.weight, layer.name)

    def _direction(self, layer: SketchedLayer, moment: Tensor, scale: float) -> Tensor:
        group = self._groups[layer.name]
        try:
            return row_adam_direction(
                layer.sketch * scale,
                moment,
                step=self.update + 1,
                beta2=group["beta2"],
                epsilon=group["epsilon"],
                form=self.config.form,
            )
        except FloatingPointError as error:
            raise FloatingPointError(
                f"{layer.name}: {error}. Nothing was changed: call zero_grad() and go on with the next batch"
            ) from None

    def _set_size(self, directions: dict[str, Tensor]) -> None:
        masters = {name: self._master(layer) for name, layer in self.layers.items()}
        weights = {n: layer.weight if masters[n] is None else masters[n] for n, layer in self.layers.items()}
        projections = {name: layer.projection for name, layer in self.layers.items()}
        scales = step_scales(self.config.rule, directions, projections, weights, self._groups)
        for name, direction in directions.items():
            direction.mul_(scales[name])  # D now has its step size: the update at alpha = 1

    def _clip(self) -> float:
        if self.config.max_grad_norm is None:
            return 1.0
        norm = self.grad_norm()
        if not math.isfinite(norm):
            raise FloatingPointError(f"the gradient norm is {norm}. Nothing was changed: call zero_grad() and go on")
        return clip_scale(norm, self.config.max_grad_norm)

    def _reduce(self) -> None:
        # Reducing again after more backward passes is right: the mean of equal sketches is the sketch.
        count = sum(layer.backwards for layer in self.layers.values())
        if count != self._reduced:
            reduce_sketches(layer.sketch for layer in self.layers.values())
            self._reduced = count

    def _advance(self, update: int) -> None:
        self.update = update
        self._proposal = None
        self._reduced = 0
        for layer in self.layers.values():
            layer.advance(update)
