"""Arguments that a template is asked with: official ones, drawn ones, and the extremes of its draws."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from random import Random
from typing import Any

from specs import Template, draw_params
from specs.draws import KINDS
from verifiers_pinned.data import PROMPTS, load_prompts

DRAWN = 8
MANY = 200


@dataclass(frozen=True)
class Given:
    """Arguments with their name: `official`, `small-3`, `upstream-0` or `least-n_start`.

    Official ones have the key of the first prompt that uses them and which of its instances.
    """

    name: str
    params: Mapping[str, Any]
    prompt: str | None = None
    instance: int | None = None


def given_params(template: Template, seed: int = 0, drawn: int = DRAWN) -> list[Given]:
    """Different arguments of `template`, in a fixed order."""
    rng = Random(f"{seed} {template.name}")
    found = [*official_params(template.name)]
    if template.draws or not template.parameter_names:
        found += [Given(f"{kind}-{at}", draw_params(template, kind, rng)) for kind in KINDS for at in range(drawn)]
        found += extremes(template, rng)
    first: dict[str, Given] = {}
    for each in found:
        first.setdefault(json.dumps(each.params, sort_keys=True), each)
    return [*first.values()]


def official_params(template: str) -> Sequence[Given]:
    """Each official instance of a template; none where its collection has no official prompts."""
    return _official(template.partition("/")[0]).get(template, [])


@cache
def _official(collection: str) -> dict[str, list[Given]]:
    found: dict[str, list[Given]] = {}
    for prompt in load_prompts(collection) if collection in PROMPTS else ():
        for each in prompt.instances:
            given = Given("official", each.params, prompt.key, each.index)
            found.setdefault(each.template, []).append(given)
    return found


def extremes(template: Template, rng: Random) -> Iterator[Given]:
    """Of many small draws those with a parameter at its least, its most, or one of its words; so all can be met.

    A falsy value is where a default creeps in.
    """
    many = [draw_params(template, "small", rng) for _ in range(MANY)]
    for name, declared in template.parameters["properties"].items():
        having = [params for params in many if name in params]
        if having and declared["type"] in ("integer", "number"):
            yield Given(f"least-{name}", min(having, key=lambda params: params[name]))
            yield Given(f"most-{name}", max(having, key=lambda params: params[name]))
        for word in declared.get("enum", ()):
            chosen = [params for params in having if params[name] == word]
            yield from (Given(f"{name}-{word}", params) for params in chosen[:1])
