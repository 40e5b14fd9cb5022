"""Finds the kind of an expression from the kinds of its names, or everything in it that does not fit together."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from ..problems import did_you_mean, quoted
from .built_ins import BUILT_INS, NAMES
from .grammar import ExpressionError, Fault, Source, parse
from .kinds import ANY, BOOL, FLOAT, INT, NUMBERS, TEXT, Kind, fits, is_ordered, join, list_of, set_of
from .kinds import kind_of_schema as _kind_of_schema
from .measures import Measure

SIGNS = {
    ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/", ast.FloorDiv: "//", ast.Mod: "%", ast.BitAnd: "&",
    ast.BitOr: "|", ast.Eq: "==", ast.NotEq: "!=", ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=",
    ast.In: "in", ast.NotIn: "not in",
}  # fmt: skip


@dataclass(frozen=True)
class Scope:
    """What an expression may name: values by kind, measures, and for texts from a fixed choice, the choice."""

    kinds: Mapping[str, Kind]
    measures: Mapping[str, Measure]
    choices: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    @classmethod
    def of_templates(cls, schemas: Iterable[Mapping[str, Any]], measures: Mapping[str, Measure]) -> Scope:
        """`text`, and the parameters that all of these templates have and mean the same kind of value by."""
        common: dict[str, dict[str, Any]] | None = None
        for schema in schemas:
            here = dict(schema["properties"])
            common = here if common is None else _in_both(common, here)
        kinds = {name: _kind_of_schema(declared) for name, declared in (common or {}).items()}
        choices = {name: tuple(declared["enum"]) for name, declared in (common or {}).items() if "enum" in declared}
        return cls({"text": TEXT, **kinds}, measures, choices)


def _in_both(one: Mapping[str, Any], other: Mapping[str, Any]) -> dict[str, Any]:
    same = {name: one[name] for name in one if name in other}
    for name, declared in list(same.items()):
        if _kind_of_schema(declared) != _kind_of_schema(other[name]):
            del same[name]
        elif declared.get("enum") != other[name].get("enum"):
            same[name] = {key: value for key, value in declared.items() if key != "enum"}
    return same


@dataclass(frozen=True)
class Expression:
    """A checked expression: its text, its kind, its tree, and the names outside of it that it uses."""

    source: str
    kind: Kind
    names: frozenset[str]
    tree: ast.Expression = field(compare=False, repr=False)
    kinds: Mapping[str, Kind] = field(compare=False, repr=False)


def read_predicate(source: str, scope: Scope) -> Expression:
    """The expression in `source`, which is true or false. Raises ExpressionError."""
    expression = read_expression(source, scope)
    if expression.kind != BOOL:
        raise ExpressionError([Fault(1, 1, f"a predicate is true or false; this is {_a(expression.kind)}")])
    return expression


def read_expression(source: str, scope: Scope) -> Expression:
    """The expression in `source`, with its kind. Raises ExpressionError with everything wrong in it."""
    text = Source(source)
    tree = parse(text)
    checker = _Checker(text, scope)
    kind = checker.kind(tree.body)
    if checker.faults or kind is None:
        raise ExpressionError(checker.faults)
    return Expression(source, kind, frozenset(checker.used), tree, {name: scope.kinds[name] for name in checker.used})


def _a(kind: Kind) -> str:
    return f"{'an' if kind.name in ('int', 'any') else 'a'} {kind}"


class _Checker:
    """Each method gives the kind of a node, or None where a fault in it was told already."""

    def __init__(self, source: Source, scope: Scope) -> None:
        self.source, self.scope = source, scope
        self.faults: list[Fault] = []
        self.used: set[str] = set()
        self.loop: dict[str, Kind] = {}

    def kind(self, node: ast.expr) -> Kind | None:
        check: Callable[[Any], Kind | None] = getattr(self, f"_{type(node).__name__.lower()}")
        return check(node)

    def fault(self, node: ast.AST, message: str) -> None:
        self.faults.append(self.source.fault(node, message))

    def _constant(self, node: ast.Constant) -> Kind | None:
        return {bool: BOOL, int: INT, float: FLOAT, str: TEXT}[type(node.value)]

    def _name(self, node: ast.Name) -> Kind | None:
        if node.id in self.loop:
            return self.loop[node.id]
        if node.id in self.scope.kinds:
            self.used.add(node.id)
            return self.scope.kinds[node.id]
        if node.id in self.scope.measures or node.id in BUILT_INS:
            self.fault(node, f"{node.id} is a function; call it, as in {self._usage(node.id)}")
        else:
            known = [*self.loop, *self.scope.kinds, *self.scope.measures, *BUILT_INS]
            self.fault(node, f"there is no {node.id!r} here{did_you_mean(node.id, known)}")
        return None

    def _usage(self, name: str) -> str:
        return BUILT_INS[name].usage if name in BUILT_INS else self.scope.measures[name].usage

    def _boolop(self, node: ast.BoolOp) -> Kind | None:
        for value in node.values:
            self._wanted(value, BOOL, "and" if isinstance(node.op, ast.And) else "or")
        return BOOL

    def _wanted(self, node: ast.expr, wanted: Kind, where: str) -> None:
        given = self.kind(node)
        if given is not None and not fits(given, wanted):
            hint = "; compare it, as in len(...) > 0" if wanted == BOOL else ""
            self.fault(node, f"{where} takes {_a(wanted)}; this is {_a(given)}{hint}")

    def _unaryop(self, node: ast.UnaryOp) -> Kind | None:
        if isinstance(node.op, ast.Not):
            self._wanted(node.operand, BOOL, "not")
            return BOOL
        given = self.kind(node.operand)
        if given is not None and given not in NUMBERS:
            self.fault(node, f"- takes a number; this is {_a(given)}")
            return None
        return given

    def _binop(self, node: ast.BinOp) -> Kind | None:
        left, right = self.kind(node.left), self.kind(node.right)
        if left is None or right is None:
            return None
        joined = join(left, right)
        if joined is not None:
            if isinstance(node.op, (ast.BitAnd, ast.BitOr)):
                fine = joined.name == "set"
            else:
                fine = joined in NUMBERS or (isinstance(node.op, ast.Add) and joined.name in ("text", "list"))
            if fine:
                return FLOAT if isinstance(node.op, ast.Div) else joined
        hint = "; `and` and `or` join conditions" if BOOL in (left, right) else ""
        self.fault(node, f"{SIGNS[type(node.op)]} does not go with {_a(left)} and {_a(right)}{hint}")
        return None

    def _compare(self, node: ast.Compare) -> Kind | None:
        operands = [node.left, *node.comparators]
        kinds = [self.kind(operand) for operand in operands]
        for operator, place in zip(node.ops, range(len(node.ops)), strict=True):
            left, right = kinds[place], kinds[place + 1]
            if left is not None and right is not None and not _comparable(operator, left, right):
                self.fault(operands[place], f"{SIGNS[type(operator)]} does not compare {_a(left)} with {_a(right)}")
            self._choice(operands[place], operands[place + 1])
            self._choice(operands[place + 1], operands[place])
        return BOOL

    def _choice(self, name: ast.expr, value: ast.expr) -> None:
        if isinstance(name, ast.Name) and name.id in self.scope.choices and name.id not in self.loop:
            options = self.scope.choices[name.id]
            for each in value.elts if isinstance(value, (ast.List, ast.Tuple)) else [value]:
                if isinstance(each, ast.Constant) and isinstance(each.value, str) and each.value not in options:
                    hint = did_you_mean(each.value, options) or f"; it is one of {', '.join(map(quoted, options))}"
                    self.fault(each, f"{name.id} is never {quoted(each.value)}{hint}")

    def _subscript(self, node: ast.Subscript) -> Kind | None:
        whole = self.kind(node.value)
        if isinstance(node.slice, ast.Slice):
            for bound in (node.slice.lower, node.slice.upper):
                if bound is not None:
                    self._wanted(bound, INT, "a slice")
            if node.slice.step is not None and not _is_step(node.slice.step):
                self.fault(node.slice.step, "the step of a slice is written out, and not 0")
        else:
            self._wanted(node.slice, INT, "a place in brackets")
        if whole is None:
            return None
        if whole.name not in ("text", "list"):
            self.fault(node, f"{_a(whole)} has no places in brackets; a text or a list has")
            return None
        return whole if isinstance(node.slice, ast.Slice) else whole.item

    def _ifexp(self, node: ast.IfExp) -> Kind | None:
        self._wanted(node.test, BOOL, "if")
        return self._joined([node.body, node.orelse], "the two sides of `if` are")

    def _joined(self, nodes: list[ast.expr], what: str) -> Kind | None:
        joined: Kind | None = None
        for node in nodes:
            given = self.kind(node)
            if given is None:
                return None
            before, joined = joined, given if joined is None else join(joined, given)
            if joined is None:
                self.fault(node, f"{what} of one kind; this is {_a(given)} after {_a(before or ANY)}")
                return None
        return joined

    def _list(self, node: ast.List | ast.Tuple) -> Kind | None:
        if not node.elts:
            return list_of(ANY)
        item = self._joined(node.elts, "the items of a list are")
        return item and list_of(item)

    _tuple = _list

    def _call(self, node: ast.Call) -> Kind | None:
        if not isinstance(node.func, ast.Name):
            self.fault(node, "only measures and built-in functions are called, by their names")
            return None
        given = [self.kind(argument) for argument in node.args]
        name = node.func.id
        if name not in BUILT_INS and name not in self.scope.measures:
            hint = did_you_mean(name, [*self.scope.measures, *BUILT_INS])
            self.fault(node, f"there is no measure {name!r}{hint}")
            return None
        known = tuple(kind for kind in given if kind is not None)
        if len(known) < len(given):
            return None
        result = BUILT_INS[name].gives(known) if name in BUILT_INS else self.scope.measures[name].given(known)
        if result is None:
            kinds = " and ".join(map(_a, known)) or "nothing"
            self.fault(node, f"{name} does not take {kinds}; it is used as {self._usage(name)}")
        return result

    def _generatorexp(self, node: ast.GeneratorExp | ast.ListComp | ast.SetComp) -> Kind | None:
        before = dict(self.loop)
        for generator in node.generators:
            self._target(generator.target, self._source_item(generator.iter))
            for condition in generator.ifs:
                self._wanted(condition, BOOL, "if")
        item = self.kind(node.elt) if len(self.loop) > len(before) else None
        self.loop = before
        if item is None:
            return None
        return set_of(item) if isinstance(node, ast.SetComp) else list_of(item)

    _listcomp = _setcomp = _generatorexp

    def _source_item(self, node: ast.expr) -> Kind:
        whole = self.kind(node)
        if whole is None:
            return ANY
        if whole.name not in ("text", "list"):
            hint = "; sorted(...) puts it in order" if whole.name == "set" else ""
            self.fault(node, f"`for` goes through a text or a list; this is {_a(whole)}{hint}")
            return ANY
        return whole.item

    def _target(self, node: ast.expr, item: Kind) -> None:
        if isinstance(node, ast.Tuple) and len(node.elts) == 2 and item.name in ("pair", "any"):
            for part, kind in zip(node.elts, item.items or (ANY, ANY), strict=True):
                self._target(part, kind)
        elif not isinstance(node, ast.Name):
            self.fault(node, f"the items are {item}s and are given one name each")
            self.loop["?"] = ANY
        else:
            if node.id in NAMES or node.id in self.scope.kinds or node.id in self.scope.measures:
                self.fault(node, f"{node.id!r} means something else already; give the item another name")
            self.loop[node.id] = item


def _comparable(operator: ast.cmpop, left: Kind, right: Kind) -> bool:
    if isinstance(operator, (ast.In, ast.NotIn)):
        if right == TEXT:
            return left == TEXT
        return right.name in ("list", "set") and join(left, right.item) is not None
    joined = join(left, right)
    if joined is None:
        return False
    return isinstance(operator, (ast.Eq, ast.NotEq)) or joined.name == "set" or is_ordered(joined)


def _is_step(node: ast.expr) -> bool:
    value = node.operand if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub) else node
    return isinstance(value, ast.Constant) and type(value.value) is int and value.value != 0
