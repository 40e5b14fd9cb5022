"""Small replacements for the plumbing that pinned modules import: loggers, availability checks, scorer declarations.

None of them takes part in a verdict. A pin names the ones it uses in its YAML.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Callable
from typing import Any, TypeVar

_T = TypeVar("_T")


class SilentLogger:
    """Answers any logging call (logging's, loguru's) with nothing, and any chained call with itself."""

    def __getattr__(self, name: str) -> Callable[..., SilentLogger]:
        return self

    def __call__(self, *args: object, **kwargs: object) -> SilentLogger:
        return self


logger = SilentLogger()


def get_logger(*args: object, **kwargs: object) -> SilentLogger:
    return logger


def is_package_available(*names: object) -> bool:
    """Whether all can be imported; unlike the original, it asks for no metadata of the package that asks."""
    return all(importlib.util.find_spec(str(name)) is not None for name in names)


def requires(*names: object) -> Callable[[_T], _T]:
    """A decorator that would refuse a class whose packages are missing; here it changes nothing."""
    return lambda decorated: decorated


def check_nltk_data(*names: object, **kwargs: object) -> bool:
    """The resources of a pin are in place before it is imported."""
    return True


class InvalidBenchmark(Exception):
    """Raised by a checker that is given wrong arguments."""

    def __init__(self, message: str = "", *args: object) -> None:
        super().__init__(message, *args)
        self.message = message


class _Declared:
    """Stands for a class that a module only names in annotations or registers."""

    def __init__(self, *args: object, **kwargs: object) -> None:
        pass


class Score(_Declared):
    pass


class Scorer(_Declared):
    pass


class Target(_Declared):
    pass


class TaskState(_Declared):
    pass


def thread_safe(function: _T) -> _T:
    """A decorator that would take a lock; a child has one thread."""
    return function


def scorer(*args: object, **kwargs: object) -> Callable[[_T], _T]:
    """A decorator that would register a scorer."""
    return lambda decorated: decorated


def ifeval_metrics(*args: object, **kwargs: object) -> None:
    """A declaration of metrics."""


STAND_INS: dict[str, Any] = {
    made.__name__: made
    for made in (
        InvalidBenchmark,
        Score,
        Scorer,
        Target,
        TaskState,
        check_nltk_data,
        get_logger,
        ifeval_metrics,
        is_package_available,
        requires,
        scorer,
        thread_safe,
    )
}
STAND_INS["logger"] = logger
