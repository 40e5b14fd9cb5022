"""One number for all specs below some folders, by which runs can tell whether they were made of the same."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from pathlib import Path


def specs_digest(directories: Sequence[Path]) -> str:
    """SHA-256 over the path and the content of every spec, schema and list below the directories, in order."""
    digest = hashlib.sha256()
    for directory in directories:
        files = [path for path in directory.rglob("*") if path.suffix in (".yaml", ".json") and path.is_file()]
        for path in sorted(files):
            content = path.read_bytes()
            digest.update(f"{path.relative_to(directory).as_posix()}\0{len(content)}\0".encode() + content)
    return digest.hexdigest()
