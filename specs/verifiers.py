"""Functions of a user's own that check a template, named in its file: `verifiers: [{python: FILE.py:function}]`."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from .documents import Document, Problem, did_you_mean


class OwnVerifier(NamedTuple):
    """`function(text, **params) -> bool` in a Python file, which is not imported here."""

    file: Path
    function: str


def own_verifiers(data: Mapping[str, Any], folder: Path) -> tuple[OwnVerifier, ...]:
    """The verifiers that a template's file in `folder` names; files are relative to it."""
    named = [each["python"].rpartition(":") for each in data.get("verifiers", ())]
    return tuple(OwnVerifier((folder / file).resolve(), function) for file, _, function in named)


def verifier_problems(document: Document, folder: Path) -> Iterator[Problem]:
    """Files that are not there or are no Python, and functions that they do not define."""
    for index, (file, function) in enumerate(own_verifiers(document.data, folder)):
        if (message := _objection(file, function)) is not None:
            yield document.problem(("verifiers", index, "python"), message)


def _objection(file: Path, function: str) -> str | None:
    try:
        tree = ast.parse(file.read_bytes())
    except OSError as error:
        return f"{file} cannot be read: {error.strerror}"
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        return f"{file} is no Python: {error}"
    functions = [node.name for node in tree.body if isinstance(node, ast.FunctionDef)]
    if function in functions:
        return None
    return f"{file.name} has no function {function!r} at its top level{did_you_mean(function, functions)}"
