"""The memory that a child and its parent share: what each call of a batch came to, readable after any kind of death."""

from __future__ import annotations

import mmap
import os

# A longer batch is sent in pieces, so that the board never grows.
CAPACITY = 4096
# A detail is at most 200 characters; UTF-8 may need more bytes, and the longest ones are cut.
DETAIL_BYTES = 256

# Slots of `clock`. Times are CLOCK_MONOTONIC in nanoseconds, which is one clock for all processes of a machine.
STARTED, INDEX = 0, 1
_CLOCK_SLOTS = 8

# Codes in `verdicts`. Zero means: not finished.
UNFINISHED, ACCEPT, REJECT, CRASH, TIMEOUT = 0, 1, 2, 3, 4

# Bits in `flags`.
DREW_RANDOM, HAS_DETAIL, LEFT_THREADS = 1, 2, 4

_SIZE = _CLOCK_SLOTS * 8 + CAPACITY * (4 + 1 + 1 + DETAIL_BYTES)


class Board:
    """Typed views of one shared mapping.

    `clock` holds the running call's start (0 between calls) and its index; `microseconds` ("f"), `verdicts` and
    `flags` ("B") hold one item a call; `details` holds `DETAIL_BYTES` a call, a length and UTF-8.
    """

    def __init__(self, descriptor: int) -> None:
        self._map = mmap.mmap(descriptor, _SIZE)
        view = memoryview(self._map)
        clock_end = _CLOCK_SLOTS * 8
        micro_end = clock_end + CAPACITY * 4
        self.clock = view[:clock_end].cast("q")
        self.microseconds = view[clock_end:micro_end].cast("f")
        self.verdicts = view[micro_end : micro_end + CAPACITY]
        self.flags = view[micro_end + CAPACITY : micro_end + 2 * CAPACITY]
        self._details = view[micro_end + 2 * CAPACITY :]
        self._view = view

    def clear(self, calls: int) -> None:
        """Forget the previous batch. Only the parent calls this, while the child waits."""
        self.clock[STARTED] = self.clock[INDEX] = 0
        self.verdicts[:calls] = bytes(calls)
        self.flags[:calls] = bytes(calls)
        self.microseconds[:calls] = memoryview(bytes(4 * calls)).cast("f")

    def write_detail(self, index: int, text: str) -> None:
        data = text.encode("utf-8", "backslashreplace")[: DETAIL_BYTES - 1]
        at = index * DETAIL_BYTES
        self._details[at] = len(data)
        self._details[at + 1 : at + 1 + len(data)] = data
        self.flags[index] |= HAS_DETAIL

    def read_detail(self, index: int) -> str:
        at = index * DETAIL_BYTES
        return bytes(self._details[at + 1 : at + 1 + self._details[at]]).decode("utf-8", "ignore")

    def first_unfinished(self, calls: int) -> int:
        """Index of the call that was running when the child died, or `calls` where all had finished."""
        found = bytes(self.verdicts[:calls]).find(UNFINISHED)
        return calls if found < 0 else found

    def close(self) -> None:
        for view in (self.clock, self.microseconds, self.verdicts, self.flags, self._details, self._view):
            view.release()
        self._map.close()


def new_memory() -> int:
    """A descriptor of anonymous memory of the board's size; pages that are never touched cost nothing."""
    descriptor = os.memfd_create("assay-board", os.MFD_CLOEXEC)
    os.ftruncate(descriptor, _SIZE)
    return descriptor
