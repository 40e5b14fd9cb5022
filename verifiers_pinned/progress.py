"""Shows a fetch: a bar on a terminal, otherwise one plain line an archive."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import Protocol, TextIO

from rich.console import Console
from rich.progress import BarColumn, DownloadColumn, SpinnerColumn, TaskID, TextColumn
from rich.progress import Progress as Bar

from .records import Archive


class Progress(Protocol):
    """What a fetch tells while it runs; `started` and `ended` are called from several threads."""

    def begin(self, archives: Sequence[Archive]) -> None: ...
    def started(self, archive: Archive) -> None: ...
    def ended(self, archive: Archive, note: str) -> None: ...
    def finish(self) -> None: ...


class Silent:
    """Shows nothing."""

    def begin(self, archives: Sequence[Archive]) -> None: ...
    def started(self, archive: Archive) -> None: ...
    def ended(self, archive: Archive, note: str) -> None: ...
    def finish(self) -> None: ...


class Lines(Silent):
    """One plain line an archive, for logs."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._lock = threading.Lock()
        self._left = 0

    def begin(self, archives: Sequence[Archive]) -> None:
        self._left = len(archives)
        self._say(f"fetching {len(archives)} pinned archives, {megabytes(archives)}")

    def ended(self, archive: Archive, note: str) -> None:
        self._left -= 1
        self._say(f"{archive}: {note}, {megabytes([archive])} ({self._left} left)")

    def _say(self, line: str) -> None:
        with self._lock:
            print(line, file=self._stream, flush=True)


class Bars(Silent):
    """A bar over the bytes of all archives, with those under way beside it."""

    def __init__(self, stream: TextIO) -> None:
        under_way = TextColumn("{task.fields[under_way]}")
        columns = (SpinnerColumn(), TextColumn("fetching"), BarColumn(), DownloadColumn(), under_way)
        self._bar = Bar(*columns, console=Console(file=stream), transient=True)
        self._under_way: list[str] = []
        self._task: TaskID | None = None

    def begin(self, archives: Sequence[Archive]) -> None:
        self._bar.start()
        self._task = self._bar.add_task("fetch", total=sum(archive.bytes for archive in archives), under_way="")

    def started(self, archive: Archive) -> None:
        self._under_way.append(archive.key)
        self._show(0)

    def ended(self, archive: Archive, note: str) -> None:
        self._under_way.remove(archive.key)
        self._show(archive.bytes)

    def finish(self) -> None:
        self._bar.stop()

    def _show(self, advance: int) -> None:
        if self._task is not None:
            self._bar.update(self._task, advance=advance, under_way=", ".join(self._under_way))


def progress_for(stream: TextIO) -> Progress:
    """Bars where `stream` is a terminal, lines elsewhere."""
    return Bars(stream) if stream.isatty() else Lines(stream)


def megabytes(archives: Sequence[Archive]) -> str:
    """The size of the wheels, such as `71.2 MB`."""
    return f"{sum(archive.bytes for archive in archives) / 1e6:.1f} MB"
