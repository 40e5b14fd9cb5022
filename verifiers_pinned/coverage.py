"""Spells out which templates an implementation covers, under which names and with which parameters."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple


class Coverage(NamedTuple):
    """By template: its own id, why it is left out, renamed parameters, added arguments, possible values."""

    covers: dict[str, str]
    not_covered: dict[str, str]
    parameters: dict[str, dict[str, str | None]]
    constants: dict[str, dict[str, Any]]
    only: dict[str, dict[str, tuple[Any, ...]]]


def covered_collections(covers: Any) -> list[str]:
    """The collections that a pin's `covers` names, in each of its three forms."""
    if isinstance(covers, str):
        return [covers]
    return list(covers["collections"] if isinstance(covers, Mapping) else covers)


def expand(pin: Mapping[str, Any], collections: Mapping[str, tuple[str, ...]]) -> Coverage:
    """The coverage that an implementation's pin declares; its names are known to be right."""
    covers = pin["covers"]
    left_out: dict[str, str] = dict(covers["except"]) if isinstance(covers, Mapping) else {}
    names = [name for each in covered_collections(covers) for name in collections[each] if name not in left_out]
    special: Mapping[str, Any] = pin.get("templates", {})
    return Coverage(
        covers={name: special.get(name, {}).get("as", name.partition("/")[2]) for name in names},
        not_covered=left_out,
        parameters={name: dict(each["parameters"]) for name, each in special.items() if "parameters" in each},
        constants={name: dict(each["constants"]) for name, each in special.items() if "constants" in each},
        only={
            name: {parameter: tuple(values) for parameter, values in each["only"].items()}
            for name, each in special.items()
            if "only" in each
        },
    )
