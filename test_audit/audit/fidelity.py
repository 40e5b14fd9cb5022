"""Whether a checker uses the arguments that it was given: what it says of itself, compared with what it got."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from verifiers_pinned.session import BatchResult, Session
from verifiers_pinned.verdicts import Verdict

SEEDS = 20
SHOWN = 80
UNTOLD = object()


class Told(NamedTuple):
    """One item for each of the arguments: the alarm or None, and what is altered or why nothing was built."""

    result: BatchResult
    alarms: list[str | None]
    details: list[str | None]


def ask(session: Session, implementation: str, template: str, params: Sequence[Mapping[str, Any]]) -> Told:
    """Build the checker for each of `params`; under 20 seeds where it draws, and for the first in any case.

    What draws from elsewhere than the global generator is not seen to draw, and shows in the first alone.
    """
    own = session.catalogue.implementations[implementation].own_parameters
    told = Told(session.describe_batch(implementation, template, params), [], [])
    for at, given in enumerate(params):
        verdict = told.result.verdicts[at]
        answers = [told.result.answers[at]] if at in told.result.answers else []
        if answers and (at == 0 or told.result.drew_random[at]):
            more = session.describe_batch(implementation, template, [given], seeds=range(1, SEEDS))
            answers += more.answers.values()
        altered = difference(own(template, given) or {}, answers) if answers else None
        crashed = verdict in (Verdict.crash, Verdict.timeout)
        told.alarms.append(verdict.value if crashed else "altered" if altered else None)
        told.details.append(altered or told.result.details.get(at))
    return told


def difference(given: Mapping[str, Any], answers: Sequence[Mapping[str, Any]]) -> str | None:
    """What is altered, in one line; None where nothing is. `answers` are of the same arguments, a seed each.

    Values are compared as they count: 2 is 2.0, and a list is the same in another order. What a checker does not tell
    is compared by nothing but its state, which may not depend on the seed.
    """
    told = [*_altered(given, answers[0]), *_seed_dependent(answers)]
    return "; ".join(told) or None


def _altered(given: Mapping[str, Any], answer: Mapping[str, Any]) -> list[str]:
    arguments = answer.get("arguments") or {}
    pairs = [(name, value, arguments.get(name, UNTOLD)) for name, value in given.items()]
    told = [
        f"{name} is {_shown(used)}, given was {_shown(value)}"
        for name, value, used in pairs
        if used is not UNTOLD and not same(value, used)
    ]
    if "changed" in answer:
        told.append("a list of the caller's was changed in place")
    return told


def _seed_dependent(answers: Sequence[Mapping[str, Any]]) -> list[str]:
    first = answers[0]
    for name, what in (("arguments", "what it uses"), ("text", "what it renders"), ("state", "what it keeps")):
        if any(each.get(name) != first.get(name) for each in answers):
            return [f"{what} depends on the seed"]
    return []


def same(given: object, used: object) -> bool:
    if isinstance(given, list) and isinstance(used, list):
        return sorted(given, key=repr) == sorted(used, key=repr)
    return given == used and isinstance(given, bool) == isinstance(used, bool)


def _shown(value: object) -> str:
    told = repr(value)
    return told if len(told) <= SHOWN else told[: SHOWN - 1] + "…"
