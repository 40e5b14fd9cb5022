"""`fetch`: brings the pinned files into the cache."""

from __future__ import annotations

import argparse
import sys

from .cache import cache_root
from .checkouts import given_checkouts
from .fetch import fetch
from .pin_folders import add_pins_dir, pin_folders
from .pins import load_catalogue
from .progress import megabytes, progress_for


def add_parser(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    parser = commands.add_parser("fetch", help="fetch pinned files into the cache", description=__doc__)
    parser.add_argument("keys", nargs="*", metavar="KEY", help="implementations, archives or checkouts")
    parser.add_argument(
        "--pins", default="default", metavar="SET", help="default, all, or KEY,KEY where no KEY is given"
    )
    parser.add_argument("--checkout", action="append", default=[], metavar="KEY=DIR", help="where a checkout lies")
    parser.add_argument("--offline", action="store_true", help="download nothing; say what is missing")
    parser.add_argument("--keep-wheels", action="store_true", help="keep the wheels too, not only what is used of them")
    add_pins_dir(parser)
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    catalogue = load_catalogue(pin_folders(arguments.pins_dir))
    report = fetch(
        catalogue,
        arguments.keys or [arguments.pins],
        offline=arguments.offline,
        progress=progress_for(sys.stderr),
        checkouts=given_checkouts(catalogue, arguments.checkout),
        keep_wheels=arguments.keep_wheels,
    )
    fetched, present = len(report.fetched), len(report.present)
    print(
        f"{fetched} archives fetched ({megabytes(report.fetched)}), {present} were there; the cache is {cache_root()}"
    )
    for checkout in report.checkouts:
        print(f"{checkout}: all files as pinned")
    for checkout in report.not_given:
        print(f"{checkout}: not given (--checkout {checkout.key}=DIR), its cases will be not_run")
    return 0
