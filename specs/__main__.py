"""The command line of the room: `python -m specs validate | list | draw | new`."""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path

from .documents import DocumentError
from .drawing import add_draw
from .loading import load_templates
from .problems import did_you_mean
from .schemas import ROOM
from .skeleton import write_skeleton
from .templates import Template
from .validating import add_validate


def main(arguments: Sequence[str] | None = None) -> int:
    """0: done; 1: a document is wrong; 2: the command is wrong."""
    options = _parser().parse_args(arguments)
    try:
        done: int = options.command(options)
        sys.stdout.flush()
    except DocumentError as error:
        print(error, file=sys.stderr)
        return 1
    except BrokenPipeError:
        # the reader of our output has gone; the flush at exit must find somewhere to write
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    return done


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m specs", description="Checks, lists, draws from and begins templates."
    )
    commands = parser.add_subparsers(required=True, metavar="COMMAND")

    add_validate(commands)
    listing = commands.add_parser("list", help="show each template, its wording and its parameters")
    listing.add_argument("--json", action="store_true", help="one JSON list, for programs")
    listing.add_argument("--collection", metavar="NAME", help="only the templates of this collection")
    listing.add_argument(
        "--directory", action="append", type=Path, default=[], help="a directory of your own templates"
    )
    listing.set_defaults(command=_list)

    add_draw(commands)

    new = commands.add_parser("new", help="begin a template")
    new.add_argument("name", metavar="NAME", help="family:name, as in count:exclamations")
    new.add_argument(
        "--directory", type=Path, default=Path("specs"), help="where local/ lies or is made (default: specs)"
    )
    new.set_defaults(command=_new)
    return parser


def _list(options: argparse.Namespace) -> int:
    templates = list(load_templates([ROOM, *options.directory]).values())
    if options.collection is not None:
        collections = {template.collection for template in templates}
        if options.collection not in collections:
            hint = did_you_mean(options.collection, collections) or f"; there are {', '.join(sorted(collections))}"
            print(f"there is no collection {options.collection!r}{hint}", file=sys.stderr)
            return 2
        templates = [template for template in templates if template.collection == options.collection]
    if options.json:
        print(json.dumps([_entry(template) for template in templates], indent=2, ensure_ascii=False))
    else:
        print("\n".join(_lines(templates)))
    return 0


def _entry(template: Template) -> dict[str, object]:
    return {
        "name": template.name,
        "wording": template.wording,
        "parameters": template.parameters,
        "unworded": template.unworded,
        "constants": template.constants,
        "flags": template.flags,
    }


def _lines(templates: Iterable[Template]) -> Iterable[str]:
    for template in templates:
        yield template.name
        yield f"    {template.wording}"
        for name, declared in template.parameters["properties"].items():
            optional = "" if name in template.parameters["required"] else ", optional"
            yield f"    {name} ({declared['type']}{optional}): {declared['description']}"


def _new(options: argparse.Namespace) -> int:
    try:
        path = write_skeleton(options.name, options.directory)
    except FileExistsError as error:
        print(f"{error.filename} exists already; choose another name or edit that file", file=sys.stderr)
        return 2
    except (OSError, ValueError) as error:
        print(f"cannot begin {options.name!r}: {error}", file=sys.stderr)
        return 2
    print(f"wrote {path}; edit it, then: python -m specs validate {path}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
