"""Loads every template below one or more directories, and names every problem of every file at once."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path, PurePath

from .documents import DocumentError, Problem, examine
from .oracle import Judged
from .oracle_rules import read_judged
from .problems import in_order, shown_path
from .rules import rule_problems
from .schemas import ROOM, schema
from .templates import Template
from .verifiers import own_verifiers, verifier_problems

ELSEWHERE = ("adjudications",)
COLLECTION = re.compile(r"[a-z][a-z0-9_]*")


def load_templates(directories: Sequence[Path] | None = None) -> dict[str, Template]:
    """All templates by full name, from `<collection>/<family>/<name>.yaml` below each directory (without any: ours).

    Raises one `DocumentError` with all problems of all files. YAML right below a directory is no template and is left
    alone; so are folders whose name begins with a dot or an underscore.
    """
    templates, problems = survey(directories)
    if problems:
        raise DocumentError(problems)
    return templates


def survey(directories: Sequence[Path] | None = None) -> tuple[dict[str, Template], list[Problem]]:
    """As `load_templates`, but gives what is valid beside the problems of the rest."""
    templates: dict[str, Template] = {}
    problems: list[Problem] = []
    for directory in [ROOM] if directories is None else directories:
        if not directory.is_dir():
            problems.append(_about(directory, "there is no such directory"))
        for path in spec_files(directory):
            try:
                template = read_template(path, len(path.relative_to(directory).parts))
            except DocumentError as error:
                problems += error.problems
                continue
            # the first of a name stays, so that one copy too many does not hide the template
            first = templates.setdefault(template.name, template)
            if first is not template:
                problems.append(_about(path, f"{template.name} stands in {shown_path(first.path)} already"))
    # a broken list of words or flags is met by every template that names it
    return templates, list(dict.fromkeys(problems))


def spec_files(directory: Path) -> list[Path]:
    """The YAML files of the collections below a directory, in order."""
    found = []
    # .yml too: a template that nobody would load must not lie there unnoticed
    for suffix in ("*.yaml", "*.yml"):
        for path in directory.glob(f"*/**/{suffix}"):
            parts = path.relative_to(directory).parts
            if parts[0] not in ELSEWHERE and not any(part.startswith((".", "_")) for part in parts):
                found.append(path)
    return sorted(found)


def read_template(path: Path, depth: int = 3) -> Template:
    """The template of one file, its place checked against its id; `depth` counts the path's parts below a directory."""
    parts = path.absolute().parts
    if depth != 3 or len(parts) < 4:
        raise DocumentError([_about(path, "a template lies at <collection>/<family>/<name>.yaml, no higher or lower")])
    if path.suffix != ".yaml":
        raise DocumentError([_about(path, f"a template's file name ends in .yaml; rename it to {path.stem}.yaml")])
    document, problems = examine(path, schema("template"))
    problems += rule_problems(document, place=f"{parts[-2]}:{path.stem}", sound=not problems)
    judged = Judged()
    if not problems:
        problems += verifier_problems(document, path.parent)
        judged, wrong = read_judged(document, path)
        problems += wrong
    if not COLLECTION.fullmatch(collection := parts[-3]):
        problems.append(_about(path, f"the folder {collection!r} is not lower-case letters, digits and underscores"))
    if problems:
        raise DocumentError(in_order(problems))
    data, parameters = document.data, document.data["parameters"]
    return Template(
        name=f"{collection}/{data['id']}",
        collection=collection,
        id=data["id"],
        wording=data["wording"],
        path=path,
        parameters=parameters["schema"],
        unworded=tuple(parameters.get("unworded", ())),
        shown=parameters.get("shown", {}),
        constants=data.get("constants", {}),
        draws=parameters.get("draw", {}),
        flags=tuple(data.get("flags", ())),
        verifiers=own_verifiers(data, path.parent),
        judged=judged,
    )


def _about(path: PurePath, message: str) -> Problem:
    return Problem(shown_path(Path(path)), 1, 1, "document", message)
