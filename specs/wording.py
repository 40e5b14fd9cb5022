"""Fills a template's wording with the values of an instance."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

PLACEHOLDER = re.compile(r"\{([A-Za-z][A-Za-z0-9_]*)\}")


def placeholders(wording: str) -> list[str]:
    """The names in braces, in order, as often as they stand."""
    return PLACEHOLDER.findall(wording)


def fill(wording: str, values: Mapping[str, Any], shown: Mapping[str, Mapping[str, str]]) -> str:
    """The wording with each name replaced by its value; a name without a value stays as it stands."""

    def replacement(found: re.Match[str]) -> str:
        name = found.group(1)
        return _written(values[name], shown.get(name, {})) if name in values else found.group()

    return PLACEHOLDER.sub(replacement, wording)


def _written(value: Any, shown: Mapping[str, str]) -> str:
    if isinstance(value, (list, tuple)):
        return ", ".join(_written(item, shown) for item in value)
    # the official data hold whole numbers as 12.0
    text = str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)
    return shown.get(text, text)
