"""A user's own verifiers, which specs name, as implementations beside the pinned ones."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable
from dataclasses import replace

from specs.problems import shown_path
from specs.templates import Template
from specs.verifiers import OwnVerifier

from .errors import PinError
from .pins import Catalogue
from .records import Entry, Implementation, Local, Member


def with_own_verifiers(catalogue: Catalogue, templates: Iterable[Template]) -> Catalogue:
    """The catalogue with an implementation for each function that a template names; it covers all that name it.

    Its key is made of the names of file and function. Raises PinError where the key is taken.
    """
    covered: dict[OwnVerifier, list[Template]] = {}
    for template in templates:
        for verifier in template.verifiers:
            covered.setdefault(verifier, []).append(template)
    found = dict(catalogue.implementations)
    for verifier, those in covered.items():
        key = key_of(verifier)
        if key in found:
            other = found[key].source
            raise PinError(
                f"{those[0].name}: {shown_path(verifier.file)}:{verifier.function} would be called '{key}', "
                f"and that is {other} already; rename the file or the function"
            )
        found[key] = _implementation(key, verifier, those)
    return replace(catalogue, implementations=found)


def key_of(verifier: OwnVerifier) -> str:
    """`checks_few_bangs` for `checks.py:few_bangs`."""
    key = re.sub(r"[^a-z0-9]+", "_", f"{verifier.file.stem}_{verifier.function}".lower()).strip("_")
    return key if key[:1].isalpha() else f"own_{key}"


def _implementation(key: str, verifier: OwnVerifier, templates: list[Template]) -> Implementation:
    digest = hashlib.sha256(verifier.file.read_bytes()).hexdigest()
    return Implementation(
        key=key,
        collection=templates[0].collection,
        style="function",
        source=Local(key, verifier.file.parent, verifier.file.name, digest),
        members={"checks": Member(verifier.file.name, digest)},
        entry=Entry("checks", verifier.function, arguments=("text", "**params")),
        replacements={},
        stand_ins={},
        requires=(),
        needs=(),
        covers={template.name: template.id for template in templates},
        not_covered={},
        parameters={},
        constants={},
        only={},
        unchecked=(),
    )
