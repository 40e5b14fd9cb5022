"""Findings: adjudicated classes of alarms, each with a predicate that says which inputs show it, and witnesses."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from .documents import Document, DocumentError, Problem, did_you_mean, open_document
from .language import Expression, ExpressionError, Measure, Scope, load_measures, located, read_predicate
from .loading import load_templates
from .problems import in_order, shown_path
from .schemas import ROOM, schema
from .templates import ParameterError, Template

ANY = "any"
ADJUDICATIONS = ROOM / "adjudications"
LOCK = "lock.yaml"
SURROGATE = re.compile(r"\\u([dD][89a-fA-F][0-9a-fA-F]{2})")


@dataclass(frozen=True)
class Witness:
    """An input that shows a finding on one template."""

    template: str
    params: Mapping[str, Any] = field(hash=False)
    response: str


@dataclass(frozen=True)
class Finding:
    """One class of alarms. `templates`, `checks` and `implementations` are None where they are any."""

    id: str
    kind: str
    title: str
    words: str
    templates: tuple[str, ...] | None
    checks: tuple[str, ...] | None
    implementations: tuple[str, ...] | None
    alarms: tuple[str, ...]
    when: Expression
    witnesses: tuple[Witness, ...]
    date: str
    links: tuple[str, ...] = ()
    effect: Mapping[str, Any] | None = field(default=None, hash=False)

    def concerns(self, template: str, check: str) -> bool:
        """Whether alarms of this check on this template may be its own, and its witness is sent."""
        return (self.templates is None or template in self.templates) and (self.checks is None or check in self.checks)

    def witness(self, template: str) -> Witness | None:
        return next((each for each in self.witnesses if each.template == template), None)


def load_findings(
    directories: Sequence[Path] | None = None, templates: Mapping[str, Template] | None = None
) -> dict[str, Finding]:
    """All findings by id, from `<collection>/<id>.yaml` below each directory (ours without any).

    Raises one `DocumentError` with all problems of all files. `templates` are those that findings may be about.
    """
    known = load_templates() if templates is None else templates
    measures = load_measures()
    findings: dict[str, Finding] = {}
    paths: dict[str, Path] = {}
    problems: list[Problem] = []
    for directory in [ADJUDICATIONS] if directories is None else directories:
        for path in finding_files(directory):
            try:
                finding = read_finding(path, known, measures)
            except DocumentError as error:
                problems += error.problems
                continue
            first = paths.setdefault(finding.id, path)
            findings.setdefault(finding.id, finding)
            if first is not path:
                message = f"{finding.id} stands in {shown_path(first)} already"
                problems.append(Problem(shown_path(path), 1, 1, "document", message))
    if problems:
        raise DocumentError(problems)
    return findings


def finding_files(directory: Path) -> list[Path]:
    """The files of the findings below a directory of adjudications, in order."""
    found = [*directory.glob("*/**/*.yaml"), *directory.glob("*/**/*.yml"), *directory.glob("*.yml")]
    # one beside the lock would otherwise lie there unnoticed
    return sorted([*found, *(path for path in directory.glob("*.yaml") if path.name != LOCK)])


def read_finding(path: Path, templates: Mapping[str, Template], measures: Mapping[str, Measure]) -> Finding:
    """The finding of one file. Raises `DocumentError` with everything wrong in it."""
    document = open_document(path, schema("finding"))
    data = document.data
    about = _templates(data["template"])
    problems = [*_place_problems(document, path, about), *_template_problems(document, about, templates)]
    if problems:
        raise DocumentError(in_order(problems))
    problems = list(_witness_problems(document, about, templates))
    when: Expression | None = None
    scope = Scope.of_templates([templates[name].parameters for name in about or ()], measures)
    try:
        when = read_predicate(data["when"], scope)
    except ExpressionError as error:
        problems += located(path, document, ("when",), data["when"], error)
    if problems or when is None:
        raise DocumentError(in_order(problems))
    return Finding(
        id=data["id"],
        kind=data["class"],
        title=data["title"],
        words=data["words"],
        templates=about,
        checks=_any(data["checks"]),
        implementations=_any(data["implementations"]),
        alarms=tuple(data["alarms"]),
        when=when,
        witnesses=tuple(Witness(_asked(each, about), each["params"], _response(each)) for each in data["witnesses"]),
        date=data["date"],
        links=tuple(data.get("links", ())),
        effect=data.get("effect"),
    )


def _any(told: str | list[str]) -> tuple[str, ...] | None:
    return None if isinstance(told, str) else tuple(told)


def _templates(told: str | list[str]) -> tuple[str, ...] | None:
    if told == ANY:
        return None
    return (told,) if isinstance(told, str) else tuple(told)


def _asked(witness: Mapping[str, Any], about: tuple[str, ...] | None) -> str:
    only = about[0] if about is not None and len(about) == 1 else ""
    return str(witness.get("template", only))


def _response(witness: Mapping[str, Any]) -> str:
    text = str(witness["response"])
    if witness.get("lone_surrogates"):
        text = SURROGATE.sub(lambda found: chr(int(found.group(1), 16)), text)
    return text * int(witness.get("repeat", 1))


def _place_problems(document: Document, path: Path, about: tuple[str, ...] | None) -> Iterator[Problem]:
    if path.name != f"{document.data['id']}.yaml":
        message = f"the file's name says {path.stem!r}"
        yield document.problem(("id",), message if path.suffix == ".yaml" else f"{message}, and should end in .yaml")
    collections = {name.partition("/")[0] for name in about or ()}
    if about is not None and path.parent.name not in collections:
        yield document.problem(("template",), f"the folder {path.parent.name!r} is not the collection of any template")


def _template_problems(
    document: Document, about: tuple[str, ...] | None, templates: Mapping[str, Template]
) -> Iterator[Problem]:
    told = document.data["template"]
    for index, name in enumerate(about or ()):
        if name not in templates:
            steps = ("template",) if isinstance(told, str) else ("template", index)
            yield document.problem(steps, f"there is no template {name!r}{did_you_mean(name, templates)}")


def _witness_problems(
    document: Document, about: tuple[str, ...] | None, templates: Mapping[str, Template]
) -> Iterator[Problem]:
    seen: set[str] = set()
    for index, witness in enumerate(document.data["witnesses"]):
        steps = ("witnesses", index)
        name = _asked(witness, about)
        if not name:
            yield document.problem(steps, "says no template, and the finding is about more than one")
        elif name not in templates or (about is not None and name not in about):
            hint = did_you_mean(name, about or templates)
            yield document.problem((*steps, "template"), f"{name!r} is no template of this finding{hint}")
        elif name in seen:
            yield document.problem(steps, f"a second witness for {name}; one is enough")
        else:
            try:
                templates[name].check_params(witness["params"])
            except ParameterError as error:
                yield from (document.problem((*steps, "params"), message) for message in error.messages)
        seen.add(name)
    for name in about or ():
        if name not in seen:
            yield document.problem(("witnesses",), f"there is none for {name}")
