"""The Arrow IPC streams of a run: one file a worker, one batch a case, readable up to where a worker was killed."""

from __future__ import annotations

import os
import secrets
from collections.abc import Sequence
from pathlib import Path

import pyarrow as pa

from .files import StoreError, reason
from .row import SCHEMA

PATTERN = "rows-*.arrows"
_END = b"\xff\xff\xff\xff\x00\x00\x00\x00"  # the IPC format's end-of-stream marker


class StreamWriter:
    """Appends batches to a new file of its own; what `append` has returned from is in the hands of the system.

    Messages are written whole, one `write` each, and strings stay plain: an IPC dictionary that grows needs delta
    messages, and a reader that starts from a cut file could then miss one. Parquet encodes the columns at the close.
    """

    def __init__(self, directory: Path, worker: str) -> None:
        # A replacement for a crashed worker may come with the same name.
        self.path = directory / f"rows-{worker}-{secrets.token_hex(4)}.arrows"
        try:
            self._file = os.open(self.path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o644)
        except OSError as error:
            raise StoreError(f"cannot create {self.path}: {reason(error)}") from error
        self._length = 0
        self._write(SCHEMA.serialize().to_pybytes())

    def append(self, batch: pa.RecordBatch) -> None:
        """Add a batch, whole or not at all. Raises StoreError."""
        self._write(batch.serialize().to_pybytes())

    def close(self) -> None:
        """End the stream; closing twice does nothing."""
        if self._file >= 0:
            self._write(_END)
            os.close(self._file)
            self._file = -1

    def _write(self, message: bytes) -> None:
        try:
            rest = memoryview(message)
            while rest:
                rest = rest[os.write(self._file, rest) :]
        except OSError as error:
            # A full disk can take half a message; later batches must not stand behind a torn one.
            os.ftruncate(self._file, self._length)
            os.lseek(self._file, self._length, os.SEEK_SET)
            raise StoreError(f"cannot write to {self.path}: {reason(error)}; its earlier rows are kept") from error
        self._length += len(message)


def stream_files(directory: Path) -> list[Path]:
    """The stream files of a run, by name."""
    return sorted(directory.glob(PATTERN))


def read_streams(paths: Sequence[Path]) -> tuple[pa.Table, list[Path]]:
    """All whole batches of the streams, and those files that end in the middle of one or without an end."""
    batches: list[pa.RecordBatch] = []
    torn: list[Path] = []
    for path in paths:
        read, ended = read_stream(path)
        batches += read
        if not ended:
            torn.append(path)
    return pa.Table.from_batches(batches, schema=SCHEMA), torn


def read_stream(path: Path) -> tuple[list[pa.RecordBatch], bool]:
    """The whole batches at the head of a stream, and whether its end was written. Never raises on a cut file."""
    content = path.read_bytes()
    batches: list[pa.RecordBatch] = []
    try:
        reader = pa.ipc.open_stream(content)
        if not reader.schema.equals(SCHEMA):
            raise StoreError(f"{path} has other columns than this version's rows; read it with the version it is from")
        batches.extend(reader)
    except (pa.ArrowException, OSError, EOFError):
        return batches, False
    return batches, content.endswith(_END)
