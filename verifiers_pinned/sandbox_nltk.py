"""The surroundings that verifiers expect of nltk and langdetect: pinned resources, no downloads, a fixed seed."""

from __future__ import annotations

import contextlib
import importlib
import os
import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from verifiers_pinned.calling import Check
from verifiers_pinned.sandbox_board import INDEX

_asked: set[str] = set()

# Where `nltk.data` keeps a package of this name, seen from the root of a data tree.
_FOLDERS = ("tokenizers", "corpora", "taggers", "chunkers", "stemmers")


def preload(modules: Iterable[str]) -> None:
    """Import what pins share, in the process that children are forked from. What is missing shows in the child."""
    for name in modules:
        with contextlib.suppress(ImportError):
            importlib.import_module(name)
            if name == "langdetect":
                # 55 profiles, about half a second: once for all children.
                importlib.import_module("langdetect.detector_factory").init_factory()


def prepare_resources(roots: tuple[str, ...], seed: int) -> None:
    """Let nltk see `roots` only, answer for its downloads, and give langdetect its seed."""
    os.environ["NLTK_DATA"] = os.pathsep.join(roots)
    if "nltk" in sys.modules:
        nltk: Any = sys.modules["nltk"]
        nltk.data.path[:] = list(roots)
        nltk.download = nltk.downloader.download = _recorder(roots)
    if "langdetect" in sys.modules:
        sys.modules["langdetect"].DetectorFactory.seed = seed  # type: ignore[attr-defined]


def reseeding(check: Check, seeds: Sequence[int], clock: memoryview) -> Check:
    """`check` with langdetect's seed set to that of the running call, where langdetect is imported."""
    if "langdetect" not in sys.modules:
        return check
    factory = sys.modules["langdetect"].DetectorFactory

    def reseeded(params: Mapping[str, Any], text: str) -> object:
        factory.seed = seeds[clock[INDEX]]
        try:
            return check(params, text)
        finally:
            factory.seed = before

    before = factory.seed
    return reseeded


def forget_profiles() -> None:
    """Bring langdetect to the state after its import, where the first detection loads the profiles."""
    if "langdetect" in sys.modules:
        sys.modules["langdetect"].detector_factory._factory = None


def downloads_asked() -> list[str]:
    """What the pin of this process has asked `nltk.download` for."""
    return sorted(_asked)


def _recorder(roots: tuple[str, ...]) -> Any:
    def download(info_or_id: object = None, *args: object, **kwargs: object) -> bool:
        """Notes the request; True where the resource is in place, as nltk answers when it has it."""
        name = str(info_or_id)
        _asked.add(name)
        return any(Path(root, folder, name).is_dir() for root in roots for folder in _FOLDERS)

    return download
