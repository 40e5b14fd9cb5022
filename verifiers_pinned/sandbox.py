"""The zygote: a fresh, single-threaded process that imports what verifiers share and forks a child for each pin.

A session starts it as `python -m verifiers_pinned.sandbox DESCRIPTOR SCRATCH`. It is the leader of its own process
group. When the session's end of the socket closes, however its owner died, it kills the group and removes SCRATCH.
Requests are JSON: `fork` (with two descriptors: the child's socket and its board) and `reap`.
"""

from __future__ import annotations

import ctypes
import gc
import json
import os
import shutil
import signal
import socket
import sys
import time
from typing import Any

from verifiers_pinned.sandbox_board import Board
from verifiers_pinned.sandbox_nltk import preload
from verifiers_pinned.sandbox_random import DrawSeeder

_PR_SET_PDEATHSIG = 1
_REAP_SECONDS = 2.0


def main(arguments: list[str]) -> None:
    if os.getpid() != os.getsid(0):
        sys.exit("this is the inner side of verifiers_pinned.session, which starts it; there is nothing to run here")
    descriptor, scratch = int(arguments[0]), arguments[1]
    sys.path[:] = [folder for folder in sys.path if folder not in ("", scratch)]
    control = socket.socket(fileno=descriptor)
    seeder = DrawSeeder()
    seeder.install()
    try:
        while _serve_one(control, seeder):
            pass
    finally:
        # Also where the owner died while it waited for an answer, and the answer could not be sent.
        shutil.rmtree(scratch, ignore_errors=True)
        os.killpg(0, signal.SIGKILL)


def _serve_one(control: socket.socket, seeder: DrawSeeder) -> bool:
    """Answer one request; False where the owner has gone."""
    request, descriptors, *_ = socket.recv_fds(control, 1 << 16, 2)
    if not request:
        return False
    told = json.loads(request)
    answer = _fork(told, descriptors, control, seeder) if told["do"] == "fork" else {"status": _reap(told["pid"])}
    control.sendall(json.dumps(answer).encode())
    return True


def _fork(told: dict[str, Any], descriptors: list[int], control: socket.socket, seeder: DrawSeeder) -> dict[str, int]:
    preload(told["preload"])
    # Children share what was imported so far; the collector would touch, and copy, all of it.
    gc.collect()
    gc.freeze()
    pid = os.fork()
    if pid == 0:
        try:
            control.close()
            _become_child(descriptors[0], descriptors[1], seeder)
        finally:
            os._exit(0 if sys.exc_info()[0] is None else 1)
    for descriptor in descriptors:
        os.close(descriptor)
    return {"pid": pid}


def _become_child(descriptor: int, memory: int, seeder: DrawSeeder) -> None:
    # The child's module is imported in the zygote already, so a fork costs no import.
    from verifiers_pinned.sandbox_child import serve

    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    null = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(null, stream)
    board = Board(memory)
    serve(descriptor, board, seeder)


def _reap(pid: int) -> int:
    """The exit status of a child that ended, or that is ended now because it hung up."""
    deadline = time.monotonic() + _REAP_SECONDS
    while True:
        found, status = os.waitpid(pid, os.WNOHANG)
        if found:
            return os.waitstatus_to_exitcode(status)
        if time.monotonic() > deadline:
            os.kill(pid, signal.SIGKILL)
            deadline += _REAP_SECONDS
        time.sleep(0.001)


if __name__ == "__main__":
    import verifiers_pinned.sandbox_child  # noqa: F401

    main(sys.argv[1:])
