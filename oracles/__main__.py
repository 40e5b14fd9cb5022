"""The command line of the room: `python -m oracles judge | check`."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from pathlib import Path

from specs import ROOM, DocumentError, load_templates
from specs.problems import did_you_mean, shown_path

from .judge_command import add_judge
from .showing import complaints


def main(arguments: Sequence[str] | None = None) -> int:
    """0: done; 1: a document or an oracle is wrong; 2: the command or its input is wrong."""
    parser = argparse.ArgumentParser(
        prog="python -m oracles", description="Judges responses by oracles, and checks them."
    )
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    add_judge(commands)
    check = commands.add_parser("check", help="hold oracles to the examples and relations of their templates")
    check.add_argument("names", metavar="TEMPLATE", nargs="*", help="only these (default: all that have an oracle)")
    check.add_argument("--directory", action="append", type=Path, default=[], help="a directory of your own templates")
    check.set_defaults(command=_check)
    options = parser.parse_args(arguments)
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


def _check(options: argparse.Namespace) -> int:
    templates = load_templates([ROOM, *options.directory])
    for name in options.names:
        if name not in templates:
            print(f"there is no template {name!r}{did_you_mean(name, templates)}", file=sys.stderr)
            return 2
        if templates[name].oracle is None:
            print(f"{name} has no oracle", file=sys.stderr)
            return 2
    chosen = [templates[name] for name in options.names] or [each for each in templates.values() if each.oracle]
    found = [f"{shown_path(each.path)}: {message}" for each in chosen for message in complaints(each)]
    print("\n".join(found), end="\n" if found else "")
    counts = f"{len(chosen)} oracles, {sum(len(each.examples) for each in chosen)} examples"
    print(f"{counts}: {f'{len(found)} complaints' if found else 'they fit'}", file=sys.stderr if found else sys.stdout)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
