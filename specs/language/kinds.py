"""The kinds of values that an expression can have, and when one fits where another is wanted."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Kind:
    """`bool`, `int`, `float` and `text`; `list`, `set` and `pair` with the kinds of their items; `any` in `[]`."""

    name: str
    items: tuple[Kind, ...] = ()

    def __str__(self) -> str:
        return f"{self.name} of {' and '.join(map(str, self.items))}" if self.items else self.name

    @property
    def item(self) -> Kind:
        """What going through a value of this kind gives: the characters of a text, the items of a list."""
        return TEXT if self == TEXT else self.items[0]


BOOL, INT, FLOAT, TEXT, ANY = (Kind(name) for name in ("bool", "int", "float", "text", "any"))
SCALARS = {kind.name: kind for kind in (BOOL, INT, FLOAT, TEXT)}
NUMBERS = (INT, FLOAT)
OF_SCHEMA = {"string": TEXT, "integer": INT, "number": FLOAT, "boolean": BOOL}


def list_of(item: Kind) -> Kind:
    return Kind("list", (item,))


def set_of(item: Kind) -> Kind:
    return Kind("set", (item,))


def pair_of(first: Kind, second: Kind) -> Kind:
    return Kind("pair", (first, second))


def parse_kind(text: str) -> Kind:
    """The kind that `text` or `list of text` names. Raises ValueError."""
    outer, of, inner = text.partition(" of ")
    if outer == "list" and of:
        return list_of(parse_kind(inner))
    if text not in SCALARS:
        raise ValueError(f"{text!r} is no kind of value; kinds are {', '.join(SCALARS)} and 'list of' one of them")
    return SCALARS[text]


def kind_of_schema(schema: Mapping[str, Any]) -> Kind:
    """The kind of a parameter that a template declares with this JSON Schema."""
    if schema["type"] == "array":
        return list_of(kind_of_schema(schema.get("items", {"type": "string"})))
    return OF_SCHEMA[schema["type"]]


def join(one: Kind, other: Kind) -> Kind | None:
    """The kind of a value that is either; None where nothing is both."""
    if one == other or other == ANY:
        return one
    if one == ANY:
        return other
    if one in NUMBERS and other in NUMBERS:
        return FLOAT
    if one.name != other.name or len(one.items) != len(other.items):
        return None
    items = [join(first, second) for first, second in zip(one.items, other.items, strict=True)]
    known = tuple(item for item in items if item is not None)
    return Kind(one.name, known) if len(known) == len(items) > 0 else None


def fits(given: Kind, wanted: Kind) -> bool:
    """Whether a value of kind `given` may stand where `wanted` is asked for."""
    return join(given, wanted) == wanted


def is_ordered(kind: Kind) -> bool:
    """Whether `<` compares two values of this kind."""
    return kind in (*NUMBERS, TEXT, ANY) or (kind.name in ("list", "pair") and all(map(is_ordered, kind.items)))
