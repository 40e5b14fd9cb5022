"""Messages between a parent and a child over one descriptor: eight bytes of length, then the message."""

from __future__ import annotations

import os

_read, _write = os.read, os.write


def write_message(descriptor: int, data: bytes) -> None:
    view = memoryview(len(data).to_bytes(8, "little") + data)
    while view:
        view = view[_write(descriptor, view) :]


def read_message(descriptor: int) -> bytes:
    """The next message; empty where the other side has gone, also in the middle of a message."""
    size = _read_exactly(descriptor, 8)
    return _read_exactly(descriptor, int.from_bytes(size, "little")) if size else b""


def _read_exactly(descriptor: int, size: int) -> bytes:
    parts, missing = [], size
    while missing:
        try:
            part = _read(descriptor, min(missing, 1 << 20))
        except ConnectionResetError:
            part = b""
        if not part:
            return b""
        parts.append(part)
        missing -= len(part)
    return b"".join(parts)
