"""The catalogue of pinned verifiers: what is pinned, where it comes from, and how a check of it is called.

Each file in `pins/` describes one source: a wheel (`kind: wheel`) or a checkout of a repository (`kind: checkout`).
An implementation in it says, in a small fixed vocabulary, how one of its checks is reached. Below, `id` is
`covers[template]`, the implementation's own name for the template, and `params` is what
`Implementation.own_parameters(template, given)` returns (None: answer `unsupported`, nothing is called).

`members` maps a module name to a file. All of them are imported as the modules of one private package, each after its
`replacements`; `stand_ins` adds modules to that package that hold the named objects, which do nothing.

`style` with `entry`:
- `class`: `entry.name` in module `entry.module` is a dictionary from id to class. A check is
  `check = dictionary[id](id)`, then `check.build_description(**params)`, then `check.check_following(text)`.
- `dictionary`: `entry.name` is a dictionary from id to function, called as `entry.arguments` says.
- `function`: `entry.name` is itself the function for every id, called as `entry.arguments` says.
- `method`: `entry.name` is a class and `entry.method` a static method of it, called as `entry.arguments` says. Only
  this class is executed, after those top-level imports of its module that name the standard library.

`entry.arguments` are the positional arguments in order, of `id`, `text`, `params` (a fresh dict); a last `**params`
passes the parameters by keyword instead. `entry.returns` is `bool`, or `pair` for (verdict, detail).

A template that is not in `covers` is `unsupported`; `not_covered` says why for those of a collection that is covered
otherwise. `unchecked` lists templates that it answers without looking at the response: it is asked for them where it is
used, so they are covered and its answer counts. `parameters` renames (None drops), `constants` adds, and `only` limits
parameters to the values that it has words for.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from specs.documents import did_you_mean

from .errors import PinError
from .records import (
    Archive,
    Caller,
    Checkout,
    Data,
    Entry,
    Implementation,
    Local,
    Member,
    Replacement,
    Resource,
    Source,
)

__all__ = [
    "Archive",
    "Caller",
    "Catalogue",
    "Checkout",
    "Data",
    "Entry",
    "Implementation",
    "Member",
    "Replacement",
    "Resource",
    "Source",
    "UnknownPin",
    "load_catalogue",
]


class UnknownPin(PinError, ValueError):
    """A key that names no implementation, archive or checkout."""


@dataclass(frozen=True)
class Catalogue:
    """All pins, each kind by key."""

    implementations: Mapping[str, Implementation]
    callers: Mapping[str, Caller]
    data: Mapping[str, Data]
    resources: Mapping[str, Resource]
    archives: Mapping[str, Archive]
    checkouts: Mapping[str, Checkout]

    def select(self, spec: str) -> tuple[Implementation, ...]:
        """The implementations that `spec` names: `default`, `all`, or keys (also of archives and checkouts)."""
        if spec == "all":
            return tuple(self.implementations.values())
        if spec == "default":
            return tuple(each for each in self.implementations.values() if each.default)
        chosen: dict[str, Implementation] = {}
        for key in _keys(spec):
            chosen.update((each.key, each) for each in self._named(key))
        return tuple(chosen.values())

    def sources(self, spec: str) -> tuple[Source, ...]:
        """The sources behind `spec`, with those of the resources that its implementations need."""
        if spec == "all":
            return (*self.archives.values(), *self.checkouts.values())
        if spec == "default":
            return (*(each for each in self.archives.values() if each.default), *self.checkouts.values())
        chosen: dict[str, Source] = {}
        for key in _keys(spec):
            named = self._named(key)
            found: list[Source] = [each.source for each in named]
            found += [self.resources[need].source for each in named for need in each.needs]
            found += [table[key] for table in (self.archives, self.checkouts) if key in table and not named]
            chosen.update((source.key, source) for source in found)
        return tuple(chosen.values())

    def _named(self, key: str) -> list[Implementation]:
        if key in self.implementations:
            return [self.implementations[key]]
        if key in self.archives or key in self.checkouts:
            return [each for each in self.implementations.values() if each.source.key == key]
        known = sorted({"default", "all", *self.implementations, *self.archives, *self.checkouts})
        raise UnknownPin(
            f"no pin is called '{key}'{did_you_mean(key, known)}; `python -m verifiers_pinned list` shows all"
        )

    def declared(self, source: Source) -> tuple[Member, ...]:
        """Every file of `source` that some pin names, once, by path."""
        return self._declared[source.key]

    @cached_property
    def _declared(self) -> dict[str, tuple[Member, ...]]:
        found: dict[str, dict[str, Member]] = {key: {} for key in (*self.archives, *self.checkouts)}
        for source, members in self._uses():
            if isinstance(source, Local):
                continue  # not fetched, and compared with nothing
            found[source.key].update((member.path, member) for member in members)
        return {key: tuple(members[path] for path in sorted(members)) for key, members in found.items()}

    def _uses(self) -> Iterable[tuple[Source, Iterable[Member]]]:
        for implementation in self.implementations.values():
            yield implementation.source, implementation.members.values()
        for caller in self.callers.values():
            yield caller.source, [caller.member]
        for data in self.data.values():
            yield data.source, [data.member]
        for resource in self.resources.values():
            yield resource.source, resource.members


def _keys(spec: str) -> list[str]:
    keys = [part.strip() for part in spec.split(",") if part.strip()]
    if not keys:
        raise UnknownPin(f"'{spec}' names no pin; give `default`, `all` or keys such as `lm_eval,lighteval`")
    return keys


def load_catalogue(directories: Sequence[Path] | None = None) -> Catalogue:
    """The pins of all YAML files in `directories` (those of this package where None).

    Raises `specs.documents.DocumentError` with every problem of every file.
    """
    from .pin_files import read_catalogue

    return read_catalogue(directories)
