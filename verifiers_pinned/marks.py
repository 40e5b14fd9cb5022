"""Tells from a mark expression such as `audit and not slow` whether tests with a marker may be selected."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from itertools import product

MOST_NAMES = 12


def may_select(expression: str, marker: str) -> bool:
    """Whether `-m expression` selects some tests with `marker`.

    Where the expression names the marker, the other markers may be present or absent; where it does not, a test with
    this marker alone decides, so that `-m gpu` does not ask for the pins. What pytest will refuse selects nothing.
    """
    if not expression.strip():
        return True
    try:
        tree = ast.parse(expression.strip(), mode="eval").body
    except (SyntaxError, ValueError):
        return False
    names = sorted({node.id for node in ast.walk(tree) if isinstance(node, ast.Name)})
    others = [name for name in names if name != marker] if marker in names else []
    if len(others) > MOST_NAMES:
        return True
    return any(
        _holds(tree, {**dict(zip(others, values, strict=True)), marker: True})
        for values in product((False, True), repeat=len(others))
    )


def _holds(node: ast.expr, present: Mapping[str, bool]) -> bool:
    if isinstance(node, ast.BoolOp):
        answers = (_holds(value, present) for value in node.values)
        return all(answers) if isinstance(node.op, ast.And) else any(answers)
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        return not _holds(node.operand, present)
    if isinstance(node, ast.Call):
        return _holds(node.func, present)
    return isinstance(node, ast.Name) and present.get(node.id, False)
