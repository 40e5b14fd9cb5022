"""Draws the arguments of an instance as the `draw` section of its template says."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from random import Random
from typing import TYPE_CHECKING, Any

from .lists import load_texts, load_words
from .problems import did_you_mean

if TYPE_CHECKING:
    from .templates import Template

Form = Mapping[str, Any]
"""How one parameter is drawn: a kind with its modifiers, such as `{words: nouns, count: [1, 3]}`."""

Drawn = dict[str, Any]
"""What was drawn so far, in the order of the section."""

KINDS = ("small", "upstream")


class NoDraw(LookupError):
    """A template that has parameters and does not say how they are drawn."""


def draw_params(template: Template, kind: str, rng: Random) -> dict[str, Any]:
    """Arguments of one instance in the order of the template's parameters, drawn from `small` or `upstream`.

    The state of `rng` alone decides. Raises `NoDraw` where the template has parameters and no `draw`, `ValueError` for
    another kind.
    """
    if kind not in KINDS:
        raise ValueError(f"{kind!r} is neither small nor upstream{did_you_mean(kind, KINDS)}")
    names = template.parameter_names
    if names and not template.draws:
        raise NoDraw(f"{template.name} does not say how its parameters are drawn; add parameters.draw to its file")
    drawn: Drawn = {}
    for name, form in template.draws.get(kind, {}).items():
        drawn[name] = _drawn(form, template.parameters["properties"][name], drawn, rng)
    return {name: drawn[name] for name in names if name in drawn}


def positions(text: str, unit: str) -> int:
    """How many places `text` has: its characters, or its words as whitespace separates them."""
    return len(text) if unit == "characters" else len(text.split())


def _drawn(form: Form, declared: Mapping[str, Any], drawn: Drawn, rng: Random) -> Any:
    if "any" in form:
        return rng.choice(declared["enum"])
    kind = next(kind for kind in DRAWERS if kind in form)
    return DRAWERS[kind](form, drawn, rng)


def _constant(form: Form, _drawn: Drawn, _rng: Random) -> Any:
    value = form["constant"]
    # a list of its own, so that an instance that is changed does not change the template
    return list(value) if isinstance(value, list) else value


def _integer(form: Form, drawn: Drawn, rng: Random) -> int:
    low, high = (drawn[end] if isinstance(end, str) else end for end in form["integers"])
    return _between((low, high), rng)


def _between(ends: Sequence[float], rng: Random) -> int:
    # a file may write a whole number as 12.0, which randint refuses
    return rng.randint(int(ends[0]), int(ends[1]))


def _sum(form: Form, drawn: Drawn, rng: Random) -> int:
    base: int = drawn[form["from"]]
    if "plus_percent" in form:
        return base + base * _between(form["plus_percent"], rng) // 100
    return base + _between(form.get("plus", (0, 0)), rng)


def _word(form: Form, drawn: Drawn, rng: Random) -> str:
    return rng.choice(_left(form["word"], form, drawn))


def _words(form: Form, drawn: Drawn, rng: Random) -> list[str]:
    return rng.sample(_left(form["words"], form, drawn), _between(form["count"], rng))


def _left(name: str, form: Form, drawn: Drawn) -> Sequence[str]:
    """The words of a list that the parameters named in `other_than` have not taken."""
    words = load_words()[name]
    if "other_than" not in form:
        return words
    taken: set[str] = set()
    for other in form["other_than"]:
        taken.update([drawn[other]] if isinstance(drawn[other], str) else drawn[other])
    return [word for word in words if word not in taken]


def _index(form: Form, drawn: Drawn, rng: Random) -> int:
    low = drawn[form["above"]] + 1 if "above" in form else drawn[form["at_least"]] if "at_least" in form else 0
    return rng.randrange(low, positions(drawn[form["of"]], form["index"]) - int(form.get("spare", 0)))


DRAWERS: Mapping[str, Callable[[Form, Drawn, Random], Any]] = {
    "constant": _constant,
    "integers": _integer,
    "choice": lambda form, _drawn, rng: rng.choice(form["choice"]),
    "letters": lambda form, _drawn, rng: rng.choice(form["letters"]),
    "word": _word,
    "words": _words,
    "text": lambda form, _drawn, rng: rng.choice(load_texts()[form["text"]]),
    "from": _sum,
    "index": _index,
}
"""How each kind is drawn; `any` alone needs the parameter's schema and stands in `_drawn`."""
