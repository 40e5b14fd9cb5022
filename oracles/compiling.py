"""Compiles checked expressions of the language of predicates to Python functions.

A predicate is total. Where it has no value, because it asks for the first of no words, divides by zero or names an
argument that the instance does not give, it is false as a whole, as a guard is in Erlang; conditions that stand before
with `and` keep it from getting there. Only `TooManySteps` is raised, so that a loop in a loop has an end.
"""

from __future__ import annotations

import ast
import warnings
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from specs.language import Expression, Kind

from .measures import MEASURES

Params = Mapping[str, Any]
Predicate = Callable[[Params, str], bool]

MOST_STEPS = 10_000_000
LONGEST_RANGE = 2_000_000
LONGEST_SUM = 10_000_000
LARGEST_FACTOR = 10**18
NO_VALUE = (IndexError, KeyError, ZeroDivisionError, ValueError, OverflowError)

# Where a generator is taken as it comes; every other place wants a list.
EAT_GENERATORS = {"any", "all", "sum", "min", "max", "sorted", "set"}
# Built-in functions that have a value for every argument of their kind, so that they may be computed beforehand.
TOTAL = {"len", "count", "set", "sorted"}


class TooManySteps(RuntimeError):
    """A predicate whose loops would take too many steps on this text; see `MOST_STEPS` and `LONGEST_RANGE`."""


def compile_predicate(expression: Expression) -> Predicate:
    """`predicate(params, text)`: whether it holds; false where it has no value. Raises TooManySteps when called."""
    value = compile_expression(expression)

    def predicate(params: Params, text: str) -> bool:
        try:
            return bool(value(params, text))
        except NO_VALUE:
            return False

    return predicate


def compile_expression(expression: Expression) -> Callable[[Params, str], Any]:
    """`value(params, text)`; raises one of `NO_VALUE` where there is none, and TooManySteps."""
    piece = compile_piece(expression, {}, "_")
    body = [*load_lines(expression.kinds), *(STEPS if piece.loops else ()), *piece.lines, f"return {piece.value}"]
    return compile_function("value", body, "<predicate>", {})


class Piece(NamedTuple):
    """An expression as Python: lines that come first, the value after them, and whether its loops want counting."""

    lines: list[str]
    value: str
    loops: bool


STEPS = ("_count = _Steps()",)


def compile_piece(expression: Expression, renamed: Mapping[str, str], prefix: str) -> Piece:
    """The Python of an expression. Names become those of `renamed`; its lines assign `<prefix>0`, `<prefix>1`, ..."""
    # a copy of the tree, which is changed here
    tree = ast.parse(ast.unparse(expression.tree), mode="eval").body
    loops = sum(isinstance(node, ast.comprehension) for node in ast.walk(tree)) > 1
    tree = _Renamed(renamed).visit(_Lists(counted=loops).visit(tree))
    hoisted, tree = _hoist(tree, prefix)
    return Piece(hoisted, ast.unparse(tree), loops)


def load_lines(kinds: Mapping[str, Kind]) -> list[str]:
    """Lines that take these parameters out of `params` and see that each is of its kind."""
    return [_load(name, kind) for name, kind in sorted(kinds.items()) if name != "text"]


def compile_function(name: str, body: list[str], file: str, values: Mapping[str, Any]) -> Callable[[Params, str], Any]:
    """The function of `params` and `text` with these lines, which may name measures, built-ins and `values`."""
    names: dict[str, Any] = {"__builtins__": {}, **MEASURES, **_BUILT_INS, **_LOADERS, "_Steps": _Steps, **values}
    source = "\n    ".join([f"def {name}(params, text):", *body])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        exec(compile(source, file, "exec"), names)
    function: Callable[[Params, str], Any] = names[name]
    return function


def _load(name: str, kind: Kind) -> str:
    return f"{name} = _{kind.name}(params[{name!r}]" + (f", _{kind.item.name})" if kind.items else ")")


def _int(value: Any) -> int:
    # official arguments hold whole numbers as 12.0, which no slice takes
    if type(value) is int:
        return value
    if type(value) is float and value.is_integer():
        return int(value)
    raise ValueError(value)


def _float(value: Any) -> float:
    if type(value) in (int, float):
        return float(value)
    raise ValueError(value)


def _text(value: Any) -> str:
    if isinstance(value, str):
        return value
    raise ValueError(value)


def _bool(value: Any) -> bool:
    if isinstance(value, bool):
        return value
    raise ValueError(value)


def _list(value: Any, item: Callable[[Any], Any]) -> list[Any]:
    if isinstance(value, (list, tuple)):
        return [item(each) for each in value]
    raise ValueError(value)


_LOADERS = {"_int": _int, "_float": _float, "_text": _text, "_bool": _bool, "_list": _list}


class _Steps:
    """Counts the steps that the loops of one call take together."""

    def __init__(self) -> None:
        self.left = MOST_STEPS

    def __call__(self, items: Sequence[Any]) -> Sequence[Any]:
        self.left -= len(items)
        if self.left < 0:
            raise TooManySteps(f"the loops of a predicate take more than {MOST_STEPS:,} steps on this text")
        return items


