"""Turns what a JSON Schema validator found into one sentence for each thing wrong."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

from jsonschema import ValidationError

from .problems import Steps, did_you_mean, quoted, shortened

KINDS = {
    "string": "text",
    "integer": "a whole number",
    "number": "a number",
    "boolean": "true or false",
    "array": "a list",
    "object": "a mapping",
    "null": "null",
}


class Complaint(NamedTuple):
    """What is wrong with the value at `steps`, or, where `key` is set, with that key of it."""

    steps: Steps
    message: str
    key: str | None = None


def complaints(error: ValidationError) -> Iterator[Complaint]:
    """One complaint for each unknown key, each missing key and each unmet rule in `error`."""
    steps: Steps = tuple(error.absolute_path)
    keyword = str(error.validator)
    if keyword in ("additionalProperties", "unevaluatedProperties") and isinstance(error.instance, Mapping):
        yield from _unknown_keys(steps, error)
    elif "propertyNames" in list(error.schema_path)[-2:-1] and isinstance(error.instance, str):
        yield Complaint(steps, f"a key: {_sentence(error)}", error.instance)
    elif keyword in ("anyOf", "oneOf") and error.context:
        yield from _no_form_fits(steps, error)
    else:
        yield Complaint(steps, _sentence(error))


def _sentence(error: ValidationError) -> str:
    sentence = SENTENCES.get(str(error.validator))
    return sentence(error) if sentence else shortened(error.message, 200)


def _unknown_keys(steps: Steps, error: ValidationError) -> Iterator[Complaint]:
    schema: Any = error.schema
    instance: Any = error.instance
    known = list(schema.get("properties", ()))
    patterns = list(schema.get("patternProperties", ()))
    for key in instance:
        if key not in known and not any(_matches(pattern, key) for pattern in patterns):
            hint = did_you_mean(key, [name for name in known if name not in instance])
            yield Complaint(steps, f"unknown key {quoted(key)}{hint or _choices(known)}", key)


def _matches(pattern: str, key: str) -> bool:
    return re.search(pattern, key) is not None


def _choices(known: list[str]) -> str:
    return f"; known here: {', '.join(known)}" if 0 < len(known) <= 12 else ""


def _no_form_fits(steps: Steps, error: ValidationError) -> Iterator[Complaint]:
    """The complaints of the one form that was meant, if one can be told; else one complaint that names each form's."""
    forms: dict[Any, list[ValidationError]] = {}
    for inner in error.context or ():
        forms.setdefault(inner.schema_path[0], []).append(inner)
    # a form whose outermost type or constant fits is the one that was meant
    meant = [form for form in forms.values() if not any(_rules_out(inner) for inner in form)]
    if len(meant) == 1:
        for inner in meant[0]:
            yield from complaints(inner)
        return
    reasons = [next(complaints(form[0])).message for form in forms.values()]
    yield Complaint(steps, shortened("fits none of the forms allowed here: " + " / ".join(dict.fromkeys(reasons)), 400))


def _rules_out(inner: ValidationError) -> bool:
    return len(inner.path) == 0 and inner.validator in ("type", "const", "enum")


def _type(error: ValidationError) -> str:
    value: Any = error.validator_value
    wanted = [value] if isinstance(value, str) else list(value)
    names = " or ".join(KINDS.get(kind, kind) for kind in wanted)
    scalar = not isinstance(error.instance, (str, list, dict))
    hint = "; put it in quotes" if "string" in wanted and scalar else ""
    return f"{quoted(error.instance)} is not {names}{hint}"


def _required(error: ValidationError) -> str:
    # the validator gives one error for each missing key and names it in its message alone
    names: Any = error.validator_value
    missing = [name for name in names if f"{name!r} is a required" in error.message]
    return f"the key {quoted(missing[0] if missing else '?')} is missing"


def _enum(error: ValidationError) -> str:
    value: Any = error.validator_value
    options = list(value)
    hint = did_you_mean(str(error.instance), [option for option in options if isinstance(option, str)])
    listed = shortened(", ".join(map(repr, options)), 120)
    return f"{quoted(error.instance)} is not one of {listed}{hint}"


def _pattern(error: ValidationError) -> str:
    told: Any = error.schema
    meaning = told.get("description")
    return f"{quoted(error.instance)} does not have the form {error.validator_value}" + (
        f" ({meaning})" if meaning else ""
    )


def _size(unit: str, bound: str) -> Callable[[ValidationError], str]:
    def sentence(error: ValidationError) -> str:
        instance: Any = error.instance
        count = f"{len(instance)} {unit}" + ("s" if len(instance) != 1 else "")
        return (
            f"{count} where at {bound} {error.validator_value} {'is' if error.validator_value == 1 else 'are'} allowed"
        )

    return sentence


def _compared(relation: str) -> Callable[[ValidationError], str]:
    return lambda error: f"{quoted(error.instance)} is {relation} {error.validator_value}"


SENTENCES: dict[str, Callable[[ValidationError], str]] = {
    "type": _type,
    "required": _required,
    "enum": _enum,
    "const": lambda error: f"{quoted(error.instance)} is not {quoted(error.validator_value)}",
    "pattern": _pattern,
    "minLength": _size("character", "least"),
    "maxLength": _size("character", "most"),
    "minItems": _size("item", "least"),
    "maxItems": _size("item", "most"),
    "minProperties": _size("key", "least"),
    "maxProperties": _size("key", "most"),
    "minimum": _compared("less than"),
    "maximum": _compared("more than"),
    "exclusiveMinimum": _compared("not more than"),
    "exclusiveMaximum": _compared("not less than"),
    "uniqueItems": lambda error: f"{quoted(error.instance)} holds an item twice",
    "multipleOf": lambda error: f"{quoted(error.instance)} is not a multiple of {error.validator_value}",
}
