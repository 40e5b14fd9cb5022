"""From a pin's record to the plain data that a child needs: what to import, and where a check of it is."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

from .calling import Address
from .importing import Recipe
from .records import Caller, Implementation, Replacement


def recipe_of(implementation: Implementation, folder: Path) -> Recipe:
    """What a child needs to import `implementation` from `folder`."""
    entry = implementation.entry
    return Recipe(
        implementation.key,
        str(folder),
        {name: member.path for name, member in implementation.members.items()},
        {name: _plain(replacements) for name, replacements in implementation.replacements.items()},
        dict(implementation.stand_ins),
        {entry.module: (entry.name,)} if implementation.style == "method" else {},
    )


def address_of(implementation: Implementation, template: str) -> Address:
    entry = implementation.entry
    return Address(
        implementation.key,
        implementation.style,
        entry.module,
        entry.name,
        implementation.covers[template],
        entry.method,
        entry.arguments,
        entry.returns,
    )


def caller_address_of(caller: Caller) -> Address:
    return Address(caller.key, "caller", caller.key, "", "", question="invocation")


def caller_recipe_of(caller: Caller, implementation: Implementation, folder: Path) -> Recipe:
    """The same package with one module more, under the caller's key, which must offer the caller's symbols."""
    base, name = recipe_of(implementation, folder), caller.key
    return replace(
        base,
        modules={**base.modules, name: caller.member.path},
        replacements={**base.replacements, name: _plain(caller.replacements)},
        stand_ins={**base.stand_ins, **caller.stand_ins},
        cut={**base.cut, **({name: caller.symbols} if caller.cut else {})},
        offers={name: caller.symbols},
    )


def _plain(replacements: Iterable[Replacement]) -> tuple[tuple[str, str, int], ...]:
    return tuple((each.old, each.new, each.count) for each in replacements)
