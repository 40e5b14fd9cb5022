"""LoGRA: reinforcement learning with low-rank gradient sketches."""

from logra.optimizer import LoGRA
from logra.projection import make_projection, projection_seed
from logra.proposal import Controller, Direction
from logra.replica import apply_factors
from logra.rounding import stochastic_round
from logra.targets import DEFAULT_TARGETS
from logra.update import row_adam_direction

__all__ = [
    "DEFAULT_TARGETS",
    "Controller",
    "Direction",
    "LoGRA",
    "apply_factors",
    "make_projection",
    "projection_seed",
    "row_adam_direction",
    "stochastic_round",
]
