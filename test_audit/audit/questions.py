"""The calls that several checks make: probes on official or drawn instances, and sample responses on their own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from random import Random
from typing import Any

from specs import Template, draw_params
from verifiers_pinned.data import PROMPTS, load_prompts, load_sample_responses

from .calls import Call, Response, official_calls
from .instances import official_params

DRAWN = 120
"""How many instances are drawn of a template that has no official ones."""


def drawn_params(template: Template, kind: str, count: int = 1) -> list[Mapping[str, Any]]:
    """Arguments that only the template's name and the kind decide; all the same where there is nothing to draw."""
    rng = Random(f"{template.name} {kind}")
    return [draw_params(template, kind, rng) for _ in range(count)]


def drawn_calls(template: Template, responses: Sequence[Response], count: int = DRAWN) -> list[Call]:
    """Each response to each instance drawn as upstream draws; an instance counts as a prompt of its own."""
    return [
        Call(template.name, params, name, text, f"{template.id}/upstream/{number}", 0)
        for number, params in enumerate(drawn_params(template, "upstream", count))
        for name, text in responses
    ]


def probe_calls(template: Template, responses: Sequence[Response]) -> list[Call]:
    """Each response to each official instance, or to drawn instances where a collection has no official prompts."""
    if template.collection in PROMPTS:
        return official_calls(template.collection, responses, template.name)
    return drawn_calls(template, responses)


def usual_params(template: Template) -> Mapping[str, Any]:
    """The arguments of the first official instance, or small ones where there is none."""
    official = official_params(template.name)
    return official[0].params if official else drawn_params(template, "small")[0]


@cache
def natural_calls(template: str) -> tuple[Call, ...]:
    """The sample responses of IFBench, each to the instances of the template in its own prompt."""
    responses = load_sample_responses()
    return tuple(
        Call(template, instance.params, "original", responses[prompt.text], prompt.key, instance.index)
        for prompt in load_prompts("ifbench")
        for instance in prompt.instances
        if instance.template == template and prompt.text in responses
    )
