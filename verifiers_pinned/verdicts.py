"""The one enumeration of verdicts, how a returned value becomes one, and what a verifier that cannot be had raises."""

from __future__ import annotations

from enum import Enum

from verifiers_pinned.errors import PinError


class Verdict(str, Enum):
    """What one call of a verifier came to. Only `accept` and `reject` are answers."""

    accept = "accept"
    reject = "reject"
    crash = "crash"
    timeout = "timeout"
    unsupported = "unsupported"
    not_run = "not_run"

    def __str__(self) -> str:
        return self.value


class VerifierUnavailable(PinError):
    """A pin that is there but cannot be used: the fault is in the pin or its surroundings, never in a response."""

    def __init__(self, key: str, reason: str) -> None:
        super().__init__(f"pin {key}: {reason}")
        self.key = key
        self.reason = reason


def answer_of(value: object) -> bool | None:
    """The boolean that `value` stands for, or None where it stands for none.

    True, False and numpy's bool are booleans. Everything else, 1 and 0 included, is not: a verifier that declares a
    boolean and returns a match, a list or nothing at all has a path that its authors did not think of.
    """
    if value is True or value is False:
        return value
    if type(value).__module__ == "numpy" and type(value).__name__ in ("bool", "bool_"):
        return bool(value)
    return None
