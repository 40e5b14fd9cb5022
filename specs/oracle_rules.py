"""Reads `oracle`, `examples`, `boundaries` and `relations` of a template, each mistake with its place."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cache
from math import prod
from pathlib import Path
from typing import Any

from .documents import Document, Problem, did_you_mean
from .language import Expression, ExpressionError, Kind, Measure, Scope, kind_of_schema, load_measures, located
from .language import read_expression as _read
from .language.built_ins import NAMES
from .language.kinds import BOOL, NUMBERS, TEXT, join, list_of
from .oracle import Boundary, Judged, OracleExample, OracleSpec, Relation
from .problems import Steps
from .transforms import load_transforms

MOST_READINGS = 16


def read_judged(document: Document, path: Path) -> tuple[Judged, list[Problem]]:
    """What the file says of right and wrong, and everything wrong in that; the rest of the file is sound."""
    reader = _Reader(document, path)
    given = document.data.keys() & {"oracle", "examples", "boundaries", "relations"}
    if not given:
        return Judged(), []
    if "oracle" not in given:
        for key in sorted(given):
            reader.fault((), f"{key!r} is held to an oracle, and this file has none", key=key)
        return Judged(), reader.problems
    oracle = reader.oracle()
    judged = Judged(oracle, reader.examples(), reader.boundaries(), reader.relations())
    return judged, reader.problems


@cache
def _measures() -> Mapping[str, Measure]:
    return load_measures()


@cache
def _transforms() -> tuple[str, ...]:
    return tuple(transform.id for transform in load_transforms())


def _kinds(data: Mapping[str, Any]) -> dict[str, Kind]:
    """`text`, the constants, and the parameters that every instance gives."""
    declared = data["parameters"]["schema"]
    kinds = {name: kind_of_schema(declared["properties"][name]) for name in declared["required"]}
    constants = data.get("constants", {})
    return {
        "text": TEXT,
        **{name: list_of(TEXT) if isinstance(constants[name], list) else TEXT for name in constants},
        **kinds,
    }


class _Reader:
    """Goes through the parts in order; `kinds` grows by the names of axes and `let`."""

    def __init__(self, document: Document, path: Path) -> None:
        self.document, self.path, self.data = document, path, document.data
        self.problems: list[Problem] = []
        self.fixed = _kinds(document.data)
        self.kinds = dict(self.fixed)
        self.unread: set[str] = set()
        properties = document.data["parameters"]["schema"]["properties"]
        self.choices = {name: tuple(each["enum"]) for name, each in properties.items() if "enum" in each}

    def fault(self, steps: Iterable[str | int], message: str, *, key: str | None = None) -> None:
        self.problems.append(self.document.problem(steps, message, key=key))

    def expression(self, steps: Steps, told: str | int | bool, kinds: Mapping[str, Kind]) -> Expression | None:
        source = str(told)
        try:
            return _read(source, Scope(kinds, _measures(), self.choices))
        except ExpressionError as error:
            # what uses a name that could not be read is wrong only for that
            known = [
                fault for fault in error.faults if not any(f"no {name!r} here" in fault.message for name in self.unread)
            ]
            self.problems += located(self.path, self.document, steps, source, ExpressionError(known)) if known else []
            return None

    def predicate(self, steps: Steps, told: str | int | bool, kinds: Mapping[str, Kind]) -> Expression | None:
        found = self.expression(steps, told, kinds)
        if found is not None and found.kind != BOOL:
            self.fault(steps, f"a condition is true or false; this is of kind {found.kind}")
            return None
        return found

    def oracle(self) -> OracleSpec:
        told = self.data["oracle"]
        order = told["provenance"]["order"]
        if ("accept" in told) == ("python" in told) or ("python" in told and told.keys() & {"axes", "let"}):
            self.fault(("oracle",), "an oracle has either accept, with axes and let, or python alone")
            return OracleSpec(order)
        if "python" in told:
            return OracleSpec(order, python=told["python"], values=self.data.get("constants", {}))
        axes = {name: self.axis(name, readings) for name, readings in told.get("axes", {}).items()}
        if (readings := prod(map(len, axes.values()))) > MOST_READINGS:
            self.fault(("oracle", "axes"), f"{readings} readings where at most {MOST_READINGS} are allowed")
        let = {}
        for name, source in told.get("let", {}).items():
            found = self.expression(("oracle", "let", name), source, self.kinds)
            self.named("let", name, found.kind if found else None)
            let.update({name: found} if found else {})
        accept = self.predicate(("oracle", "accept"), told["accept"], self.kinds)
        if accept is not None and not self.problems:
            self.used(accept, axes, let)
        return OracleSpec(order, axes, let, accept, values=self.data.get("constants", {}))

    def axis(self, name: str, readings: Mapping[str, Any]) -> dict[str, Expression]:
        found: dict[str, Expression] = {}
        kind: Kind | None = None
        for reading, source in readings.items():
            steps = ("oracle", "axes", name, reading)
            each = self.expression(steps, source, self.kinds)
            if each is None:
                kind = None
                break
            kind = each.kind if kind is None else join(kind, each.kind)
            if kind is None:
                self.fault(steps, f"the readings of an axis are of one kind; this is {each.kind} after another")
                break
            found[reading] = each
        self.named("axes", name, kind)
        return found

    def named(self, where: str, name: str, kind: Kind | None) -> None:
        """Gives a name its kind from here on, unless it means something else already."""
        taken = "a measure" if name in _measures() else "built in" if name in NAMES else ""
        if name in self.kinds:
            taken = "a parameter or constant" if name in self.fixed else "an axis or a let before"
        if taken:
            self.fault(("oracle", where), f"{name!r} is {taken}; give this another name", key=name)
        elif kind is None:
            self.unread.add(name)
        else:
            self.kinds[name] = kind

    def used(
        self, accept: Expression, axes: Mapping[str, Mapping[str, Expression]], let: Mapping[str, Expression]
    ) -> None:
        """Each axis and each let decides something."""
        needed, waiting = set(accept.names), [*accept.names]
        while waiting:
            name = waiting.pop()
            inside = [let[name]] if name in let else [*axes.get(name, {}).values()]
            more = {inner for expression in inside for inner in expression.names} - needed
            needed |= more
            waiting += more
        boundaries = " ".join(str(each["measure"]) for each in self.data.get("boundaries", ()))
        for where, names in (("axes", axes), ("let", let)):
            for name in names:
                if name not in needed and not (where == "let" and name in boundaries):
                    self.fault(("oracle", where), f"{name!r} is not used by accept", key=name)

    def examples(self) -> tuple[OracleExample, ...]:
        # here, for templates need this module
        from .flags import load_traps
        from .templates import params_objections

        found: dict[str, OracleExample] = {}
        traps = [trap.id for trap in load_traps()]
        inputs: dict[str, str] = {}
        for index, each in enumerate(self.data.get("examples", ())):
            example = OracleExample(**{**each, "flags": tuple(each.get("flags", ()))})
            if example.id in found:
                self.fault(("examples", index, "id"), f"{example.id!r} stands in an earlier example too")
            found[example.id] = example
            first = inputs.setdefault(repr((sorted(example.params.items()), example.text)), example.id)
            if first != example.id:
                self.fault(("examples", index), f"{first!r} has the same params and text already")
            for message in params_objections(self.data["parameters"]["schema"], example.params):
                self.fault(("examples", index, "params"), message)
            for at, flag in enumerate(example.flags):
                if flag not in traps:
                    hint = did_you_mean(flag, traps)
                    self.fault(("examples", index, "flags", at), f"{flag!r} is not among the traps of flags.yaml{hint}")
        return tuple(found.values())

    def boundaries(self) -> tuple[Boundary, ...]:
        found = []
        arguments = {name: kind for name, kind in self.fixed.items() if name != "text"}
        for index, each in enumerate(self.data.get("boundaries", ())):
            steps = ("boundaries", index)
            measure = self.number((*steps, "measure"), each["measure"], self.kinds)
            at = [self.number((*steps, "at", place), told, arguments) for place, told in enumerate(each["at"])]
            if measure is not None:
                if "text" not in measure.names and not set(measure.names) - self.fixed.keys():
                    self.fault((*steps, "measure"), "this does not depend on the text")
                found.append(Boundary(measure, tuple(value for value in at if value is not None)))
        return tuple(found)

    def number(self, steps: Steps, told: str | int | bool, kinds: Mapping[str, Kind]) -> Expression | None:
        found = self.expression(steps, told, kinds)
        if found is not None and found.kind not in NUMBERS:
            self.fault(steps, f"a bound is a number; this is of kind {found.kind}")
            return None
        return found

    def relations(self) -> tuple[Relation, ...]:
        found = []
        seen: set[tuple[str, str]] = set()
        for what, told in self.data.get("relations", {}).items():
            for index, each in enumerate(told):
                steps: Steps = ("relations", what, index)
                plain = isinstance(each, str)
                edit = each if plain else each["edit"]
                if edit not in _transforms():
                    hint = did_you_mean(edit, _transforms())
                    self.fault(steps if plain else (*steps, "edit"), f"{edit!r} is not in transforms.yaml{hint}")
                when = (
                    None if plain or "when" not in each else self.predicate((*steps, "when"), each["when"], self.kinds)
                )
                key = (edit, "" if plain else str(each.get("when", "")))
                if key in seen:
                    self.fault(steps, f"{edit!r} stands here a second time")
                seen.add(key)
                found.append(Relation(edit, what == "must_change", when))
        return tuple(found)
