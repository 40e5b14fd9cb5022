"""Judges responses: an answer for each reading of a template's words, from its oracle."""

from __future__ import annotations

import importlib
import traceback
from collections.abc import Callable, Iterable, Mapping
from functools import lru_cache
from itertools import product
from types import MappingProxyType
from typing import Any, NamedTuple

from specs import Template
from specs.language import Expression
from specs.oracle import ONLY, OracleSpec
from specs.problems import shortened

from .compiling import STEPS, Params, compile_function, compile_piece, load_lines

ACCEPT, REJECT, EITHER = "accept", "reject", "either"
WANTED = "accept"


class Judgement(NamedTuple):
    """`answer` is accept or reject where all readings agree, otherwise either; `readings` is each one's answer."""

    answer: str
    readings: Mapping[str, str]


class OracleError(Exception):
    """An oracle that has no answer, which is a fault of the oracle and never a verdict."""

    def __init__(self, template: str, place: str, params: Params, text: str, reason: str) -> None:
        self.template, self.place, self.params, self.text, self.reason = template, place, params, text, reason
        super().__init__(template, place, params, text, reason)

    def __str__(self) -> str:
        given = f"params {shortened(repr(dict(self.params)), 200)}, text {shortened(repr(self.text), 200)}"
        return f"{self.template}: the oracle has no answer in {self.place}: {self.reason} ({given})"


class NoOracle(LookupError):
    """A template that has no oracle yet."""

    def __init__(self, template: str) -> None:
        super().__init__(f"{template} has no oracle")


Judge = Callable[[Params, str], Judgement]


def judge(template: Template, params: Params, text: str) -> Judgement:
    """What the template's oracle says of `text` as a response to an instance with these arguments.

    The arguments are not checked. Raises NoOracle, and OracleError where the oracle fails.
    """
    return oracle_of(template)(params, text)


def judge_batch(template: Template, calls: Iterable[tuple[Params, str]]) -> list[Judgement]:
    """As `judge`, for each of the calls in order."""
    judged = oracle_of(template)
    return [judged(params, text) for params, text in calls]


@lru_cache(maxsize=1024)
def oracle_of(template: Template) -> Judge:
    """The template's oracle as a function of arguments and text, compiled once. Raises NoOracle."""
    if template.oracle is None:
        raise NoOracle(template.name)
    if template.oracle.python is not None:
        return _written(template.name, template.oracle.python)
    return _compiled(template.name, template.oracle)


def _judgement(readings: Iterable[str], answers: Iterable[bool]) -> Judgement:
    told = {name: ACCEPT if answer else REJECT for name, answer in zip(readings, answers, strict=True)}
    several = set(told.values())
    return Judgement(several.pop() if len(several) == 1 else EITHER, MappingProxyType(told))


def _compiled(name: str, oracle: OracleSpec) -> Judge:
    assert oracle.accept is not None
    answers = values_of(name, oracle, oracle.accept)
    readings = oracle.readings
    # one object for each pattern of answers, of which few ever occur
    known: dict[tuple[bool, ...], Judgement] = {}

    def judged(params: Params, text: str) -> Judgement:
        given = answers(params, text)
        found = known.get(given)
        if found is None:
            found = known[given] = _judgement(readings, given)
        return found

    return judged


def values_of(name: str, oracle: OracleSpec, wanted: Expression) -> Callable[[Params, str], tuple[Any, ...]]:
    """The value of an expression over the names of an oracle, in each of its readings; raises OracleError when called.

    `name` is that of the template, for the error.
    """
    file = f"<oracle {name}>"
    places, body = _body(oracle, wanted)
    values = compile_function("values", body, file, {})

    def valued(params: Params, text: str) -> tuple[Any, ...]:
        try:
            given: tuple[Any, ...] = values(params, text)
        except Exception as error:
            raise OracleError(name, _place(error, file, places), params, text, _reason(error)) from error
        return given

    return valued


def _reason(error: Exception) -> str:
    return f"{type(error).__name__}: {error}"


