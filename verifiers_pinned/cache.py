"""Where fetched files lie, and whether what a verifier needs is there.

Under `cache_root()`: `members/<sha256 of the wheel>/` holds the declared files of that wheel, each at its path, and
`.verified.json`, the stamp, written last: the files that were hashed, with their sizes. Only what a stamp lists is ever
used. The wheels themselves are not kept (the pins hold the hash of every file), unless `fetch --keep-wheels` puts them
into `wheels/<sha256>/`; a wheel found there is used instead of a download. `locks/` and `tmp/` serve fetching.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import platformdirs

from .checkouts import verify_checkout
from .pins import Catalogue
from .records import Archive, Implementation, Local, Member, Source

STAMP = ".verified.json"
CHUNK_BYTES = 1 << 20


def cache_root() -> Path:
    """The folder that `ASSAY_CACHE` names, or the user's cache folder."""
    named = os.environ.get("ASSAY_CACHE")
    return Path(named).expanduser().absolute() if named else platformdirs.user_cache_path("assay", appauthor=False)


def member_folder(source: Archive) -> Path:
    """Where the files of an archive lie once fetched; `Member.path` is relative to it."""
    return cache_root() / "members" / source.sha256


def wheel_path(source: Archive) -> Path:
    """Where the wheel itself lies if it was kept."""
    return cache_root() / "wheels" / source.sha256 / source.file


def sha256_of(path: Path) -> str:
    """The SHA-256 of a file, read in pieces."""
    digest = hashlib.sha256()
    with path.open("rb") as stream:
        while piece := stream.read(CHUNK_BYTES):
            digest.update(piece)
    return digest.hexdigest()


@dataclass(frozen=True)
class Missing:
    """Why something cannot be used, and what to do."""

    reason: str

    def __str__(self) -> str:
        return self.reason


@dataclass(frozen=True)
class State:
    """An archive in the cache: `present`, `missing` or `damaged`, what is wrong, and the bytes of its files there."""

    word: str
    detail: str = ""
    bytes: int = 0


def read_stamp(folder: Path) -> dict[str, tuple[int, str]]:
    """Path to (size, sha256) of the files that were verified in `folder`; empty where there is no readable stamp."""
    try:
        files = json.loads((folder / STAMP).read_text(encoding="utf-8"))["files"]
        return {path: (int(size), str(sha256)) for path, (size, sha256) in files.items()}
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return {}


def state(catalogue: Catalogue, archive: Archive, *, rehash: bool = False) -> State:
    """Whether all declared files of an archive are in the cache; with `rehash` each is read and hashed again."""
    return _state(member_folder(archive), catalogue.declared(archive), rehash)


def _state(folder: Path, members: tuple[Member, ...], rehash: bool = False) -> State:
    stamp = read_stamp(folder)
    total = 0
    for member in members:
        size, sha256 = stamp.get(member.path, (0, ""))
        if sha256 != member.sha256:
            return State("missing", f"{member.path} is not in the cache")
        path = folder / member.path
        try:
            found = path.stat().st_size
            if found != size:
                return State("damaged", f"{path} has {found} bytes instead of {size}")
            if rehash and sha256_of(path) != member.sha256:
                return State("damaged", f"{path} has another SHA-256 than its pin")
        except OSError as error:
            return State("damaged", f"{path}: {error.strerror}")
        total += size
    return State("present", "", total)


def installed(
    catalogue: Catalogue, implementation: Implementation | str, checkouts: Mapping[str, Path]
) -> Path | Missing:
    """The folder under which the members of an implementation can be read, or why it cannot be used.

    The resources that it needs count: without them its checks would crash. Sizes are compared, not hashes. Raises
    `CheckoutError` where a directory was given for its checkout that does not hold the pinned files.
    """
    if isinstance(implementation, str):
        implementation = catalogue.implementations[implementation]
    for need in implementation.needs:
        resource = catalogue.resources[need]
        found = _folder(resource.source, resource.members, checkouts)
        if isinstance(found, Missing):
            return Missing(f"resource {need}: {found.reason}")
    return _folder(implementation.source, tuple(implementation.members.values()), checkouts)


def _folder(source: Source, members: tuple[Member, ...], checkouts: Mapping[str, Path]) -> Path | Missing:
    if isinstance(source, Local):
        return source.folder
    if not isinstance(source, Archive):
        if source.key not in checkouts:
            return Missing(f"not given: --checkout {source.key}=DIR")
        return verify_checkout(source, members, checkouts[source.key])
    here = _state(member_folder(source), members)
    if here.word == "present":
        return member_folder(source)
    return Missing(f"{source} is {here.word} ({here.detail}): python -m verifiers_pinned fetch {source.key}")


def resource_roots(
    catalogue: Catalogue, implementation: Implementation | str, checkouts: Mapping[str, Path] | None = None
) -> tuple[Path, ...]:
    """The folders that belong on `nltk.data.path` for an implementation that is `installed`."""
    if isinstance(implementation, str):
        implementation = catalogue.implementations[implementation]
    roots: dict[Path, None] = {}
    for need in implementation.needs:
        resource = catalogue.resources[need]
        source = resource.source
        base = member_folder(source) if isinstance(source, Archive) else (checkouts or {})[source.key]
        roots[base / resource.root] = None
    return tuple(roots)
