"""Tiny pins made of source text, for tests of the harness and for trying a verifier before it is pinned."""

from __future__ import annotations

import hashlib
import textwrap
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from .pins import Catalogue
from .records import Checkout, Entry, Implementation, Member

TEMPLATE = "local/test:it"

_CLASS = """
class Checker:
    def __init__(self, instruction_id):
        self.id = instruction_id
    def build_description(self, **kwargs):
        self.kwargs = kwargs
    def get_instruction_args(self):
        return self.kwargs
    def check_following(self, value):
{body}

REGISTRY = {{"test:it": Checker}}
"""


def of_body(body: str, prelude: str = "") -> str:
    """A module in the class style whose `check_following(self, value)` is `body`."""
    return prelude + _CLASS.format(body=textwrap.indent(textwrap.dedent(body).strip(), "        "))


def catalogue_of(folder: Path, sources: Mapping[str, str], **changes: Any) -> tuple[Catalogue, dict[str, Path]]:
    """Pins that cover TEMPLATE, one for each (key, module text), written below `folder`; and their checkouts.

    `changes` replaces fields of every `Implementation`: another style, another entry.
    """
    made = {}
    for key, source in sources.items():
        (folder / key).mkdir(parents=True)
        (folder / key / "checks.py").write_text(source, encoding="utf-8")
        made[key] = _implementation(key, hashlib.sha256(source.encode()).hexdigest(), changes)
    checkouts = {key: pin.source for key, pin in made.items() if isinstance(pin.source, Checkout)}
    return Catalogue(made, {}, {}, {}, {}, checkouts), {key: folder / key for key in made}


def _implementation(key: str, sha256: str, changes: Mapping[str, Any]) -> Implementation:
    fields: dict[str, Any] = {
        "collection": "local",
        "style": "class",
        "source": Checkout(key, "0" * 40, "Apache-2.0", "https://example.org/none"),
        "members": {"checks": Member("checks.py", sha256)},
        "entry": Entry("checks", "REGISTRY"),
        "replacements": {},
        "stand_ins": {},
        "requires": (),
        "needs": (),
        "covers": {TEMPLATE: "test:it"},
        "not_covered": {},
        "parameters": {},
        "constants": {},
        "only": {},
        "unchecked": (),
    }
    return Implementation(key, **{**fields, **changes})
