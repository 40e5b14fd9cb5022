"""LoGRA: reinforcement learning with low-rank gradient sketches."""

from logra.optimizer import Direction, LoGRA
from logra.projection import make_projection, projection_seed
from logra.replica import apply_factors
from logra.rounding import stochastic_round
from logra.targets import DEFAULT_TARGETS
from logra.update import row_adam_direction

__all__ = [
    "DEFAULT_TARGETS",
    "Direction",
    "LoGRA",
    "apply_factors",
    "make_projection",
    "projection_seed",
    "row_adam_direction",
    "stochastic_round",
]
