"""The findings and their lock as the settling of a case needs them: by template and check, with `when` compiled."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from oracles.compiling import Predicate, compile_predicate
from specs.findings import ADJUDICATIONS, LOCK, Finding, load_findings
from specs.templates import Template

from .calls import Call
from .lock import Lock, Place, read_lock

WITNESS = "witness:"


@dataclass(frozen=True)
class Adjudications:
    """All findings, what `when` says of an input, and what was said to their witnesses when the lock was written."""

    findings: Mapping[str, Finding]
    lock: Lock
    path: Path

    @classmethod
    def load(cls, directory: Path | None = None, templates: Mapping[str, Template] | None = None) -> Adjudications:
        """From a directory of findings with its lock (ours where None). Raises DocumentError."""
        directory = directory or ADJUDICATIONS
        return cls(load_findings([directory], templates), read_lock(directory / LOCK), directory / LOCK)

    def of(self, template: str, check: str) -> tuple[Finding, ...]:
        """The findings whose alarms a case of this check on this template may show, the narrower first."""
        found = [each for each in self.findings.values() if each.concerns(template, check)]
        return tuple(sorted(found, key=_breadth))

    def witness_calls(self, template: str, check: str) -> list[Call]:
        """The witnesses that a case has to send beside its own calls."""
        found = [(finding, finding.witness(template)) for finding in self.of(template, check)]
        return [
            Call(template, witness.params, WITNESS + finding.id, witness.response)
            for finding, witness in found
            if witness
        ]

    def asks(self, place: Place) -> bool:
        """Whether a finding of now has this witness, in this check."""
        finding = self.findings.get(place.finding)
        return (
            finding is not None
            and finding.concerns(place.template, place.check)
            and bool(finding.witness(place.template))
        )

    def holds(self, finding: Finding) -> Predicate:
        return self._predicates[finding.id]

    @cached_property
    def _predicates(self) -> dict[str, Predicate]:
        return {name: compile_predicate(finding.when) for name, finding in self.findings.items()}


def _breadth(finding: Finding) -> tuple[bool, bool, int, str]:
    copies: Sequence[str] = finding.implementations or ()
    return finding.templates is None, finding.implementations is None, len(copies), finding.id
