"""Holds what a template shows to its oracle: examples, axes that matter, and relations that apply."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import product
from random import Random

from specs import Template
from specs.oracle import OracleExample, OracleSpec, Relation

from .judging import ACCEPT, REJECT, Judgement, NoOracle, OracleError, oracle_of, values_of
from .transforms import apply_transform

FEWEST = 3

Shown = list[tuple[OracleExample, Judgement]]


def complaints(template: Template) -> list[str]:
    """Everything in which a template's examples and its oracle do not fit, one sentence each; none without one."""
    if template.oracle is None:
        return []
    try:
        judged = oracle_of(template)
        shown = [(example, judged(example.params, example.text)) for example in template.examples]
        return [
            *_expectations(shown),
            *_shares(template),
            *_idle_readings(template.oracle, shown),
            *(message for relation in template.relations for message in _relation(template, relation, shown)),
        ]
    except (OracleError, NoOracle) as error:
        return [str(error)]


def _expectations(shown: Shown) -> Iterator[str]:
    for example, judgement in shown:
        if example.expect != judgement.answer:
            yield f"example {example.id!r} expects {example.expect}; the oracle says {told(judgement)}"


def told(judgement: Judgement) -> str:
    """The answer, and where there is more than one reading, what each says."""
    if len(judgement.readings) == 1:
        return judgement.answer
    return f"{judgement.answer} ({'; '.join(f'{name}: {answer}' for name, answer in judgement.readings.items())})"


def _shares(template: Template) -> Iterator[str]:
    counts = Counter(example.expect for example in template.examples)
    for expect in (ACCEPT, REJECT):
        if counts[expect] < FEWEST:
            yield f"{counts[expect]} examples are expected to be {expect}ed where at least {FEWEST} are wanted"


def _idle_readings(oracle: OracleSpec, shown: Shown) -> Iterator[str]:
    """Readings that say the same as each sibling on every example; siblings differ in one axis."""
    if oracle.python is not None:
        names = sorted({name for _, judgement in shown for name in judgement.readings})
        idle = [name for name in names if not any(_parts(judgement, name, names) for _, judgement in shown)]
        yield from (f"the reading {name!r} differs from no other on any example" for name in idle if len(names) > 1)
        return
    chosen = list(product(*map(tuple, oracle.axes.values())))
    names_of = dict(zip(chosen, oracle.readings, strict=True))
    for index, (axis, readings) in enumerate(oracle.axes.items()):
        for reading in readings:
            siblings = {
                names_of[each]: [names_of[other] for other in chosen if _without(other, index) == _without(each, index)]
                for each in chosen
                if each[index] == reading
            }
            if not any(_parts(judgement, *pair) for _, judgement in shown for pair in siblings.items()):
                yield f"the reading {axis}={reading} differs from its siblings on no example; add one that shows it"


def _without(chosen: tuple[str, ...], index: int) -> tuple[str, ...]:
    return chosen[:index] + chosen[index + 1 :]


def _parts(judgement: Judgement, name: str, others: list[str]) -> bool:
    """Whether the reading answers other than one of these."""
    mine = judgement.readings.get(name)
    return mine is not None and any(judgement.readings.get(other, mine) != mine for other in others)


def _relation(template: Template, relation: Relation, shown: Shown) -> Iterator[str]:
    oracle = template.oracle
    assert oracle is not None
    holds = values_of(template.name, oracle, relation.when) if relation.when else None
    what = f"{relation.edit} {'must change' if relation.change else 'must preserve'} the verdict"
    applied = False
    for example, before in shown:
        after = apply_transform(relation.edit, example.text, Random(0))
        if after == example.text or (holds and not all(holds(example.params, example.text))):
            continue
        applied = True
        edited = oracle_of(template)(example.params, after)
        changed = [before.readings[name] != edited.readings[name] for name in before.readings]
        if not all(changed) if relation.change else any(changed):
            yield f"{what}; on example {example.id!r} it goes from {told(before)} to {told(edited)}"
    if not applied:
        yield f"{what}, but applies to no example; add one that it changes{' and where `when` holds' if holds else ''}"
