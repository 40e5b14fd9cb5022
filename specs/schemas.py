"""Gives the JSON Schemas that lie beside this module, each read once."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

ROOM = Path(__file__).parent


@cache
def schema(name: str) -> Mapping[str, Any]:
    """The schema `_schema/NAME.json`."""
    loaded: Mapping[str, Any] = json.loads((ROOM / "_schema" / f"{name}.json").read_text(encoding="utf-8"))
    return loaded