def _place(error: Exception, file: str, places: list[str]) -> str:
    lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == file]
    # the first line of the function is its head
    return places[lines[-1] - 2] if lines and lines[-1] is not None else "the whole"


def _body(oracle: OracleSpec, wanted: Expression) -> tuple[list[str], list[str]]:
    """For each line of a function the place that it comes from, and the lines: they give the value in all readings."""
    writer = _Writer(oracle, wanted)
    for axis, readings in oracle.axes.items():
        for reading, expression in readings.items():
            writer.write(axis, expression, reading)
    for name, expression in oracle.let.items():
        writer.write(name, expression)
    writer.write(WANTED, wanted)
    values = [writer.variable(WANTED, chosen) for chosen in product(*map(tuple, oracle.axes.values()))]
    return [*writer.places, "the answers"], [*writer.lines, f"return ({', '.join(values)},)"]


class _Writer:
    """Writes each value once for every choice of the axes that it depends on, and no more often."""

    def __init__(self, oracle: OracleSpec, wanted: Expression) -> None:
        self.axes = list(oracle.axes)
        self.options = {axis: tuple(readings) for axis, readings in oracle.axes.items()}
        self.depends: dict[str, tuple[str, ...]] = {}
        self.names: dict[tuple[str, tuple[str, ...]], str] = {}
        expressions = [each for readings in oracle.axes.values() for each in readings.values()]
        expressions += [*oracle.let.values(), wanted]
        own = {*oracle.axes, *oracle.let, *oracle.values}
        kinds = {name: kind for each in expressions for name, kind in each.kinds.items() if name not in own}
        constants = [f"{name} = {value!r}" for name, value in oracle.values.items()]
        self.lines = [*load_lines(kinds), *STEPS, *constants]
        self.places = ["the arguments"] * len(self.lines)

    def write(self, name: str, expression: Expression, reading: str | None = None) -> None:
        own = {name} if reading is not None else set()
        inside = {axis for used in expression.names for axis in self.depends.get(used, ())}
        axes = tuple(axis for axis in self.axes if axis in inside | own)
        if reading is not None:
            # the readings of an axis may look at different axes before it: each is written for all of these
            before = self.axes[: self.axes.index(name)]
            axes = (*before, name) if before else (name,)
        self.depends[name] = axes
        for chosen in product(*(self.options[axis] if axis != name else (reading,) for axis in axes)):
            at = {axis: str(option) for axis, option in zip(axes, chosen, strict=True)}
            renamed = {used: self._at(used, at) for used in expression.names if used in self.depends}
            variable = f"_v{len(self.names)}"
            piece = compile_piece(expression, renamed, f"{variable}_")
            lines = [*piece.lines, f"{variable} = {piece.value}"]
            self.lines += lines
            told = ", ".join(f"{axis}={option}" for axis, option in at.items())
            self.places += [f"{name} ({told or ONLY})"] * len(lines)
            self.names[name, tuple(at.values())] = variable

    def _at(self, name: str, at: Mapping[str, str]) -> str:
        return self.names[name, tuple(at[axis] for axis in self.depends[name])]

    def variable(self, name: str, chosen: tuple[str, ...]) -> str:
        return self._at(name, dict(zip(self.axes, chosen, strict=True)))


def _written(name: str, told: str) -> Judge:
    module, _, function = told.rpartition(".")
    try:
        answer = getattr(importlib.import_module(f"oracles.written.{module}"), function)
    except (ImportError, AttributeError) as error:
        raise NoOracle(f"{name}: its oracle {told} is not in oracles/written ({error}); the template") from error

    def judged(params: Params, text: str) -> Judgement:
        try:
            given = answer(params, text)
            told = dict(given) if isinstance(given, Mapping) else {ONLY: given}
            if not told or any(type(each) is not bool for each in told.values()):
                raise TypeError(f"gives {given!r}, not True or False by reading")
        except Exception as error:
            raise OracleError(name, function, params, text, _reason(error)) from error
        return _judgement(told, told.values())

    return judged
