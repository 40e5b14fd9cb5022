"""What the `draw` section of a template must keep to so that every draw is an instance, each rule with its place."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from jsonschema import Draft202012Validator

from .complaints import complaints
from .documents import Document, Problem, did_you_mean
from .draws import DRAWERS, Form, positions
from .lists import Lists, load_texts, load_words
from .problems import Steps, shortened

MODIFIERS: Mapping[str, frozenset[str]] = {
    **{kind: frozenset() for kind in (*DRAWERS, "any")},
    "word": frozenset({"other_than"}),
    "words": frozenset({"count", "other_than"}),
    "from": frozenset({"plus", "plus_percent"}),
    "index": frozenset({"of", "spare", "at_least", "above"}),
}
NEEDED = {"words": "count", "index": "of"}
REFERENCES = ("from", "of", "at_least", "above")


class Span(NamedTuple):
    """The least and the greatest whole number that a parameter can be drawn as."""

    low: int
    high: int


class Wrong(Exception):
    """Why a parameter cannot be drawn so; `steps` lead from its form to the part that is wrong."""

    def __init__(self, message: str, *steps: str | int) -> None:
        self.message, self.steps = message, steps
        super().__init__(message)


def draw_problems(document: Document) -> Iterator[Problem]:
    """Every broken rule of `parameters.draw` in a document that is sound under its JSON Schema."""
    parameters = document.data["parameters"]
    for kind, forms in parameters.get("draw", {}).items():
        yield from _Section(document, ("parameters", "draw", kind), forms).problems()


class _Section:
    """One of the two sections, walked in the order in which it draws."""

    def __init__(self, document: Document, place: Steps, forms: Mapping[str, Form]) -> None:
        self.document, self.place, self.forms = document, place, forms
        self.schema = document.data["parameters"]["schema"]
        self.spans: dict[str, Span] = {}
        self.sizes: dict[str, int] = {}
        self.before: list[str] = []

    def problems(self) -> Iterator[Problem]:
        properties = self.schema["properties"]
        for name, form in self.forms.items():
            if name not in properties:
                message = f"{name!r} is not a parameter{did_you_mean(name, properties)}"
                yield self.document.problem(self.place, message, key=name)
                continue
            try:
                self._check(name, form, properties[name])
            except Wrong as wrong:
                yield self.document.problem((*self.place, name, *wrong.steps), wrong.message)
            self.before.append(name)
        for name in self.schema["required"]:
            if name in properties and name not in self.forms:
                yield self.document.problem(self.place, f"{name!r} is required and not drawn")

    def _check(self, name: str, form: Form, declared: Mapping[str, Any]) -> None:
        kind = _kind(form)
        for key in REFERENCES:
            if key in form:
                self._known(form[key], key)
        for index, other in enumerate(form.get("other_than", ())):
            self._known(other, "other_than", index)
            if other not in self.sizes:
                raise Wrong(f"{other!r} is not drawn from a list of words", "other_than", index)
        if kind in ("integers", "from", "index"):
            span = self._span(kind, form)
            self.spans[name] = span
            _fit(span, declared, kind)
        elif kind in ("word", "words"):
            self._check_words(name, kind, form, declared)
        else:
            values = _values(kind, form, declared)
            _fit(values, declared, kind)
            if all(type(value) is int for value in values):
                self.spans[name] = Span(min(values), max(values))

    def _known(self, name: str, *steps: str | int) -> None:
        if name in self.before:
            return
        if name in self.forms:
            raise Wrong(f"{name!r} is not drawn yet; move it up", *steps)
        raise Wrong(f"{name!r} is not drawn before{did_you_mean(name, self.before)}", *steps)

    def _span(self, kind: str, form: Form) -> Span:
        if kind == "integers":
            return self._integers(form["integers"])
        if kind == "from":
            return self._sum(form)
        return self._index(form)

    def _integers(self, ends: Sequence[int | str]) -> Span:
        low, high = (self._end(end, index) for index, end in enumerate(ends))
        if low.high > high.low:
            raise Wrong(f"from {low.high} to {high.low} there is no whole number", "integers")
        return Span(low.low, high.high)

    def _end(self, end: int | str, index: int) -> Span:
        if isinstance(end, str):
            self._known(end, "integers", index)
            return self._number(end, "integers", index)
        return Span(int(end), int(end))

    def _number(self, name: str, *steps: str | int) -> Span:
        if name not in self.spans:
            raise Wrong(f"{name!r} is not drawn as a whole number", *steps)
        return self.spans[name]

    def _sum(self, form: Form) -> Span:
        if "plus" in form and "plus_percent" in form:
            raise Wrong("either plus or plus_percent, not both", "plus_percent")
        base = self._number(form["from"], "from")
        key = "plus_percent" if "plus_percent" in form else "plus"
        least, most = _ordered(form.get(key, (0, 0)), key)
        if key == "plus":
            return Span(base.low + least, base.high + most)
        ends = [value + value * share // 100 for value in base for share in (least, most)]
        return Span(min(ends), max(ends))

    def _index(self, form: Form) -> Span:
        source = self.forms[form["of"]]
        texts = load_texts().get(source.get("text", ""))
        if texts is None:
            raise Wrong(f"{form['of']!r} is not drawn from a list of texts", "of")
        if "above" in form and "at_least" in form:
            raise Wrong("either at_least or above, not both", "at_least")
        spare = int(form.get("spare", 0))
        for key in ("at_least", "above"):
            if key in form:
                self._same_text(form, self.forms[form[key]], key, spare + (key == "above"))
        last = [positions(text, form["index"]) - 1 - spare for text in texts]
        if min(last) < 0:
            raise Wrong(f"a text of {source['text']} has too few {form['index']} for that", "spare")
        return Span(0, max(last))

    @staticmethod
    def _same_text(form: Form, other: Form, key: str, spare: int) -> None:
        if (other.get("index"), other.get("of")) != (form["index"], form["of"]):
            raise Wrong(f"{form[key]!r} is not a place in the same text, counted alike", key)
        if other.get("spare", 0) < spare:
            raise Wrong(f"{form[key]!r} may be drawn too late; give it spare: {spare}", key)

    def _check_words(self, name: str, kind: str, form: Form, declared: Mapping[str, Any]) -> None:
        words = _listed(form[kind], load_words(), kind)
        taken = sum(self.sizes[other] for other in form.get("other_than", ()))
        least, most = _ordered(form["count"], "count") if kind == "words" else (1, 1)
        if most > len(words) - taken:
            raise Wrong(f"{most} words of a list that has {len(words) - taken} left", kind)
        self.sizes[name] = most
        if kind == "word":
            _fit(words, declared, kind)
        elif least < 0:
            raise Wrong(f"{least} words are fewer than none", "count", 0)
        else:
            _fit([list(words[:least]), list(words[:most])], declared, kind)
            _fit(words, declared.get("items", {}), kind)


def _kind(form: Form) -> str:
    kinds = [key for key in form if key in MODIFIERS]
    if len(kinds) != 1:
        found = f"{', '.join(kinds)} stand together" if kinds else "there is none"
        raise Wrong(f"one of {', '.join(MODIFIERS)} is needed; {found}")
    kind = kinds[0]
    for key in form:
        if key != kind and key not in MODIFIERS[kind]:
            raise Wrong(f"{key!r} says nothing beside {kind!r}", key)
    if kind in NEEDED and NEEDED[kind] not in form:
        raise Wrong(f"{kind!r} needs {NEEDED[kind]!r} beside it")
    return kind


def _ordered(ends: Sequence[int], key: str) -> tuple[int, int]:
    low, high = ends
    if low > high:
        raise Wrong(f"from {low} to {high} there is no whole number", key)
    return int(low), int(high)


def _values(kind: str, form: Form, declared: Mapping[str, Any]) -> Sequence[Any]:
    """Everything that can be drawn."""
    if kind == "text":
        return _listed(form["text"], load_texts(), "text")
    if kind == "any":
        if "enum" not in declared:
            raise Wrong("the parameter has no enum; name the values as choice: [...]", "any")
        return list(declared["enum"])
    return [form["constant"]] if kind == "constant" else list(form[kind])


def _listed(name: str, lists: Lists, kind: str) -> Sequence[str]:
    if name not in lists:
        hint = did_you_mean(name, lists) or f"; there are {', '.join(lists)}"
        raise Wrong(f"there is no list {shortened(name)!r}{hint}", kind)
    return lists[name]


def _fit(values: Iterable[Any], declared: Mapping[str, Any], kind: str) -> None:
    values = list(values)
    # without a pattern or an enum the shortest and the longest text tell of all others
    if all(isinstance(value, str) for value in values) and not {"pattern", "enum"} & declared.keys():
        values = [min(values, key=len), max(values, key=len)]
    validator = Draft202012Validator(declared)
    for value in values:
        for error in validator.iter_errors(value):
            raise Wrong(f"the parameter cannot be drawn so: {next(complaints(error)).message}", kind)
