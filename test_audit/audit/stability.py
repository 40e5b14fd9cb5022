"""Whether a verdict stays what it is: under other seeds, in another process, and with eight threads at a cold start."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence

from specs import Template, load_probes
from verifiers_pinned.session import BatchResult, Session
from verifiers_pinned.verdicts import Verdict

from .calls import Call
from .extremes import spans
from .instances import given_params
from .questions import natural_calls, usual_params

SEEDS, FEWER_SEEDS = 200, 20
PAIRS = 8
"""How many (params, response) pairs of a case are asked under many seeds."""
THREADS = 8
OTHER_SEED = 1
TEXTS = (
    ("short", "Yes."),
    ("mixed", "Die Antwort is one two three, oui."),
    ("plain", "The first is here. The second comes next! Is this the third?\n\nYes, and this is the fourth."),
)

Ask = Callable[[Sequence[Call], Sequence[int]], BatchResult]


def stability_calls(template: Template) -> list[Call]:
    """Sample responses on their instances, and a few texts with arguments of all kinds, falsy ones among them."""
    few = [
        Call(template.name, given.params, name, text)
        for given in given_params(template, drawn=2)[:40]
        for name, text in (*TEXTS, *spans(given.params))
    ]
    probes = [
        Call(template.name, usual_params(template), probe.id, probe.text)
        for probe in load_probes()
        if probe.text and probe.text != TEXTS[0][1]
    ]
    return [*natural_calls(template.name), *few, *probes]


def needs_language(template: Template) -> bool:
    return "needs_language" in template.flags


def unstable(
    session: Session, other: Session, implementation: str, template: Template, calls: Sequence[Call]
) -> tuple[BatchResult, dict[int, str]]:
    """The verdicts, and by call what `other`, a process with other seeds, or one of many seeds says instead."""
    questions = [call.question for call in calls]
    result = session.call_batch(implementation, template.name, questions)
    elsewhere = other.call_batch(implementation, template.name, questions)
    told = told_differences(result, elsewhere, "in another process, with other seeds")
    ask = asker(session, implementation)
    drew = restless(calls, result)
    told |= _named(drew, spread([calls[at] for at in drew], ask, SEEDS))
    if needs_language(template):
        detected = [at for at, call in enumerate(calls) if call.response_id in dict(TEXTS)][: len(TEXTS)]
        told |= _named(detected, spread([calls[at] for at in detected], ask, FEWER_SEEDS))
    return result, told


def _named(places: Sequence[int], spreads: Sequence[Counter[Verdict]]) -> dict[int, str]:
    found = ((at, told_spread(counts)) for at, counts in zip(places, spreads, strict=True))
    return {at: told for at, told in found if told}


def asker(session: Session, implementation: str) -> Ask:
    """Asks with one seed for each call."""

    def ask(calls: Sequence[Call], seeds: Sequence[int]) -> BatchResult:
        return session.call_batch(implementation, calls[0].template, [call.question for call in calls], seeds=seeds)

    return ask


def restless(calls: Sequence[Call], result: BatchResult, many: int = PAIRS) -> list[int]:
    """Which calls to ask under many seeds: of those that drew, natural ones first, each of other arguments."""
    drew = [at for at, drawn in enumerate(result.drew_random) if drawn]
    drew.sort(key=lambda at: calls[at].response_id != "original")
    first: dict[str, int] = {}
    for at in drew:
        first.setdefault(repr(calls[at].params), at)
    return list(dict.fromkeys([*first.values(), *drew]))[:many]


def spread(calls: Sequence[Call], ask: Ask, seeds: int) -> list[Counter[Verdict]]:
    """The verdicts of each call under that many seeds."""
    asked = [call for call in calls for _ in range(seeds)]
    if not asked:
        return []
    verdicts = ask(asked, list(range(seeds)) * len(calls)).verdicts
    return [Counter(verdicts[at : at + seeds]) for at in range(0, len(asked), seeds)]


def told_spread(counts: Counter[Verdict]) -> str | None:
    """`under 200 seeds: 190 reject, 10 accept`, or None where all agree."""
    if len(counts) < 2:
        return None
    shares = ", ".join(f"{count} {verdict.value}" for verdict, count in counts.most_common())
    return f"under {counts.total()} seeds: {shares}"


def told_differences(one: BatchResult, other: BatchResult, where: str) -> dict[int, str]:
    """By call, what the other run said where it differs."""
    pairs = enumerate(zip(one.verdicts, other.verdicts, strict=True))
    return {at: f"{where}: {theirs.value}" for at, (ours, theirs) in pairs if ours is not theirs}


def told_threads(alone: Verdict, together: BatchResult) -> str | None:
    """What threads said where they differ from a call alone; without numbers, which change from run to run."""
    others = sorted({verdict.value for verdict in together.verdicts if verdict is not alone})
    return f"{len(together.verdicts)} threads at a cold start: also {', '.join(others)}" if others else None
