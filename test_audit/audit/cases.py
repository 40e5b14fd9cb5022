"""Which cases a check of verifiers has: one for each selected implementation and each template that it covers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from specs import Template
from verifiers_pinned.plugin import needs_pins, selected, templates_of


def verifier_cases(metafunc: Any, wanted: Callable[[Template], bool] = lambda _: True) -> None:
    """Parametrize a test that takes `implementation` and `template`; none where no test of verifiers is selected."""
    if "implementation" not in metafunc.fixturenames:
        return
    templates = chosen_templates(metafunc.config, wanted) if needs_pins(metafunc.config) else []
    cases = [
        pytest.param(each.key, template, id=f"{template.name}-{each.key}", marks=_marks(template))
        for each in (selected(metafunc.config) if templates else ())
        for template in templates
        if template.name in each.covers
    ]
    metafunc.parametrize(("implementation", "template"), cases)


def template_cases(metafunc: Any, wanted: Callable[[Template], bool] = lambda _: True) -> None:
    """Parametrize a test that takes `siblings`, the implementations that cover one `template`."""
    if "siblings" not in metafunc.fixturenames:
        return
    cases = []
    for template in chosen_templates(metafunc.config, wanted) if needs_pins(metafunc.config) else []:
        siblings = tuple(each.key for each in selected(metafunc.config) if template.name in each.covers)
        if siblings:
            cases.append(pytest.param(siblings, template, id=template.name, marks=_marks(template)))
    metafunc.parametrize(("siblings", "template"), cases)


def _marks(template: Template) -> list[pytest.MarkDecorator]:
    if template.draws or not template.parameter_names:
        return []
    return [pytest.mark.skip(f"{template.name} does not say how its parameters are drawn; add parameters.draw")]


def chosen_templates(config: pytest.Config, wanted: Callable[[Template], bool]) -> list[Template]:
    return [template for template in templates_of(config).values() if wanted(template)]