def _range(*bounds: int) -> list[int]:
    span = range(*bounds)
    if len(span) > LONGEST_RANGE:
        raise TooManySteps(f"a range in a predicate is longer than {LONGEST_RANGE:,}")
    return list(span)


def _add(one: Any, other: Any) -> Any:
    # names that double each other would fill the memory within a few lines
    if isinstance(one, (str, list)) and len(one) + len(other) > LONGEST_SUM:
        raise TooManySteps(f"a predicate joins more than {LONGEST_SUM:,} characters or items")
    return one + other


def _times(one: float, other: float) -> float:
    if max(abs(one), abs(other)) > LARGEST_FACTOR:
        raise OverflowError(f"a factor beyond {LARGEST_FACTOR:,}")
    return one * other


_CHECKED = {ast.Add: "_add", ast.Mult: "_times"}
_BUILT_INS: dict[str, Callable[..., Any]] = {
    "_add": _add,
    "_times": _times,
    "len": len,
    "count": len,
    "any": any,
    "all": all,
    "sum": sum,
    "min": min,
    "max": max,
    "sorted": sorted,
    "set": set,
    "abs": abs,
    "int": int,
    "range": _range,
    "enumerate": lambda items: list(enumerate(items)),
    "zip": lambda one, other: list(zip(one, other, strict=False)),
}


class _Lists(ast.NodeTransformer):
    """Makes generators and tuples the lists that they mean, and has checked what could grow without end."""

    def __init__(self, counted: bool) -> None:
        self.counted = counted

    def visit_Call(self, node: ast.Call) -> ast.AST:
        eats = isinstance(node.func, ast.Name) and node.func.id in EAT_GENERATORS and len(node.args) == 1
        if eats and isinstance(node.args[0], ast.GeneratorExp):
            self.generic_visit(node.args[0])
            return node
        return self.generic_visit(node)

    def visit_GeneratorExp(self, node: ast.GeneratorExp) -> ast.AST:
        return self.generic_visit(ast.ListComp(node.elt, node.generators))

    def visit_Tuple(self, node: ast.Tuple) -> ast.AST:
        self.generic_visit(node)
        return node if isinstance(node.ctx, ast.Store) else ast.List(node.elts, ast.Load())

    def visit_BinOp(self, node: ast.BinOp) -> ast.AST:
        self.generic_visit(node)
        checked = _CHECKED.get(type(node.op))
        # one step at a time, from a number that is written out, nothing grows beyond what is written
        if checked is None or any(isinstance(side, ast.Constant) for side in (node.left, node.right)):
            return node
        return ast.Call(ast.Name(checked, ast.Load()), [node.left, node.right], [])

    def visit_comprehension(self, node: ast.comprehension) -> ast.AST:
        self.generic_visit(node)
        if self.counted:
            node.iter = ast.Call(ast.Name("_count", ast.Load()), [node.iter], [])
        return node


class _Renamed(ast.NodeTransformer):
    def __init__(self, names: Mapping[str, str]) -> None:
        self.names = names

    def visit_Name(self, node: ast.Name) -> ast.AST:
        return ast.Name(self.names.get(node.id, node.id), node.ctx)


def _hoist(tree: ast.expr, prefix: str) -> tuple[list[str], ast.expr]:
    """Assignments that come first, and the expression with their names, for what would be computed again and again.

    That is each call of a measure that depends on no loop and stands twice or in a loop.
    """
    loop = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
    seen: Counter[str] = Counter()
    for call, looped in _calls(tree, False):
        if _is_fixed(call, loop):
            seen[ast.unparse(call)] += 2 if looped else 1
    # the inner of two calls is the shorter, and is there when the outer is computed
    again = sorted((source for source, times in seen.items() if times > 1), key=len)
    names = {source: f"{prefix}{number}" for number, source in enumerate(again)}
    assignments = []
    for source in again:
        others = _Named({other: name for other, name in names.items() if other != source})
        assignments.append(f"{names[source]} = {ast.unparse(others.visit(ast.parse(source, mode='eval').body))}")
    return assignments, _Named(names).visit(tree)


def _calls(node: ast.AST, looped: bool) -> Iterator[tuple[ast.Call, bool]]:
    if isinstance(node, ast.Call):
        yield node, looped
    for child in ast.iter_child_nodes(node):
        yield from _calls(child, looped or hasattr(node, "generators"))


def _is_fixed(node: ast.expr, loop: set[str]) -> bool:
    if isinstance(node, ast.Call):
        named = isinstance(node.func, ast.Name) and (node.func.id in MEASURES or node.func.id in TOTAL)
        return named and all(_is_fixed(argument, loop) for argument in node.args)
    return isinstance(node, ast.Constant) or (isinstance(node, ast.Name) and node.id not in loop)


class _Named(ast.NodeTransformer):
    def __init__(self, names: Mapping[str, str]) -> None:
        self.names = names

    def visit_Call(self, node: ast.Call) -> ast.AST:
        name = self.names.get(ast.unparse(node))
        return ast.Name(name, ast.Load()) if name else self.generic_visit(node)
