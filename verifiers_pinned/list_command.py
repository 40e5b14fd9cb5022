"""`list`: the pinned implementations, what they cover, and whether they belong to the default set."""

from __future__ import annotations

import argparse
import json
from collections import Counter
from collections.abc import Mapping
from typing import Any

from .pin_folders import add_pins_dir, add_specs, load_added
from .pins import Catalogue
from .progress import megabytes
from .records import Checkout, Implementation, digest_of
from .tables import print_table


def add_parser(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    parser = commands.add_parser("list", help="list the pinned implementations", description=__doc__)
    parser.add_argument("--json", action="store_true", help="as JSON, with the names of the templates")
    add_pins_dir(parser)
    add_specs(parser)
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    catalogue, _ = load_added(arguments)
    if arguments.json:
        print(json.dumps([as_json(each) for each in catalogue.implementations.values()], indent=2))
        return 0
    rows = [
        (each.key, each.collection, str(each.source), each.style, _counts(each), _default(each))
        for each in catalogue.implementations.values()
    ]
    print_table(("implementation", "collection", "source", "style", "templates", "default"), rows)
    print(summary(catalogue))
    return 0


def as_json(implementation: Implementation) -> Mapping[str, Any]:
    """One implementation for other programs."""
    source = implementation.source
    return {
        "key": implementation.key,
        "collection": implementation.collection,
        "style": implementation.style,
        "source": source.key,
        "version": source.version,
        "digest": next(iter(digest_of(source).values())),
        "default": implementation.default,
        "templates": sorted(implementation.covers),
        "not_covered": dict(implementation.not_covered),
        "unchecked": list(implementation.unchecked),
    }


def summary(catalogue: Catalogue) -> str:
    """How many there are, and how much the two sets download."""
    archives = tuple(catalogue.archives.values())
    default = [archive for archive in archives if archive.default]
    return (
        f"{len(catalogue.implementations)} implementations from {len(archives)} wheels and "
        f"{len(catalogue.checkouts)} checkouts; the default set downloads {megabytes(default)} in {len(default)} "
        f"wheels, all of them {megabytes(archives)}"
    )


def _counts(implementation: Implementation) -> str:
    counts = Counter(name.partition("/")[0] for name in implementation.covers)
    return ", ".join(f"{number} {collection}" for collection, number in counts.items())


def _default(implementation: Implementation) -> str:
    if isinstance(implementation.source, Checkout):
        return "if given"
    return "yes" if implementation.default else "no"
