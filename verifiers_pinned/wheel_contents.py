"""What a wheel that is not pinned yet says of itself, and its files, read without unpacking it."""

from __future__ import annotations

import email
import hashlib
import zipfile
import zlib
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from .archives import LARGEST_MEMBER
from .cache import sha256_of
from .errors import FetchError


@dataclass(frozen=True)
class WheelContents:
    """The facts that a pin states about a wheel, those of its files that were asked for, and the names of all."""

    version: str
    file: str
    sha256: str
    size: int
    requires_python: str | None
    license: str | None
    files: dict[str, bytes]
    names: tuple[str, ...]


def sha256(raw: bytes) -> str:
    return hashlib.sha256(raw).hexdigest()


def read_wheel(wheel: Path, paths: Iterable[str]) -> WheelContents:
    """The contents of a wheel; of `paths`, those that are in it. Raises FetchError where it is no wheel."""
    try:
        with zipfile.ZipFile(wheel) as opened:
            names = tuple(opened.namelist())
            metadata = next((name for name in names if name.endswith(".dist-info/METADATA")), None)
            if metadata is None:
                raise FetchError(f"{wheel.name} is not a wheel: it has no METADATA")
            facts = email.message_from_bytes(_read(opened, metadata))
            files = {path: _read(opened, path) for path in dict.fromkeys(paths) if path in names}
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError) as error:
        raise FetchError(f"{wheel.name} is not a readable zip archive ({error}); download it again") from None
    return WheelContents(
        version=str(facts["Version"]),
        file=wheel.name,
        sha256=sha256_of(wheel),
        size=wheel.stat().st_size,
        requires_python=facts["Requires-Python"],
        license=facts["License-Expression"],
        files=files,
        names=names,
    )


def _read(opened: zipfile.ZipFile, path: str) -> bytes:
    if opened.getinfo(path).file_size > LARGEST_MEMBER:
        raise FetchError(f"{path} is larger than {LARGEST_MEMBER >> 20} MiB")
    return opened.read(path)
