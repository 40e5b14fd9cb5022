"""A proposed update, and who may choose how much of it is applied."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from torch import Tensor, nn

if TYPE_CHECKING:
    from logra.optimizer import LoGRA


class Direction(NamedTuple):
    """A proposed update of one weight: W <- W - alpha D A for the linear layers that hold it."""

    modules: tuple[nn.Linear, ...]
    projection: Tensor  # A [r, k]
    direction: Tensor  # D [d, r], with step size, before alpha and rounding


class Controller(Protocol):
    """Chooses alpha for a proposed update; called by `step` between `propose` and `apply`."""

    def step_scale(self, optimizer: LoGRA) -> float:
        """alpha >= 0 for `optimizer.directions()`."""
        ...

    def state_dict(self) -> dict[str, Any]: ...

    def load_state_dict(self, state: Mapping[str, Any]) -> None: ...


@dataclass
class Proposal:
    """What `apply` will commit; dropping it leaves no trace."""

    directions: dict[str, Tensor]
    moments: dict[str, Tensor]
    clip: float
