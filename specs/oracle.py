"""What a template's file says of right and wrong: its oracle, examples, boundaries and relations."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import product
from typing import Any

from .language import Expression

ONLY = "only"
"""The name of the reading where the words leave no choice."""


@dataclass(frozen=True)
class OracleSpec:
    """`accept` over `axes` and `let`, or the function `python` (`module.function`); `order` says who came first.

    An axis holds readings by name. Its expressions may name the axes before it, and `let` what stands before. `values`
    are the constants of the template.
    """

    order: str
    axes: Mapping[str, Mapping[str, Expression]] = field(default_factory=dict, hash=False)
    let: Mapping[str, Expression] = field(default_factory=dict, hash=False)
    accept: Expression | None = None
    python: str | None = None
    values: Mapping[str, str | list[str]] = field(default_factory=dict, hash=False)

    @property
    def readings(self) -> tuple[str, ...]:
        """The names of the readings, as in `tokens=spaces, case=exact`; the first axis changes slowest."""
        named = [[f"{axis}={reading}" for reading in readings] for axis, readings in self.axes.items()]
        return tuple(", ".join(chosen) for chosen in product(*named)) if named else (ONLY,)


@dataclass(frozen=True)
class OracleExample:
    """A response with what is said of it: `expect` is `accept`, `reject` or `either`."""

    id: str
    params: Mapping[str, Any] = field(hash=False)
    text: str
    expect: str
    flags: tuple[str, ...] = ()
    reason: str = ""


@dataclass(frozen=True)
class Boundary:
    """A measure of the response, and the values of it, from the parameters, at which verdicts may change."""

    measure: Expression
    at: tuple[Expression, ...]


@dataclass(frozen=True)
class Relation:
    """An edit of a response after which the verdict is the same, or the other, wherever `when` holds."""

    edit: str
    change: bool
    when: Expression | None = None


@dataclass(frozen=True)
class Judged:
    """Everything of a template's file that says what is right."""

    oracle: OracleSpec | None = None
    examples: tuple[OracleExample, ...] = ()
    boundaries: tuple[Boundary, ...] = ()
    relations: tuple[Relation, ...] = ()
