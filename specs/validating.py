"""The command `python -m specs validate`: names every problem of files and directories and counts what is valid."""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Callable, Mapping, Sized
from pathlib import Path
from typing import Any, NamedTuple

from .documents import DocumentError, Problem
from .flags import load_flags
from .lists import load_texts, load_words
from .loading import read_template, spec_files, survey
from .probes import load_probes
from .schemas import ROOM
from .transforms import load_transforms


class Companion(NamedTuple):
    """A document beside the templates: its loader, and what one entry of it is called."""

    load: Callable[[Path], Sized]
    noun: str


COMPANIONS: Mapping[str, Companion] = {
    "probes.yaml": Companion(load_probes, "probe"),
    "words.yaml": Companion(load_words, "list of words"),
    "texts.yaml": Companion(load_texts, "list of texts"),
    "flags.yaml": Companion(load_flags, "flag"),
    "transforms.yaml": Companion(load_transforms, "transform"),
}


def add_validate(commands: Any) -> None:
    validate = commands.add_parser("validate", help="name every problem of every file")
    validate.add_argument("paths", nargs="*", type=Path, metavar="PATH", help="files or directories (default: ours)")
    validate.set_defaults(command=_validate)


def _validate(options: argparse.Namespace) -> int:
    missing = [path for path in options.paths if not path.exists()]
    for path in missing:
        print(f"there is no file or directory {path}", file=sys.stderr)
    if missing:
        return 2
    valid: Counter[str] = Counter()
    problems: list[Problem] = []
    for path in options.paths or [ROOM]:
        found, wrong = _examined(path)
        valid.update(found)
        problems += wrong
    for problem in problems:
        print(problem)
    if problems:
        files = len({problem.file for problem in problems})
        print(f"{_count(len(problems), 'problem')} in {_count(files, 'file')}; {_sum(valid)}")
        return 1
    if not valid.total():
        print("no templates found; they lie at <collection>/<family>/<name>.yaml below the directory")
        return 1
    print(_sum(valid))
    return 0


def _examined(path: Path) -> tuple[Counter[str], list[Problem]]:
    """How many entries of which kind are valid in a file or directory, and what is wrong."""
    if path.is_dir() and _holds_collections(path):
        templates, problems = survey([path])
        valid = Counter({"template": len(templates)})
        for name in COMPANIONS:
            if (path / name).exists():
                found, wrong = _companion(path / name)
                valid.update(found)
                problems += wrong
        return valid, problems
    if path.name in COMPANIONS:
        return _companion(path)
    files = sorted([*path.rglob("*.yaml"), *path.rglob("*.yml")]) if path.is_dir() else [path]
    valid, problems = Counter(), []
    for file in files:
        try:
            read_template(file)
            valid["template"] += 1
        except DocumentError as error:
            problems += error.problems
    return valid, problems


def _holds_collections(directory: Path) -> bool:
    return any(len(file.relative_to(directory).parts) >= 3 for file in spec_files(directory))


def _companion(path: Path) -> tuple[Counter[str], list[Problem]]:
    companion = COMPANIONS[path.name]
    try:
        return Counter({companion.noun: len(companion.load(path))}), []
    except DocumentError as error:
        return Counter(), list(error.problems)


def _sum(valid: Counter[str]) -> str:
    nouns = dict.fromkeys(["template", "probe", *(noun for noun in valid if valid[noun])])
    *counts, last = [_count(valid[noun], noun) for noun in nouns]
    return f"{', '.join(counts)} and {last} are valid"


def _count(number: int, noun: str) -> str:
    head, *rest = noun.split(" ", 1)
    return " ".join([str(number), head + ("s" if number != 1 else ""), *rest])
