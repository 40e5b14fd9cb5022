"""`status`: for each pinned source, whether its files are in the cache, damaged or missing, and their sizes."""

from __future__ import annotations

import argparse

from .cache import State, cache_root, state, wheel_path
from .checkouts import given_checkouts, verify_checkout
from .errors import CheckoutError
from .list_command import summary
from .pin_folders import add_pins_dir, pin_folders
from .pins import Catalogue, load_catalogue
from .records import Archive
from .tables import print_table

HEADINGS = ("source", "default", "state", "wheel", "in the cache", "what is wrong")


def add_parser(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    parser = commands.add_parser("status", help="say what is in the cache", description=__doc__)
    parser.add_argument("--verify", action="store_true", help="read and hash every file again")
    parser.add_argument("--checkout", action="append", default=[], metavar="KEY=DIR", help="where a checkout lies")
    add_pins_dir(parser)
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """The exit status is 1 where something is damaged."""
    catalogue = load_catalogue(pin_folders(arguments.pins_dir))
    states = {archive: state(catalogue, archive, rehash=arguments.verify) for archive in catalogue.archives.values()}
    states_of_checkouts = _checkout_states(catalogue, arguments.checkout)
    rows = [_row(archive, found) for archive, found in states.items()]
    rows += [(name, "if given", each.word, "", "", each.detail) for name, each in states_of_checkouts.items()]
    print_table(HEADINGS, rows, numbers=frozenset(HEADINGS[3:5]))
    held = sum(found.bytes for found in states.values())
    print(f"the cache {cache_root()} holds {held / 1e6:.1f} MB of verified files; {summary(catalogue)}")
    everything = [*states.values(), *states_of_checkouts.values()]
    return int(any(found.word == "damaged" for found in everything))


def _row(archive: Archive, found: State) -> tuple[str, ...]:
    wheel = f"{archive.bytes / 1e6:.1f} MB" + (" kept" if wheel_path(archive).is_file() else "")
    size = f"{found.bytes / 1e3:.0f} kB" if found.bytes else ""
    detail = found.detail if found.word == "damaged" else ""
    return str(archive), "yes" if archive.default else "no", found.word, wheel, size, detail


def _checkout_states(catalogue: Catalogue, options: list[str]) -> dict[str, State]:
    given = given_checkouts(catalogue, options)
    states: dict[str, State] = {}
    for checkout in catalogue.checkouts.values():
        if checkout.key not in given:
            states[str(checkout)] = State("missing", f"not given: --checkout {checkout.key}=DIR")
            continue
        try:
            verify_checkout(checkout, catalogue.declared(checkout), given[checkout.key])
            states[str(checkout)] = State("present")
        except CheckoutError as error:
            states[str(checkout)] = State("damaged", str(error))
    return states
