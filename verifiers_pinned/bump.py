"""What a pin has to say about another version of its wheel, and which of its statements no longer fit."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from specs.documents import did_you_mean
from specs.problems import Steps

from .bump_checks import misfits
from .wheel_contents import WheelContents, sha256

Pin = Mapping[str, Any]


@dataclass(frozen=True)
class Bump:
    """The values of a pin file that change, by place, and what has to be mended by hand."""

    changes: dict[Steps, str | int]
    problems: tuple[str, ...]
    notes: tuple[str, ...]


def paths_of(pin: Pin) -> list[str]:
    """Every file of the wheel that the pin names."""
    return [member["path"] for _, member in members_of(pin)]


def members_of(pin: Pin) -> Iterator[tuple[Steps, Mapping[str, str]]]:
    """Each member with its place in the pin."""
    for key, each in pin.get("implementations", {}).items():
        for name, member in each["members"].items():
            yield ("implementations", key, "members", name), member
    for kind in ("callers", "data"):
        for key, each in pin.get(kind, {}).items():
            yield (kind, key, "member"), each["member"]
    for key, each in pin.get("resources", {}).items():
        for index, member in enumerate(each["members"]):
            yield ("resources", key, "members", index), member


def bump(pin: Pin, wheel: WheelContents) -> Bump:
    """Compare a pin with another wheel of its distribution."""
    facts: dict[Steps, str | int] = {
        ("version",): wheel.version,
        ("file",): wheel.file,
        ("sha256",): wheel.sha256,
        ("bytes",): wheel.size,
        ("requires_python",): wheel.requires_python or pin["requires_python"],
    }
    for steps, member in members_of(pin):
        if member["path"] in wheel.files:
            place = (*steps, "sha256")
            facts[place] = sha256(wheel.files[member["path"]])
    for key, data in pin.get("data", {}).items():
        raw = wheel.files.get(data["member"]["path"])
        if raw is not None:
            facts[("data", key, "rows")] = sum(bool(line.strip()) for line in raw.splitlines())
    changes = {steps: value for steps, value in facts.items() if _at(pin, steps) != value}
    notes = [f"the license is {wheel.license} now"] if wheel.license not in (None, pin["license"]) else []
    return Bump(changes, tuple(dict.fromkeys([*_gone(pin, wheel), *misfits(pin, wheel.files)])), tuple(notes))


def _at(pin: Any, steps: Steps) -> Any:
    for step in steps:
        pin = pin[step]
    return pin


def _gone(pin: Pin, wheel: WheelContents) -> Iterator[str]:
    for steps, member in members_of(pin):
        if member["path"] not in wheel.files:
            name = member["path"].rpartition("/")[2]
            near = [path for path in wheel.names if path.endswith(f"/{name}")] or wheel.names
            yield f"{steps[1]}: {member['path']} is gone{did_you_mean(member['path'], near)}"
