"""LoGRA: reinforcement learning with low-rank gradient sketches."""

from logra.control import PredictedKLController, StepScale, budget_schedule
from logra.optimizer import LoGRA
from logra.predicted_kl import PredictedKLError, kl_step_scale, predicted_kl
from logra.probe import MissingDerivative
from logra.projection import make_projection, projection_seed
from logra.proposal import Controller, Direction
from logra.replica import apply_factors
from logra.responses import Responses
from logra.rounding import stochastic_round
from logra.targets import DEFAULT_TARGETS
from logra.update import row_adam_direction

__all__ = [
    "DEFAULT_TARGETS",
    "Controller",
    "Direction",
    "LoGRA",
    "MissingDerivative",
    "PredictedKLController",
    "PredictedKLError",
    "Responses",
    "StepScale",
    "apply_factors",
    "budget_schedule",
    "kl_step_scale",
    "make_projection",
    "predicted_kl",
    "projection_seed",
    "row_adam_direction",
    "stochastic_round",
]
