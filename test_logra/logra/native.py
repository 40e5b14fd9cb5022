"""torch's own AdamW for the parameters that are not sketched: biases, norms, embeddings."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor, nn


class NativeAdamW:
    """An AdamW whose param group and state are its owner's, so schedulers and checkpoints see one optimizer."""

    def __init__(
        self, parameters: list[nn.Parameter], options: Mapping[str, Any], owner: torch.optim.Optimizer
    ) -> None:
        if not parameters:
            raise ValueError("native AdamW was asked for, but no parameter beside the targets requires a gradient")
        self.parameters = parameters
        self.adamw = torch.optim.AdamW(parameters, **options)
        self.adamw.state = owner.state
        owner.param_groups.extend(self.adamw.param_groups)

    def gradients(self) -> list[Tensor]:
        """The gradients that are there."""
        return [p.grad for p in self.parameters if p.grad is not None]

    def check_finite(self) -> None:
        """Refuse gradients that would poison a moment, before any is touched."""
        for parameter in self.parameters:
            gradient = parameter.grad
            if gradient is not None and not bool(torch.isfinite(gradient.float().square()).all()):
                shape = tuple(parameter.shape)
                raise FloatingPointError(f"a gradient of the native AdamW, shape {shape}, or its square is not finite")

    def step(self, scale: float) -> None:
        """One AdamW step on gradients scaled by the global clip, which it uses up as a merge does sketches."""
        if scale != 1.0:
            for gradient in self.gradients():
                gradient.mul_(scale)
        self.adamw.step()
        # A sketch ends with its projection. In a loop that leaves out zero_grad() only these would pile up.
        self.adamw.zero_grad()
