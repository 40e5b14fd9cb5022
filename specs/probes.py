"""The probes: responses that are sent to every verifier on purpose, whatever was asked."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from .documents import DocumentError, open_document
from .schemas import ROOM, schema


@dataclass(frozen=True)
class Probe:
    """One response; `content_free` where it has text and says nothing."""

    id: str
    text: str
    content_free: bool
    description: str


def load_probes(path: Path | None = None) -> tuple[Probe, ...]:
    """The probes of `probes.yaml` in its order; raises `DocumentError` with all its problems."""
    document = open_document(path or ROOM / "probes.yaml", schema("probes"))
    probes = tuple(Probe(**entry) for entry in document.data["probes"])
    problems = []
    for field in ("id", "text"):
        seen: set[str] = set()
        for index, probe in enumerate(probes):
            value = getattr(probe, field)
            if value in seen:
                problems.append(document.problem(("probes", index, field), f"{value!r} stands in an earlier probe too"))
            seen.add(value)
    if problems:
        raise DocumentError(problems)
    return probes
