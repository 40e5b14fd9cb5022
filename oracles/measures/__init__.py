"""The functions behind the measures that `specs/measures.yaml` declares: total, pure, and without state."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from . import characters, languages, lines, markdown, marks, sentences, strings, structures, words

MODULES = (words, sentences, characters, lines, strings, marks, markdown, structures, languages)

MEASURES: dict[str, Callable[..., Any]] = {name: getattr(module, name) for module in MODULES for name in module.__all__}
"""Each measure's function by its id; it takes its arguments in the declared order."""
