"""The language of predicates: a small, typed, safe subset of Python's expressions over parameters and a text."""

from .checking import Expression, Scope, read_expression, read_predicate
from .grammar import ExpressionError, Fault
from .kinds import Kind, kind_of_schema, parse_kind
from .measures import Measure, load_measures
from .places import located

__all__ = [
    "Expression",
    "ExpressionError",
    "Fault",
    "Kind",
    "Measure",
    "Scope",
    "kind_of_schema",
    "load_measures",
    "located",
    "parse_kind",
    "read_expression",
    "read_predicate",
]
