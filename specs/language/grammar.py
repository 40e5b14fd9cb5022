"""Which of Python's expressions are expressions of ours: syntax and size, before any name or kind is looked at."""

from __future__ import annotations

import ast
import io
import tokenize
import warnings
from collections.abc import Iterator
from typing import NamedTuple

LONGEST_LINE = 100
MOST_LINES = 10
DEEPEST = 16
MOST_PARTS = 250
MOST_LOOPS = 2
LARGEST_NUMBER = 10**12

ALLOWED = (
    ast.Expression, ast.Constant, ast.Name, ast.Load, ast.Store, ast.Compare, ast.BoolOp, ast.UnaryOp, ast.BinOp,
    ast.Subscript, ast.Slice, ast.IfExp, ast.Call, ast.ListComp, ast.GeneratorExp, ast.SetComp, ast.comprehension,
    ast.List, ast.Tuple, ast.And, ast.Or, ast.Not, ast.USub, ast.Add, ast.Sub, ast.Mult, ast.Div, ast.FloorDiv,
    ast.Mod, ast.Eq, ast.NotEq, ast.Lt, ast.LtE, ast.Gt, ast.GtE, ast.In, ast.NotIn, ast.BitAnd, ast.BitOr,
)  # fmt: skip
REFUSED: dict[type[ast.AST], str] = {
    ast.Lambda: "a lambda",
    ast.NamedExpr: "an assignment with :=",
    ast.Starred: "a star",
    ast.JoinedStr: "an f-string",
    ast.Dict: "a dictionary",
    ast.DictComp: "a dictionary",
    ast.Set: "a set in braces; write set([...])",
    ast.Pow: "a power; multiply",
    ast.keyword: "an argument by name",
    ast.Is: "'is'; write ==",
    ast.IsNot: "'is not'; write !=",
    ast.Await: "await",
    ast.Yield: "yield",
    ast.YieldFrom: "yield",
}


class Fault(NamedTuple):
    """One thing wrong in an expression; `line` and `column` count from 1 within it."""

    line: int
    column: int
    message: str


class ExpressionError(ValueError):
    """An expression that is none of ours, with everything wrong in it; as text, one fault a line."""

    def __init__(self, faults: list[Fault]) -> None:
        self.faults = tuple(sorted(dict.fromkeys(faults)))
        super().__init__(self.faults)

    def __str__(self) -> str:
        return "\n".join(f"{fault.line}:{fault.column}: {fault.message}" for fault in self.faults)


class Source:
    """The text of an expression, and the line and column of each part of its tree.

    Lines are joined before parsing, so that an expression may be broken anywhere without brackets around it.
    """

    def __init__(self, text: str) -> None:
        self.text = text
        self.skipped = len(text) - len(text.lstrip())
        self.flat = text.strip().replace("\n", " ")
        self._bytes = self.flat.encode("utf-8", "surrogatepass")

    def fault(self, node: ast.AST, message: str) -> Fault:
        return self.fault_at(len(self._bytes[: getattr(node, "col_offset", 0)].decode("utf-8", "ignore")), message)

    def fault_at(self, offset: int, message: str) -> Fault:
        before = self.text[: self.skipped + offset]
        return Fault(before.count("\n") + 1, len(before) - before.rfind("\n"), message)


def parse(source: Source) -> ast.Expression:
    """The tree of an expression of allowed syntax and size. Raises ExpressionError."""
    _refuse(list(_too_long(source)))
    try:
        with warnings.catch_warnings():
            # an unknown escape such as '\d' is a warning in Python and a mistake here
            warnings.simplefilter("error")
            tree = ast.parse(source.flat, mode="eval")
    except SyntaxError as error:
        at = max((error.offset or 1) - 1, 0)
        raise ExpressionError([source.fault_at(at, f"not an expression: {error.msg}")]) from None
    except (ValueError, RecursionError, MemoryError):
        raise ExpressionError([source.fault_at(0, "not an expression, or nested too deeply to be read")]) from None
    _refuse(list(_too_large(tree, source)))
    _refuse([fault for node in ast.walk(tree) for fault in _refused(node, source)])
    return tree


