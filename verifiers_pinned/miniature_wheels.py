"""A shelf of tiny wheels with their pin files, and a downloader that takes from it, for tests of the fetching."""

from __future__ import annotations

import hashlib
import json
import shutil
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from .pins import Catalogue, load_catalogue
from .records import Archive

VERSION = "1.0"


class Shelf:
    """A folder with wheels and pin files. `download` is a `fetch.Download` that notes what it was asked for."""

    def __init__(self, folder: Path) -> None:
        self.wheels = folder / "wheels"
        self.pins = folder / "pins"
        self.asked: list[str] = []
        for made in (self.wheels, self.pins):
            made.mkdir(parents=True, exist_ok=True)

    def add(self, name: str, files: Mapping[str, bytes], *, default: bool = True, **sections: Any) -> None:
        """Puts a wheel on the shelf, and the pin of one implementation whose members are all of `files`."""
        wheel = self.wheels / f"{name}-{VERSION}-py3-none-any.whl"
        write_wheel(wheel, name, files)
        members = {Path(path).stem: {"path": path, "sha256": sha256(raw)} for path, raw in files.items()}
        implementation = {
            "collection": "ifeval",
            "style": "class",
            "members": members,
            "entry": {"module": next(iter(members)), "name": "REGISTRY"},
            "requires": [],
            "needs": [],
            "covers": "ifeval",
        }
        pin = {
            "kind": "wheel",
            "name": name,
            "version": VERSION,
            "file": wheel.name,
            "sha256": sha256(wheel.read_bytes()),
            "bytes": wheel.stat().st_size,
            "requires_python": ">=3.10",
            "license": "Apache-2.0",
            "default": default,
            "implementations": {name: implementation},
            **sections,
        }
        # JSON is YAML.
        (self.pins / f"{name}.yaml").write_text(json.dumps(pin, indent=1), encoding="utf-8")

    def catalogue(self) -> Catalogue:
        return load_catalogue([self.pins])

    def download(self, archive: Archive, into: Path) -> Path:
        self.asked.append(archive.key)
        return Path(shutil.copy(self.wheels / archive.file, into))


def write_wheel(path: Path, name: str, files: Mapping[str, bytes]) -> None:
    """A wheel that pip accepts, the same bytes each time."""
    info = f"{name}-{VERSION}.dist-info"
    facts = {
        f"{info}/METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: {VERSION}\n".encode(),
        f"{info}/WHEEL": b"Wheel-Version: 1.0\nGenerator: miniature\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        f"{info}/RECORD": b"",
    }
    with zipfile.ZipFile(path, "w") as wheel:
        for inside, raw in {**files, **facts}.items():
            # A fixed date: the one that `writestr` would take differs from run to run, and so would the hash.
            wheel.writestr(zipfile.ZipInfo(inside, (2020, 1, 1, 0, 0, 0)), raw, zipfile.ZIP_DEFLATED)


def sha256(raw: bytes) -> str:
    return hashlib.sha256(raw).hexdigest()
