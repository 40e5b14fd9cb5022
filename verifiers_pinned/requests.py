"""Requests for verdicts as people write them: a template, its params, a text; checked against specs and pins."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from specs import load_templates
from specs.documents import did_you_mean
from specs.templates import ParameterError, Template

from .pins import Catalogue

_NAMES = ("template", "params", "text", "implementation")
_NEEDED = {"template": (str, "a string"), "params": (dict, "an object"), "text": (str, "a string")}


class RequestError(ValueError):
    """A request that cannot be answered; the message says what is wrong in it."""


@dataclass(frozen=True)
class Request:
    """One text to be judged; `implementation` None: by everyone who covers the template."""

    template: str
    params: Mapping[str, Any]
    text: str
    implementation: str | None = None


class Desk:
    """Checks requests, remembering what it has checked: files repeat the same few params."""

    def __init__(self, catalogue: Catalogue, templates: Mapping[str, Template] | None = None) -> None:
        self._catalogue = catalogue
        self._specs = load_templates() if templates is None else templates
        self._covering: dict[str, list[str]] = {}
        for key, each in catalogue.implementations.items():
            for template in each.covers:
                self._covering.setdefault(template, []).append(key)
        self._objections: dict[tuple[str, str], str | None] = {}

    def parse(self, line: str) -> tuple[Request, dict[str, Any]]:
        """The request in one line of JSON, and the object that it was; RequestError for anything else."""
        try:
            told = json.loads(line)
        except ValueError as error:
            raise RequestError(f"is not JSON: {error}") from None
        except RecursionError:
            raise RequestError("is nested too deeply") from None
        if not isinstance(told, dict):
            raise RequestError(f"is no object with {', '.join(_NEEDED)}")
        missing = [name for name in _NEEDED if name not in told]
        if missing:
            near = did_you_mean(next((name for name in told if name not in _NAMES), ""), missing)
            raise RequestError(f"has no {' and no '.join(missing)}{near}")
        for name, (kind, said) in _NEEDED.items():
            if not isinstance(told[name], kind):
                raise RequestError(f"{name} is not {said}")
        if not isinstance(told.get("implementation"), str | None):
            raise RequestError("implementation is not a string")
        request = Request(told["template"], told["params"], told["text"], told.get("implementation"))
        self.check(request)
        return request, told

    def check(self, request: Request) -> None:
        """RequestError where the template, the params or the implementation is unknown or does not fit."""
        self.check_template(request.template)
        if request.implementation is not None:
            self.check_implementations([request.implementation])
        mark = (request.template, json.dumps(request.params, sort_keys=True))
        if mark not in self._objections:
            self._objections[mark] = self._objection(request)
        objection = self._objections[mark]
        if objection is not None:
            raise RequestError(objection)

    def check_template(self, name: str) -> None:
        if name in self._specs or name in self._covering:
            return
        known = [*self._specs, *(each for each in self._covering if each not in self._specs)]
        short = [each for each in known if each.endswith((f"/{name}", f":{name}"))]
        hint = f"; did you mean '{short[0]}'?" if short else did_you_mean(name, known)
        raise RequestError(f"there is no template '{name}'{hint}")

    def check_implementations(self, keys: Sequence[str]) -> None:
        for key in keys:
            if key not in self._catalogue.implementations:
                hint = did_you_mean(str(key), self._catalogue.implementations)
                raise RequestError(f"no implementation is called '{key}'{hint}")

    def covering(self, template: str) -> list[str]:
        """The implementations that have a check of the template, in the catalogue's order."""
        return self._covering.get(template, [])

    def has_spec(self, template: str) -> bool:
        return template in self._specs

    def _objection(self, request: Request) -> str | None:
        if request.template not in self._specs:
            return None
        try:
            self._specs[request.template].check_params(request.params)
        except ParameterError as error:
            return str(error)
        return None