def _refuse(faults: list[Fault]) -> None:
    if faults:
        raise ExpressionError(faults)


def _too_long(source: Source) -> Iterator[Fault]:
    lines = source.text.strip("\n").split("\n")
    if not source.flat:
        yield Fault(1, 1, "the expression is empty")
    if len(lines) > MOST_LINES:
        yield Fault(1, 1, f"{len(lines)} lines where at most {MOST_LINES} are allowed")
    for number, line in enumerate(lines, 1):
        if len(line) > LONGEST_LINE:
            yield Fault(number, LONGEST_LINE + 1, f"{len(line)} characters in a line of at most {LONGEST_LINE}")
    if len(lines) > 1 and ("'''" in source.text or '"""' in source.text):
        yield Fault(1, 1, "quotes in threes, in an expression of several lines")
    if "#" in source.flat and (at := _comment(source.flat)) is not None:
        yield source.fault_at(at, "a comment; write it outside of the expression")


def _comment(flat: str) -> int | None:
    try:
        for token in tokenize.generate_tokens(io.StringIO(flat).readline):
            if token.type == tokenize.COMMENT:
                return token.start[1]
    except (tokenize.TokenError, SyntaxError):
        pass  # no expression either, which parsing says better
    return None


def _too_large(tree: ast.Expression, source: Source) -> Iterator[Fault]:
    # by hand, for a recursion would be stopped by what it is to find
    waiting: list[tuple[ast.AST, int, int]] = [(tree, 0, 0)]
    parts = 0
    while waiting:
        node, depth, loops = waiting.pop()
        parts += 1
        if parts > MOST_PARTS or depth > DEEPEST:
            what = f"nested deeper than {DEEPEST} levels" if depth > DEEPEST else f"more than {MOST_PARTS} parts"
            yield source.fault(node, f"{what}; cut it into named pieces")
            return
        loops += len(getattr(node, "generators", ()))
        if loops > MOST_LOOPS and hasattr(node, "generators"):
            yield source.fault(node, f"{loops} loops inside each other where at most {MOST_LOOPS} are allowed")
            return
        step = isinstance(node, ast.expr)
        waiting += [(child, depth + step, loops) for child in ast.iter_child_nodes(node)]


def _refused(node: ast.AST, source: Source) -> Iterator[Fault]:
    if isinstance(node, ast.Attribute):
        yield source.fault(node, f"values have no attributes here: no .{node.attr}; measures are called as words(text)")
    elif isinstance(node, (ast.operator, ast.cmpop, ast.unaryop, ast.FormattedValue, ast.arguments, ast.arg)):
        return  # told at the expression around it, which has a place
    elif not isinstance(node, ALLOWED):
        yield source.fault(node, f"not allowed here: {REFUSED.get(type(node), type(node).__name__)}")
    elif isinstance(node, ast.Name) and node.id.startswith("_"):
        yield source.fault(node, f"names begin with a letter, unlike {node.id!r}")
    elif isinstance(node, ast.Constant):
        yield from _constant(node, source)
    elif isinstance(node, ast.comprehension) and node.is_async:
        yield source.fault(node.target, "not allowed here: async")
    elif isinstance(node, (ast.BinOp, ast.UnaryOp, ast.Compare)):
        operators = node.ops if isinstance(node, ast.Compare) else [node.op]
        for operator in operators:
            if not isinstance(operator, ALLOWED):
                yield source.fault(node, f"not allowed here: {REFUSED.get(type(operator), type(operator).__name__)}")


def _constant(node: ast.Constant, source: Source) -> Iterator[Fault]:
    value = node.value
    if not isinstance(value, (str, int, float)):
        yield source.fault(node, f"not allowed here: {value!r}")
    elif not isinstance(value, str) and not abs(value) <= LARGEST_NUMBER:
        yield source.fault(node, f"a number beyond {LARGEST_NUMBER:,}")
