"""A transformers.Trainer callback that gives the KL controller the sequences each step trains on."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn
from transformers import TrainerCallback

from logra.control import PredictedKLController
from logra.responses import Responses

_IGNORED = -100  # transformers' label of a token outside the loss


class PredictedKLCallback(TrainerCallback):  # type: ignore[misc]
    """Reads the model's own training inputs; add it beside LoGRA(..., controller=controller).

    Generated tokens are those with a label and, in TRL's GRPOTrainer, which has no labels, the last
    `logits_to_keep` - 1 that are not padding. What the controller decided is in `controller.last`. Losses that
    call a part of the model (Liger's) are not seen: call `controller.observe` there.
    Log-probabilities are not seen either, so there is no mismatch without a call of `observe`.
    """

    def __init__(self, controller: PredictedKLController) -> None:
        self.controller = controller
        self._hook: Any = None

    def on_train_begin(self, args: Any, state: Any, control: Any, model: nn.Module, **kwargs: Any) -> None:
        """Start to read."""
        self._remove()
        self._hook = model.register_forward_pre_hook(self._read, with_kwargs=True)

    def on_step_begin(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        """Drop what a step that was given up has left."""
        self.controller.forget()

    def on_train_end(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        """Stop to read."""
        self._remove()

    def _remove(self) -> None:
        if self._hook is not None:
            self._hook.remove()
            self._hook = None

    def _read(self, model: nn.Module, arguments: tuple[Any, ...], inputs: dict[str, Any]) -> None:
        ids = inputs.get("input_ids", arguments[0] if arguments else None)
        # Evaluation, a reference policy's log-probabilities and the probe itself run without gradients.
        if not (torch.is_grad_enabled() and model.training and isinstance(ids, Tensor)):
            return
        mask = inputs.get("attention_mask")
        generated = _generated(ids, mask, inputs)
        if generated is not None:
            plain = mask if isinstance(mask, Tensor) and mask.shape == ids.shape else None
            self.controller.observe(Responses(ids, generated, attention_mask=plain))


def _generated(ids: Tensor, mask: Any, inputs: dict[str, Any]) -> Tensor | None:
    labels, keep = inputs.get("labels"), inputs.get("logits_to_keep")
    if isinstance(labels, Tensor):
        return labels != _IGNORED
    if isinstance(keep, int) and keep > 1:
        tail = torch.arange(ids.shape[1], device=ids.device) > ids.shape[1] - keep  # the last keep - 1
        return tail.expand_as(ids) & (mask.bool() if isinstance(mask, Tensor) else True)
    return None
