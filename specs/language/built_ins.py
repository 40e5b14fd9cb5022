"""The functions that an expression may call beside measures: how they are used and what they give."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from .kinds import BOOL, INT, NUMBERS, Kind, is_ordered, join, list_of, pair_of, set_of

Kinds = tuple[Kind, ...]


class BuiltIn(NamedTuple):
    """`gives` is the kind of the result for the kinds of the arguments, None where these do not fit."""

    usage: str
    gives: Callable[[Kinds], Kind | None]


def _one(kinds: Kinds, *names: str) -> Kind | None:
    return kinds[0] if len(kinds) == 1 and kinds[0].name in names else None


def _len(kinds: Kinds) -> Kind | None:
    return INT if _one(kinds, "text", "list", "set") else None


def _count(kinds: Kinds) -> Kind | None:
    # count(x > 1 for x in xs) would count every x, which nobody means
    return INT if _one(kinds, "list") and kinds[0].item != BOOL else None


def _any(kinds: Kinds) -> Kind | None:
    return BOOL if _one(kinds, "list") and kinds[0].item == BOOL else None


def _sum(kinds: Kinds) -> Kind | None:
    return kinds[0].item if _one(kinds, "list") and kinds[0].item in NUMBERS else None


def _least(kinds: Kinds) -> Kind | None:
    if len(kinds) == 1:
        return kinds[0].item if _one(kinds, "list") and is_ordered(kinds[0].item) else None
    joined: Kind | None = kinds[0] if kinds else None
    for kind in kinds[1:]:
        joined = joined and join(joined, kind)
    return joined if joined and is_ordered(joined) else None


def _sorted(kinds: Kinds) -> Kind | None:
    return list_of(kinds[0].item) if _one(kinds, "text", "list", "set") and is_ordered(kinds[0].item) else None


def _set(kinds: Kinds) -> Kind | None:
    kind = _one(kinds, "text", "list", "set")
    return set_of(kind.item) if kind and kind.item.name not in ("list", "set") else None


def _abs(kinds: Kinds) -> Kind | None:
    return _one(kinds, "int", "float")


def _int(kinds: Kinds) -> Kind | None:
    return INT if _one(kinds, "int", "float", "bool") else None


def _range(kinds: Kinds) -> Kind | None:
    return list_of(INT) if 1 <= len(kinds) <= 3 and all(kind == INT for kind in kinds) else None


def _enumerate(kinds: Kinds) -> Kind | None:
    return list_of(pair_of(INT, kinds[0].item)) if _one(kinds, "text", "list") else None


def _zip(kinds: Kinds) -> Kind | None:
    if len(kinds) != 2 or any(kind.name not in ("text", "list") for kind in kinds):
        return None
    return list_of(pair_of(kinds[0].item, kinds[1].item))


BUILT_INS = {
    "len": BuiltIn("len(text, list or set): how many characters or items", _len),
    "count": BuiltIn("count(list) or count(x for x in list if ...): how many items", _count),
    "any": BuiltIn("any(list of bool)", _any),
    "all": BuiltIn("all(list of bool)", _any),
    "sum": BuiltIn("sum(list of numbers)", _sum),
    "min": BuiltIn("min(list) or min(a, b), of numbers or texts", _least),
    "max": BuiltIn("max(list) or max(a, b), of numbers or texts", _least),
    "sorted": BuiltIn("sorted(text, list or set)", _sorted),
    "set": BuiltIn("set(text or list)", _set),
    "abs": BuiltIn("abs(number)", _abs),
    "int": BuiltIn("int(number): without what stands after the point", _int),
    "range": BuiltIn("range(stop), range(start, stop) or range(start, stop, step), of whole numbers", _range),
    "enumerate": BuiltIn("enumerate(list): pairs of place, from 0, and item", _enumerate),
    "zip": BuiltIn("zip(list, list): pairs, as many as the shorter list has", _zip),
}
NAMES = frozenset({*BUILT_INS, "text"})
"""Names that nothing else may take."""
