"""Says what is wrong in a document, and where, in sentences for people."""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

Steps = tuple[str | int, ...]
"""The way from a document's top to a value: keys of mappings and indices of lists."""

LONGEST_GUESS = 64


class Problem(NamedTuple):
    """One thing wrong: `line` and `column` count from 1, `path` is dotted and `document` at the top."""

    file: str
    line: int
    column: int
    path: str
    message: str

    def __str__(self) -> str:
        return f"{self.file}:{self.line}:{self.column}: {self.path}: {self.message}"


class DocumentError(Exception):
    """Every problem found, in the order of files and lines; as text, one problem a line."""

    def __init__(self, problems: Iterable[Problem]) -> None:
        self.problems: tuple[Problem, ...] = tuple(problems)
        super().__init__(self.problems)

    def __str__(self) -> str:
        return "\n".join(map(str, self.problems))


def in_order(problems: Iterable[Problem]) -> list[Problem]:
    """Each problem of one file once, by line and column."""
    return sorted(dict.fromkeys(problems), key=lambda problem: (problem.line, problem.column))


def dotted(steps: Steps) -> str:
    """`("examples", 3, "id")` as `examples[3].id`; the empty way is `document`."""
    text = "".join(f"[{step}]" if isinstance(step, int) else f".{_printable(step)}" for step in steps)
    return text.removeprefix(".") or "document"


def _printable(step: str) -> str:
    return shortened(step) if step.isprintable() else quoted(step)


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """`; did you mean 'examples'?`, or nothing where no known word is close."""
    if len(word) > LONGEST_GUESS:
        return ""
    # n for N is a near miss too
    lowered = {name.lower(): name for name in known}
    close = difflib.get_close_matches(word.lower(), lowered, n=1, cutoff=0.6)
    return f"; did you mean {lowered[close[0]]!r}?" if close else ""


def quoted(value: object) -> str:
    """The value as Python writes it, but `true`, `false` and `null`; cut in the middle where it is long."""
    constant = "null" if value is None else str(value).lower() if isinstance(value, bool) else None
    return constant or shortened(repr(value), 80)


def shortened(text: str, limit: int = 60) -> str:
    kept = (limit - 3) // 2
    return text if len(text) <= limit else f"{text[:kept]}...{text[-kept:]}"


def shown_path(path: Path) -> str:
    """The path as a person would type it: relative to the current directory where it lies below it."""
    try:
        return str(path.resolve().relative_to(Path.cwd()))
    except (OSError, ValueError, RuntimeError):
        return str(path)
