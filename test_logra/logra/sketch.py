"""Sketching a linear layer's weight gradient during backward, without ever forming it: S += dY^T (X A^T)."""

from __future__ import annotations

import math
from typing import Any

import torch
from torch import Tensor, nn
from torch.autograd.function import once_differentiable

from logra.projection import Law, projection_seed


class SketchedLayer:
    """One weight [d, k] with its projection A [r, k] and its sketch S [d, r], both float32, made when first needed.

    `modules` are the linear layers that share the weight: one, or several that are tied.
    """

    def __init__(self, name: str, modules: tuple[nn.Linear, ...], law: Law) -> None:
        self.name = name
        self.modules = modules
        self.law = law
        self.update = 0
        self.backwards = 0
        self._sketch: Tensor | None = None  # S [d, r]
        self._projection: Tensor | None = None  # A [r, k]
        # A differentiable input of its own lets a frozen layer take part in backward, whatever comes before it.
        self._root = torch.zeros((), requires_grad=True)
        self._handles = [module.register_forward_hook(self._after_forward, with_kwargs=True) for module in modules]

    @property
    def weight(self) -> nn.Parameter:
        return self.modules[0].weight

    @property
    def seed(self) -> int:
        """The seed of the current projection."""
        return self.law.seed(self.name, self.update)

    @property
    def noise_seed(self) -> int:
        """The seed of this update's rounding noise, which differs from step to step even where A does not."""
        return projection_seed(self.law.base_seed, self.update, self.name)

    @property
    def projection(self) -> Tensor:
        """A [r, k] float32 on the weight's device."""
        weight = self.weight
        if self._projection is None or self._projection.device != weight.device:
            self._projection = self.law.matrix(self.name, self.update, weight.shape[1], weight.device)
        return self._projection

    @property
    def sketch(self) -> Tensor:
        """S [d, r] float32 on the weight's device; zero where nothing was accumulated."""
        weight = self.weight
        if self._sketch is None:
            self._sketch = torch.zeros(weight.shape[0], self.law.rank, dtype=torch.float32, device=weight.device)
        elif self._sketch.device != weight.device:
            self._sketch = self._sketch.to(weight.device)
        return self._sketch

    def clear(self) -> None:
        """Forget what was accumulated."""
        if self._sketch is not None:
            self._sketch.zero_()
        self.backwards = 0

    def advance(self, update: int) -> None:
        """Move on to the projection of `update`, once the update made with the present one is merged."""
        if self.law.refresh and update != self.update:
            self._projection = None  # drawn when next needed, where the weight then is
        self.update = update
        self.clear()

    def detach(self) -> None:
        """Remove the hooks."""
        for handle in self._handles:
            handle.remove()
        self._handles = []

    def accumulate(self, gradient: Tensor, projected: Tensor, scale: float) -> None:
        """S += scale dY^T X~ for gradient dY [..., d] and projected inputs X~ = X A^T [n, r]."""
        dtype = torch.promote_types(gradient.dtype, projected.dtype)
        rows = gradient.reshape(-1, gradient.shape[-1]).to(dtype)  # dY [n, d]
        # The product is made in the activations' precision; the sum over microbatches never is.
        # [d, n] @ [n, r]: G A^T = dY^T X A^T, multiplied from the right so that G [d, k] never exists.
        self.sketch.add_((rows.T @ projected.to(dtype)).float(), alpha=scale)
        self.backwards += 1

    def _after_forward(
        self, module: nn.Module, inputs: tuple[Any, ...], named: dict[str, Any], output: Tensor
    ) -> Tensor | None:
        if not torch.is_grad_enabled():
            return None
        with torch.no_grad():
            x = inputs[0] if inputs else named["input"]  # [..., k]
            # X~ = X A^T [n, r] in the activations' dtype, which autocast may lower further
            projected = x.reshape(-1, x.shape[-1]) @ self.projection.to(x.dtype).T
        sketched: Tensor = _Sketch.apply(output, self._root, projected, self, self._scale(projected.dtype))
        return sketched

    def _scale(self, dtype: torch.dtype) -> float:
        # 1/sqrt(r) is exact in bf16 only for powers of 4. Signs survive the cast, so one factor makes the sketch that
        # of the float32 A which the merge uses. A Gaussian's entries round up and down and need none.
        if self.law.distribution != "rademacher" or dtype in (torch.float32, torch.float64):
            return 1.0
        exact = 1.0 / math.sqrt(self.law.rank)
        return exact / float(torch.tensor(exact, device="cpu").to(dtype))


class _Sketch(torch.autograd.Function):  # type: ignore[misc]
    """The identity on a layer's output, whose backward adds to the layer's sketch.

    X~ is a saved tensor, so checkpointing drops and recomputes it and a freed graph frees it: the only extra
    activation is [n, r] a layer.
    """

    @staticmethod
    def forward(
        ctx: Any, output: Tensor, root: Tensor, projected: Tensor, layer: SketchedLayer, scale: float
    ) -> Tensor:
        ctx.save_for_backward(projected)
        ctx.layer, ctx.scale, ctx.update = layer, scale, layer.update
        # In place rather than a view: models may go on to change a layer's output in place.
        ctx.mark_dirty(output)
        return output

    @staticmethod
    @once_differentiable  # type: ignore[untyped-decorator]
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, None, None, None, None]:
        layer: SketchedLayer = ctx.layer
        if layer.law.refresh and ctx.update != layer.update:
            raise RuntimeError(
                f"{layer.name}: backward through a graph from before the last optimizer step; its inputs were "
                "projected with a matrix that is no longer in use. Run the forward pass again after each step."
            )
        (projected,) = ctx.saved_tensors  # under checkpointing this is where the block runs again
        layer.accumulate(gradient, projected, ctx.scale)
        return gradient, None, None, None, None  # the identity: dX is as without a hook


class _Rooted(torch.autograd.Function):  # type: ignore[misc]
    """The identity, through which a tensor requires a gradient without being a leaf that would keep one."""

    @staticmethod
    def forward(ctx: Any, output: Tensor, root: Tensor) -> Tensor:
        ctx.mark_dirty(output)
        return output

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[None, None]:
        return None, None


class Anchor:
    """Gives a frozen model's graph a beginning: the outputs of frozen embeddings require a gradient.

    A target layer needs none of this, but reentrant checkpointing records a block only if its input needs a gradient.
    """

    def __init__(self, model: nn.Module) -> None:
        self._root = torch.zeros((), requires_grad=True)
        embeddings = [module for module in model.modules() if isinstance(module, nn.Embedding)]
        self._handles = [module.register_forward_hook(self._after_forward) for module in embeddings]

    def detach(self) -> None:
        """Remove the hooks."""
        for handle in self._handles:
            handle.remove()
        self._handles = []

    def _after_forward(self, module: nn.Module, inputs: tuple[Any, ...], output: Tensor) -> Tensor | None:
        if not torch.is_grad_enabled() or output.requires_grad:
            return None
        rooted: Tensor = _Rooted.apply(output, self._root)
        return rooted
