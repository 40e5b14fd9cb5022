"""The lock of wordings: a digest of what each pinned `build_description` renders, in a file that a run writes."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml

from reports.files import StoreError, write_whole
from specs import Template, load_templates
from specs.documents import open_document

PATH = Path(__file__).parent.parent / "wording.lock.yaml"
HEAD = "# Digests of what pinned checkers render. Written by `pytest -m audit test_audit/test_wording.py --relock`.\n"
PROPERTY = "assay_wordings"
SCHEMA: Mapping[str, Any] = {
    "type": "object",
    "additionalProperties": False,
    "required": ["wordings"],
    "properties": {
        "wordings": {
            "description": "By template: the digest of the arguments, and by implementation@version that of the texts.",
            "type": "object",
            "additionalProperties": {
                "type": "object",
                "additionalProperties": False,
                "required": ["asked", "rendered"],
                "properties": {
                    "asked": {"type": "string", "pattern": "^[0-9a-f]{16}$"},
                    "rendered": {
                        "type": "object",
                        "propertyNames": {"pattern": "^[a-z][a-z0-9_]*@.+$"},
                        "additionalProperties": {"type": "string", "pattern": "^[0-9a-f]{16}$"},
                    },
                },
            },
        }
    },
}

Wordings = dict[str, dict[str, Any]]
"""By template: `asked`, and `rendered` by implementation@version."""


def read_wordings(path: Path = PATH) -> Wordings:
    """The lock, empty where there is none. Raises DocumentError."""
    if not path.exists():
        return {}
    wordings: Wordings = open_document(path, SCHEMA).data["wordings"]
    return wordings


def drift(template: str, asked: str, rendered: Mapping[str, str], lock: Wordings) -> list[str]:
    """One sentence for each implementation that renders other text than the lock says, in whatever version.

    What the lock does not have is a verifier of the user's own, or one that was not there when it was written.
    """
    known = lock.get(template)
    if known is None:
        return []
    if known["asked"] != asked:
        return [f"{template} is asked with other arguments than when the lock was written; run again with --relock"]
    before = {place.partition("@")[0]: (place, told) for place, told in known["rendered"].items()}
    return [
        f"wording changed: {place} renders {template} as {told}, and the lock has {was[1]} for {was[0]}"
        for place, told in rendered.items()
        if (was := before.get(place.partition("@")[0])) and was[1] != told
    ]


def merge(old: Wordings, seen: Wordings, templates: Mapping[str, Template]) -> Wordings:
    """The lock after a run that saw `seen`; what was not asked stays where its template and arguments are the same."""
    merged = {name: told for name, told in old.items() if name in templates}
    for name, told in seen.items():
        keys = {place.partition("@")[0] for place in told["rendered"]}
        kept = old.get(name, {}).get("rendered", {}) if old.get(name, {}).get("asked") == told["asked"] else {}
        rest = {place: said for place, said in kept.items() if place.partition("@")[0] not in keys}
        merged[name] = {"asked": told["asked"], "rendered": {**rest, **told["rendered"]}}
    return merged


def write_wordings(wordings: Wordings, path: Path = PATH) -> None:
    """Sorted, whole or not at all. Raises StoreError."""
    text = HEAD + yaml.safe_dump({"wordings": wordings}, default_flow_style=False, width=1000)
    write_whole(path, lambda stream: stream.write(text.encode()))


def pytest_configure(config: pytest.Config) -> None:
    if config.getoption("relock", False) and not hasattr(config, "workerinput"):
        config.pluginmanager.register(_Locksmith(), "assay-relock-wordings")


class _Locksmith:
    """Gathers from all workers what was rendered and writes the lock when the session ends."""

    def __init__(self) -> None:
        self.seen: Wordings = {}
        self.told = ""

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.when == "call":
            for name, value in report.user_properties:
                if name == PROPERTY:
                    self.seen.update(json.loads(str(value)))

    def pytest_sessionfinish(self) -> None:
        if self.seen:
            try:
                write_wordings(merge(read_wordings(), self.seen, load_templates()))
                self.told = f"{PATH}: the wordings of {len(self.seen):,} templates are from this run"
            except StoreError as error:
                self.told = f"the lock of wordings was not written: {error}"

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        if self.told:
            terminalreporter.write_line(self.told)
