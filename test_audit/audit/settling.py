"""Settles a case: which finding each alarm belongs to, whether witnesses say what the lock says, and so its colour."""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from reports.row import SIBLINGS
from specs.findings import Finding

from .adjudications import Adjudications
from .lock import ALARMS, Place

UNASKED = ("not_run", "unsupported")
LONGEST_SHOWN = 300


class Case(NamedTuple):
    """One template, one implementation, one check."""

    template: str
    implementation: str
    version: str
    check: str


class Asked(NamedTuple):
    """One call of a case and what came of it; `witness` is the finding whose witness it is."""

    params: Mapping[str, Any]
    response: str
    verdict: str | None
    alarm: str | None
    detail: str | None = None
    witness: str | None = None

    @property
    def size(self) -> tuple[int, str, int, str]:
        params = canonical(self.params)
        return len(self.response), self.response, len(params), params


@dataclass
class Settlement:
    """`findings` has one id or None for each call; the case is red with problems, else known by `ids`, else green.

    `unlocked` are the problems that writing the lock anew ends.
    """

    findings: list[str | None]
    problems: list[str] = field(default_factory=list)
    unlocked: list[str] = field(default_factory=list)
    witnessed: dict[Place, str] = field(default_factory=dict)

    @property
    def ids(self) -> list[str]:
        return sorted({each for each in self.findings if each is not None})


def canonical(params: Mapping[str, Any]) -> str:
    return json.dumps(params, sort_keys=True, default=str)


def settle(case: Case, asked: Sequence[Asked], adjudications: Adjudications) -> Settlement:
    """What a case comes to; pure.

    A finding covers alarms of its kinds, in its implementations, on inputs that meet its `when`, and only where at
    least half of the case's different inputs that meet it alarm.
    """
    concerned = adjudications.of(case.template, case.check)
    told = Settlement([None] * len(asked))
    for finding in concerned:
        if finding.implementations is None or case.implementation in finding.implementations:
            told.problems += _cover(finding, case, asked, adjudications, told.findings)
    told.problems += _uncovered(case, asked, told.findings)
    told.problems += _witnesses(case, asked, concerned, adjudications, told)
    return told


def _cover(
    finding: Finding, case: Case, asked: Sequence[Asked], adjudications: Adjudications, covered: list[str | None]
) -> Iterator[str]:
    """Put the finding's id where it covers an alarm that nothing covers yet; say so where it reaches too far."""
    holds = adjudications.holds(finding)
    meet = [at for at, each in enumerate(asked) if each.verdict not in UNASKED and holds(each.params, each.response)]
    alarms = [at for at in meet if asked[at].alarm in finding.alarms]
    many, few = _inputs(asked, meet), _inputs(asked, alarms)
    if not alarms:
        return
    if 2 * few < many:
        yield (
            f"finding {finding.id} reaches too far: {few} of the {many} inputs that meet its `when` alarm here, and it "
            f"covers none with less than half; narrow `when: {finding.when.source}`, or leave out {case.implementation}"
        )
        return
    for at in alarms:
        covered[at] = covered[at] or finding.id


def _inputs(asked: Sequence[Asked], places: Iterable[int]) -> int:
    return len({(canonical(asked[at].params), asked[at].response) for at in places})


def _uncovered(case: Case, asked: Sequence[Asked], covered: Sequence[str | None]) -> Iterator[str]:
    kinds: dict[str, list[Asked]] = {}
    for each, finding in zip(asked, covered, strict=True):
        if each.alarm is not None and finding is None:
            kinds.setdefault(each.alarm, []).append(each)
    for kind, alarms in sorted(kinds.items()):
        smallest = min(alarms, key=lambda each: each.size)
        calls = "1 call" if len(alarms) == 1 else f"{len(alarms):,} calls"
        yield (
            f"{kind} in {calls}, explained by no finding; the smallest:\n"
            f"  params:   {_shown(canonical(smallest.params))}\n"
            f"  response: {_shown(repr(smallest.response))}\n"
            f"  verdict:  {smallest.verdict}{': ' + smallest.detail if smallest.detail else ''}\n"
            f"  again:    {command(case, smallest)}"
        )


def _shown(text: str) -> str:
    return text if len(text) <= LONGEST_SHOWN else f"{text[:LONGEST_SHOWN]}... ({len(text):,} characters)"


def command(case: Case, asked: Asked) -> str:
    """The command that asks the verifier again, exactly, whatever the response holds."""
    program = "python -m verifiers_pinned verdict"
    only = "" if case.implementation == SIBLINGS else f" --implementation {case.implementation}"
    if asked.response.isprintable() and len(asked.response) <= LONGEST_SHOWN:
        params, text = shlex.quote(canonical(asked.params)), shlex.quote(asked.response)
        # with =, for a response may begin with a dash
        return f"{program} {case.template} --params {params} --text={text}{only}"
    line = json.dumps({"template": case.template, "params": asked.params, "text": asked.response}, default=str)
    return f"printf '%s\\n' {shlex.quote(line)} | {program} --jsonl -{only}"


def _witnesses(
    case: Case,
    asked: Sequence[Asked],
    concerned: Sequence[Finding],
    adjudications: Adjudications,
    told: Settlement,
) -> Iterator[str]:
    """What is wrong with the witnesses themselves; tells what was answered to them, and where the lock says other."""
    sent = {each.witness: each for each in asked if each.witness is not None}
    for finding in concerned:
        if finding.witness(case.template) is None:
            continue
        if finding.id not in sent:
            yield f"the witness of finding {finding.id} was not sent; a check sends settle.witnesses(...) too"
            continue
        each = sent[finding.id]
        if not adjudications.holds(finding)(each.params, each.response):
            yield f"the witness of finding {finding.id} does not meet its own `when: {finding.when.source}`"
        if each.verdict == "not_run":
            continue
        place = Place(finding.id, case.template, case.check, f"{case.implementation}@{case.version}")
        told.witnessed[place] = each.alarm or each.verdict or "silent"
        locked = adjudications.lock.get(place)
        if locked is None and case.implementation == SIBLINGS:
            continue  # others were chosen than those that the lock knows, and they may split in other places
        if told.witnessed[place] != locked:
            told.unlocked.append(_against_lock(place, told.witnessed[place], locked, command(case, each)))


def _against_lock(place: Place, said: str, locked: str | None, again: str) -> str:
    subject = f"{place.implementation} on the witness of finding {place.finding}"
    if locked is None:
        what = f"not in the lock: {subject} says {said}"
    elif locked in ALARMS and said not in ALARMS:
        what = f"mended? {subject} says {said}, and the lock says {locked}"
    elif said in ALARMS and locked not in ALARMS:
        what = f"new? {subject} says {said}, and the lock says {locked}"
    else:
        what = f"changed: {subject} says {said}, and the lock says {locked}"
    return f"{what}; if that is right, run again with --relock\n  again:    {again}"
