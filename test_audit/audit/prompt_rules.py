"""What a prompt's own words say against the arguments that a verifier is given for it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from specs import Template
from verifiers_pinned.data import Instance, Prompt

from .quantities import EXACT, LEAST, Quantity, asked_quantities, numbers, quantity

# How many a template asks for where it has no relation of its own.
IMPLIED = {
    "num_highlights": LEAST,
    "num_placeholders": LEAST,
    "num_sections": LEAST,
    "num_bullets": EXACT,
    "num_paragraphs": EXACT,
}
RELATIONS = {
    "num_words": "relation",
    "num_sentences": "relation",
    "frequency": "relation",
    "let_frequency": "let_relation",
    "capital_frequency": "capital_relation",
}
# What must stand near a number for it to be about this; else the keyword or letter itself.
NOUNS = {
    "num_words": "word|long|short|length",
    "num_sentences": "sentence",
    "capital_frequency": "capital|caps|upper",
    "num_highlights": "highlight|section|italic|emphas|bold",
    "num_placeholders": "placeholder|bracket",
    "num_bullets": "bullet|point|item",
    "num_paragraphs": "paragraph|section|part|divider|separat",
    "num_sections": "section|part|version|verse",
}
# Texts whose case the check does not look at.
CASELESS = ("keyword", "first_word", "end_phrase", "prompt_to_repeat", "letter", "word", "forbidden")
# A prompt that asks for a parameterless constraint holds one of these.
CUES = {
    "ifeval/punctuation:no_comma": "comma",
    "ifeval/detectable_format:title": "title|<<",
    "ifeval/detectable_format:json_format": "json",
    "ifeval/startend:quotation": "quot",
    "ifeval/change_case:english_lowercase": "lower ?-?case|small letters|(?:no|not|without) .*capital|capital .*not",
    "ifeval/change_case:english_capital": "capital|upper ?-?case|all caps|all-caps",
    "ifeval/combination:two_responses": r"\*{6}|six asterisk|6 asterisk",
    "ifeval/combination:repeat_prompt": "repeat|repleat",
    "ifeval/detectable_format:constrained_response": "my answer is",
    "ifeval/detectable_content:postscript": r"p\.s|p\.p\.s|postscript|post script",
}


class Contradiction(NamedTuple):
    """`rule` names what is contradicted, `detail` says how; `instance` counts from 0."""

    instance: int
    template: str
    params: Mapping[str, Any]
    rule: str
    detail: str


def contradictions(prompt: Prompt, templates: Mapping[str, Template]) -> Iterator[Contradiction]:
    """Where the prompt's words and the arguments of its instances do not fit, each rule once an instance."""
    for instance in prompt.instances:
        for rule, detail in _of_instance(prompt, instance, templates[instance.template]):
            yield Contradiction(instance.index, instance.template, instance.params, rule, detail)


def _of_instance(prompt: Prompt, instance: Instance, template: Template) -> Iterator[tuple[str, str]]:
    text = prompt.text
    cue = CUES.get(instance.template)
    if cue and not re.search(cue, text.lower()):
        yield "unasked", "the prompt does not ask for it"
    for name, value in instance.params.items():
        kind = template.parameters["properties"].get(name, {}).get("type")
        if name == "language":
            if template.shown["language"].get(value, value).lower() not in text.lower():
                yield "language", f"{value} is not named"
        elif kind == "array":
            for each in value:
                yield from _text_rule(f"{name} ", each, text)
        elif kind == "string" and "enum" not in template.parameters["properties"][name]:
            yield from _text_rule(name, value, text)
        elif kind in ("integer", "number"):
            yield from _number_rule(name, value, prompt, instance)


def _text_rule(name: str, value: str, text: str) -> Iterator[tuple[str, str]]:
    name = name.strip()
    given, prompt = _spaced(value), _spaced(text)
    if name.startswith(CASELESS):
        given, prompt = given.lower(), prompt.lower()
    # Keywords stand as whole words; a letter, an end phrase and a request stand where they stand.
    edge = r"(?<!\w){}(?!\w)" if name.startswith(("keyword", "forbidden", "first_word", "word")) else "{}"
    if re.search(edge.format(re.escape(given)), prompt):
        return
    shown = value if len(value) <= 60 else f"{value[:57]}..."
    if _bare(value) and _bare(value) in _bare(text):
        yield f"{name}-differs", f"{shown!r} stands there in other case, spaces or punctuation, or inside a word"
    else:
        yield f"{name}-absent", f"{shown!r} is not in the prompt"


def _number_rule(name: str, value: float, prompt: Prompt, instance: Instance) -> Iterator[tuple[str, str]]:
    number, relation = int(value), _relation(name, instance.params)
    if relation is None:
        if number not in numbers(prompt.text):
            yield f"{name}-absent", f"{number} is not in the prompt"
        return
    wanted = quantity(relation, number)
    about = (
        NOUNS[name] if name in NOUNS else re.escape(str(instance.params.get("keyword", instance.params.get("letter"))))
    )
    found = asked_quantities(prompt.text)
    asked = [each for each, around in found.items() if re.search(about.lower(), around)]
    together = _together(name, instance, prompt)
    if _says(wanted, asked) or _says(together, asked) or wanted == Quantity(1, None) or (not asked and wanted in found):
        return
    if wanted.high == 0 and re.search(r"\b(no|not|without|never|don't)\b", prompt.text.lower()):
        return
    near = [each for each in asked if {each.low, each.high} & {number - 1, number, number + 1}]
    named = {number, together.low, together.high} & numbers(prompt.text)
    if near or (asked and not named):
        yield f"{name}-relation", f"given {together}, the prompt says {' and '.join(map(str, near or asked))}"
    elif not named:
        yield f"{name}-absent", f"given {together}, and {number} is not in the prompt"
    elif together.low != together.high:
        yield f"{name}-bare", f"given {together}, the prompt says {number} and no comparison"


def _says(wanted: Quantity, asked: Sequence[Quantity]) -> bool:
    """Whether the prompt says it in one phrase, or its two ends in two."""
    ends = Quantity(wanted.low, None), Quantity(None, wanted.high)
    return wanted in asked or (None not in wanted and all(each in asked for each in ends))


def _together(name: str, instance: Instance, prompt: Prompt) -> Quantity:
    """What all instances of the prompt ask of the same thing: `at least 20` and `less than 26` are 20 to 25."""
    subject = [instance.params.get(each) for each in ("keyword", "letter")]
    found = Quantity(None, None)
    for each in prompt.instances:
        if each.template == instance.template and subject == [each.params.get(one) for one in ("keyword", "letter")]:
            found &= quantity(_relation(name, each.params) or EXACT, int(each.params[name]))
    return found


def _relation(name: str, params: Mapping[str, Any]) -> str | None:
    return params.get(RELATIONS[name]) if name in RELATIONS else IMPLIED.get(name)


def _spaced(text: str) -> str:
    return " ".join(text.translate(_QUOTES).split())


def _bare(text: str) -> str:
    return re.sub(r"[\W_]+", "", text.lower())


_QUOTES = str.maketrans({"“": '"', "”": '"', "’": "'", "‘": "'"})
