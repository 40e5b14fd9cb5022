"""Files that are whole or absent: written beside their place, then renamed into it."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import IO, Any


class StoreError(Exception):
    """A run directory that cannot be written or read: what, where, and what to do."""


def write_whole(path: Path, write: Callable[[IO[bytes]], object]) -> None:
    """Let `write` fill a temporary file, then rename it to `path`; on any failure `path` is as it was."""
    partial = path.with_name(f".{path.name}.{os.getpid()}.partial")
    try:
        with partial.open("wb") as stream:
            write(stream)
            stream.flush()
            os.fsync(stream.fileno())
        partial.replace(path)
    except OSError as error:
        raise StoreError(f"cannot write {path}: {reason(error)}; nothing of it was kept") from error
    finally:
        partial.unlink(missing_ok=True)


def write_json(path: Path, value: Mapping[str, Any]) -> None:
    """Indented JSON with a last newline, whole or not at all."""
    text = json.dumps(value, indent=2, ensure_ascii=False, default=str) + "\n"
    write_whole(path, lambda stream: stream.write(text.encode("utf-8", "backslashreplace")))


def read_json(path: Path) -> dict[str, Any]:
    """The object in a JSON file; StoreError where it is absent, unreadable or not an object."""
    try:
        value = json.loads(path.read_bytes())
    except OSError as error:
        raise StoreError(f"cannot read {path}: {reason(error)}") from error
    except ValueError as error:
        raise StoreError(f"{path} is not JSON: {error}") from error
    if not isinstance(value, dict):
        raise StoreError(f"{path} holds a {type(value).__name__}, not an object")
    return value


def reason(error: OSError) -> str:
    """The operating system's word for it, without the number and the path."""
    return error.strerror or str(error)
