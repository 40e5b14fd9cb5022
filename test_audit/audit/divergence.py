"""Where implementations of one template part: clusters of those that agree, and the inputs on which they split."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence

from specs import Template, load_probes
from verifiers_pinned.records import Implementation
from verifiers_pinned.session import BatchResult
from verifiers_pinned.verdicts import Verdict

from .calls import Call
from .extremes import hostile_params, telling_responses
from .hostile import brief_responses
from .instances import given_params
from .questions import drawn_params, natural_calls, usual_params
from .stability import TEXTS

VOTES = (Verdict.accept, Verdict.reject, Verdict.crash, Verdict.timeout)
NATURAL, GIVEN = 12, 24

Verdicts = Mapping[str, Sequence[Verdict]]
"""By implementation, one verdict for each input."""


def divergence_calls(template: Template) -> list[Call]:
    """Probes, hostile texts, natural responses, and texts with arguments of all kinds."""
    usual, small = usual_params(template), drawn_params(template, "small")[0]
    given = [each.params for each in given_params(template, drawn=3)[:GIVEN]]
    asked = [(usual, (probe.id, probe.text)) for probe in load_probes()]
    asked += [(usual, response) for response in brief_responses()]
    asked += [(params, response) for params in given for response in TEXTS]
    asked += [(params, each) for params in given for each in telling_responses(params)[1:]]
    asked += [(params, each) for params in hostile_params(template, small) for each in telling_responses(params)]
    return [*natural_calls(template.name)[:NATURAL], *(Call(template.name, params, *each) for params, each in asked)]


def version_of(siblings: Iterable[Implementation]) -> str:
    """Eight characters that say who was asked, for the lock: with others there are other splits."""
    told = " ".join(sorted(f"{each.key}@{each.source.version}" for each in siblings))
    return hashlib.sha256(told.encode()).hexdigest()[:8]


def voters(verdicts: Verdicts) -> list[str]:
    """Those who said anything: a checkout that was not given is among the siblings, and was not asked."""
    return sorted(key for key, vector in verdicts.items() if any(verdict in VOTES for verdict in vector))


def clusters(verdicts: Verdicts) -> list[tuple[str, ...]]:
    """Those whose verdicts are the same on every input, the largest cluster first."""
    found: dict[tuple[Verdict, ...], list[str]] = {}
    for key, vector in verdicts.items():
        found.setdefault(tuple(vector), []).append(key)
    return sorted((tuple(sorted(keys)) for keys in found.values()), key=lambda keys: (-len(keys), keys))


def split(verdicts: Verdicts, at: int) -> dict[Verdict, list[str]]:
    """Who said what to one input; those who were not asked, or have no words for it, have no vote."""
    told: dict[Verdict, list[str]] = {}
    for key in sorted(verdicts):
        if verdicts[key][at] in VOTES:
            told.setdefault(verdicts[key][at], []).append(key)
    return dict(sorted(told.items(), key=lambda item: (-len(item[1]), item[0].value)))


def told_split(votes: Mapping[Verdict, Sequence[str]]) -> str:
    """`reject: 13 others; accept: deepeval`: the largest side by its number, the others by name."""
    (most, agreeing), *others = votes.items()
    named = "; ".join(f"{verdict.value}: {', '.join(keys)}" for verdict, keys in others)
    count = len(agreeing)
    return f"{most.value}: {agreeing[0] if count == 1 else f'{count} others'}; {named}"


def smallest_splits(calls: Sequence[Call], verdicts: Verdicts) -> dict[str, int]:
    """By who parted from whom, the place of the shortest input on which they did."""
    found: dict[str, int] = {}
    for at in sorted(range(len(calls)), key=lambda at: (len(calls[at].response), at)):
        votes = split(verdicts, at)
        if len(votes) > 1:
            found.setdefault(told_split(votes), at)
    return found


def common_result(verdicts: Verdicts, places: Sequence[int]) -> BatchResult:
    """The verdicts of all siblings as one: theirs where they agree, and the more frequent where they split."""
    result = BatchResult.blank(len(places))
    for index, at in enumerate(places):
        votes = split(verdicts, at)
        if votes:
            result.put(index, next(iter(votes)), told_split(votes) if len(votes) > 1 else "")
    return result
