"""The command line of the room: `python -m specs validate | list | new`."""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path

from .documents import DocumentError, Problem
from .loading import load_templates, read_template, spec_files, survey
from .probes import load_probes
from .schemas import ROOM
from .skeleton import write_skeleton
from .templates import Template

PROBES = "probes.yaml"


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
    parser = argparse.ArgumentParser(prog="python -m specs", description="Checks, lists and begins templates.")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")

    validate = commands.add_parser("validate", help="name every problem of every file")
    validate.add_argument("paths", nargs="*", type=Path, metavar="PATH", help="files or directories (default: ours)")
    validate.set_defaults(command=_validate)

    listing = commands.add_parser("list", help="show each template, its wording and its parameters")
    listing.add_argument("--json", action="store_true", help="one JSON list, for programs")
    listing.add_argument(
        "--directory", action="append", type=Path, default=[], help="a directory of your own templates"
    )
    listing.set_defaults(command=_list)

    new = commands.add_parser("new", help="begin a template")
    new.add_argument("name", metavar="NAME", help="family:name, as in count:exclamations")
    new.add_argument(
        "--directory", type=Path, default=Path("specs"), help="where local/ lies or is made (default: specs)"
    )
    new.set_defaults(command=_new)
    return parser


def _validate(options: argparse.Namespace) -> int:
    missing = [path for path in options.paths if not path.exists()]
    for path in missing:
        print(f"there is no file or directory {path}", file=sys.stderr)
    if missing:
        return 2
    templates = probes = 0
    problems: list[Problem] = []
    for path in options.paths or [ROOM]:
        found, wrong, probed = _validated(path)
        templates, probes, problems = templates + found, probes + probed, problems + wrong
    for problem in problems:
        print(problem)
    valid = f"{_count(templates, 'template')} and {_count(probes, 'probe')} are valid"
    if problems:
        files = len({problem.file for problem in problems})
        print(f"{_count(len(problems), 'problem')} in {_count(files, 'file')}; {valid}")
        return 1
    if not templates and not probes:
        print("no templates found; they lie at <collection>/<family>/<name>.yaml below the directory")
        return 1
    print(valid)
    return 0


def _validated(path: Path) -> tuple[int, list[Problem], int]:
    """How many templates of a file or directory are valid, what is wrong, and how many probes are valid."""
    if path.is_dir() and _holds_collections(path):
        templates, problems = survey([path])
        probes, wrong = _probes(path / PROBES) if (path / PROBES).exists() else (0, [])
        return len(templates), [*problems, *wrong], probes
    if path.name == PROBES:
        probes, problems = _probes(path)
        return 0, problems, probes
    files = sorted([*path.rglob("*.yaml"), *path.rglob("*.yml")]) if path.is_dir() else [path]
    count, problems = 0, []
    for file in files:
        try:
            read_template(file)
            count += 1
        except DocumentError as error:
            problems += error.problems
    return count, problems, 0


def _holds_collections(directory: Path) -> bool:
    return any(len(file.relative_to(directory).parts) >= 3 for file in spec_files(directory))


def _probes(path: Path) -> tuple[int, list[Problem]]:
    try:
        return len(load_probes(path)), []
    except DocumentError as error:
        return 0, list(error.problems)


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" + ("s" if number != 1 else "")


def _list(options: argparse.Namespace) -> int:
    templates = load_templates([ROOM, *options.directory]).values()
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
