"""A template: one constraint type with its wording and the parameters it takes."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from jsonschema import Draft202012Validator

from .complaints import complaints
from .oracle import Boundary, Judged, OracleExample, OracleSpec, Relation
from .problems import did_you_mean, dotted
from .verifiers import OwnVerifier
from .wording import fill


class ParameterError(ValueError):
    """Arguments that a template does not take; `messages` has one sentence for each thing wrong."""

    def __init__(self, template: str, messages: tuple[str, ...]) -> None:
        self.template, self.messages = template, messages
        super().__init__(template, messages)

    def __str__(self) -> str:
        return "\n".join(f"{self.template}: {message}" for message in self.messages)


class UnknownTemplate(KeyError):
    """No template of that name; as text, a sentence with the closest name."""

    def __str__(self) -> str:
        return str(self.args[0])


@dataclass(frozen=True)
class Template:
    """One constraint type, as its file says.

    `name` is `collection/family:name`, `id` is `family:name`. `parameters` is a JSON Schema for the arguments,
    `unworded` the parameters that the wording leaves out, `shown` how the wording writes some values, `constants` what
    is the same in every instance, `draws` how arguments are drawn: `small` and `upstream`, or empty. `flags` are names
    from flags.yaml, `verifiers` functions of a user's own that check it. `judged` says what is right, in its parts:
    `oracle`, `examples`, `boundaries` and `relations`.
    """

    name: str
    collection: str
    id: str
    wording: str
    path: Path
    parameters: Mapping[str, Any] = field(hash=False)
    unworded: tuple[str, ...] = ()
    shown: Mapping[str, Mapping[str, str]] = field(default_factory=dict, hash=False)
    constants: Mapping[str, str | list[str]] = field(default_factory=dict, hash=False)
    draws: Mapping[str, Mapping[str, Mapping[str, Any]]] = field(default_factory=dict, hash=False)
    flags: tuple[str, ...] = ()
    verifiers: tuple[OwnVerifier, ...] = ()
    judged: Judged = field(default_factory=Judged, hash=False)

    @property
    def oracle(self) -> OracleSpec | None:
        return self.judged.oracle

    @property
    def examples(self) -> tuple[OracleExample, ...]:
        return self.judged.examples

    @property
    def boundaries(self) -> tuple[Boundary, ...]:
        return self.judged.boundaries

    @property
    def relations(self) -> tuple[Relation, ...]:
        return self.judged.relations

    @property
    def parameter_names(self) -> tuple[str, ...]:
        return tuple(self.parameters["properties"])

    def check_params(self, params: Mapping[str, Any]) -> None:
        """Raises `ParameterError` with everything that keeps `params` from being an instance of the template."""
        messages = tuple(dict.fromkeys(_objections(self._validator, params)))
        if messages:
            raise ParameterError(self.name, messages)

    def render(self, params: Mapping[str, Any]) -> str:
        """The wording for these arguments, which are checked first."""
        self.check_params(params)
        return fill(self.wording, {**self.constants, **params}, self.shown)

    @cached_property
    def _validator(self) -> Draft202012Validator:
        return Draft202012Validator({"type": "object", **self.parameters})


def params_objections(schema: Mapping[str, Any], params: Mapping[str, Any]) -> tuple[str, ...]:
    """What keeps `params` from being arguments under a template's `parameters.schema`, one sentence each."""
    return tuple(dict.fromkeys(_objections(Draft202012Validator({"type": "object", **schema}), params)))


def _objections(validator: Draft202012Validator, params: Mapping[str, Any]) -> Iterator[str]:
    for error in validator.iter_errors(dict(params)):
        for complaint in complaints(error):
            yield f"{dotted(complaint.steps) if complaint.steps else 'parameters'}: {complaint.message}"
    # JSON has no NaN and no infinity, and comparisons with NaN pass every bound
    for name, value in params.items():
        if isinstance(value, float) and not math.isfinite(value):
            yield f"{name}: {value} is not a finite number"


def find_template(name: str, templates: Mapping[str, Template]) -> Template:
    """The template of that full name; raises `UnknownTemplate`, which names the closest."""
    if name in templates:
        return templates[name]
    full = [known for known in templates if known.rpartition("/")[2] == name]
    hint = f"; did you mean {full[0]!r}?" if full else did_you_mean(name, templates)
    raise UnknownTemplate(f"there is no template {name!r}{hint}")
