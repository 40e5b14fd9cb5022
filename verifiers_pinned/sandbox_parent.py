"""The owner's side of the sandbox: starts the zygote, asks it for children, watches their clocks and buries them."""

from __future__ import annotations

import contextlib
import json
import os
import pickle
import select
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from verifiers_pinned.sandbox_board import INDEX, STARTED, Board, new_memory

# What the tick in the child and a busy machine may add to a limit before the parent kills.
_GRACE = 0.4
# A child between two calls runs only lines of ours; this is how long those may take on a machine that swaps.
_STALLED = 10.0
_LOAD_SECONDS = 60.0
_POLL_MILLISECONDS = 50


class SandboxLost(RuntimeError):
    """The zygote is gone, or never came: no verdict can be had from this session."""


@dataclass(frozen=True)
class Death:
    """How a child ended. `overdue`: the index of the call for which its owner killed it."""

    status: int
    overdue: int | None = None

    def __str__(self) -> str:
        if self.status >= 0:
            return f"process ended with exit code {self.status}"
        with contextlib.suppress(ValueError):
            return f"process killed by signal {-self.status} ({signal.Signals(-self.status).name})"
        return f"process killed by signal {-self.status}"


class Zygote:
    """One fresh process without the owner's threads, modules or hash seed, from which children are forked."""

    def __init__(self, hash_seed: int = 0) -> None:
        if not (hasattr(os, "fork") and hasattr(socket, "send_fds") and hasattr(os, "memfd_create")):
            raise SandboxLost(f"pinned verifiers run on Linux only: {sys.platform} cannot fork and pass descriptors")
        self.scratch = tempfile.mkdtemp(prefix="assay-")
        self._control, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with theirs, Path(self.scratch, "zygote.err").open("wb") as errors:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "verifiers_pinned.sandbox", str(theirs.fileno()), self.scratch],
                pass_fds=[theirs.fileno()],
                start_new_session=True,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=errors,
                cwd=self.scratch,
                env=_environment(hash_seed),
            )

    def fork(self, preload: Iterable[str]) -> Child:
        ours, theirs = socket.socketpair()
        memory = new_memory()
        try:
            request = json.dumps({"do": "fork", "preload": list(preload)}).encode()
            answer = self._ask(request, [theirs.fileno(), memory])
            return Child(self, answer["pid"], ours, Board(memory), tempfile.mkdtemp(dir=self.scratch))
        except BaseException:
            ours.close()
            raise
        finally:
            theirs.close()
            os.close(memory)

    def reap(self, pid: int) -> int:
        """The exit status of the child `pid`, negative for a signal."""
        status: int = self._ask(json.dumps({"do": "reap", "pid": pid}).encode(), [])["status"]
        return status

    def _ask(self, request: bytes, descriptors: list[int]) -> dict[str, Any]:
        if self._control.fileno() < 0:
            raise SandboxLost("the sandbox process was given up")
        try:
            socket.send_fds(self._control, [request], descriptors)
            answer = self._control.recv(1 << 16)
        except OSError as error:
            raise SandboxLost(self._why()) from error
        except BaseException:  # interrupted: its answer would be taken for that of the next request
            self._control.close()
            raise
        if not answer:
            raise SandboxLost(self._why())
        told: dict[str, Any] = json.loads(answer)
        return told

    def _why(self) -> str:
        with contextlib.suppress(OSError):
            lines = Path(self.scratch, "zygote.err").read_text(errors="replace").strip().splitlines()
            return f"the sandbox process ended ({lines[-1] if lines else 'without a word'})"
        return "the sandbox process ended"

    def close(self) -> None:
        """End the zygote and all its children, and remove the scratch folder."""
        self._control.close()
        try:
            self._process.wait(timeout=5)
        except subprocess.TimeoutExpired:
            os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait()
        shutil.rmtree(self.scratch, ignore_errors=True)


class Child:
    """One forked process for one pin. Its board stays readable after its death."""

    def __init__(self, zygote: Zygote, pid: int, connection: socket.socket, board: Board, scratch: str) -> None:
        self.board = board
        self.scratch = scratch
        self._zygote, self._pid, self._socket = zygote, pid, connection
        self._poll = select.poll()
        self._poll.register(connection, select.POLLIN)

    def load(self, terms: object) -> dict[str, Any] | Death:
        """Send the first message; the reply says whether the pin could be imported."""
        return self._exchange(terms, _LOAD_SECONDS, in_call=False)

    def answer(self, batch: object, seconds: float) -> dict[str, Any] | Death:
        """Send a batch and wait, killing a call that goes on for longer than `seconds` and a grace."""
        return self._exchange(batch, seconds, in_call=True)

    def _exchange(self, message: object, seconds: float, *, in_call: bool) -> dict[str, Any] | Death:
        data = pickle.dumps(message, pickle.HIGHEST_PROTOCOL)
        self._socket.settimeout(_STALLED)
        try:
            self._socket.sendall(len(data).to_bytes(8, "little") + data)
            overdue = self._wait(seconds, in_call)
            reply = b"" if overdue is not None else self._receive()
        except OSError:
            return self._bury(None)
        if not reply:
            return self._bury(overdue)
        told: dict[str, Any] = json.loads(reply)
        return told

    def _wait(self, seconds: float, in_call: bool) -> int | None:
        """Until the child has something to say (None), or is to be killed for the call of this index."""
        clock, limit = self.board.clock, int((seconds + _GRACE) * 1e9)
        seen, since = (-1, -1), time.monotonic_ns()
        while not self._poll.poll(_POLL_MILLISECONDS):
            now = time.monotonic_ns()
            # In this order: an old start can then not be taken for that of a later call.
            index, started = clock[INDEX], clock[STARTED]
            if in_call and started and now - started > limit:
                return index
            if seen != (started, index):
                seen, since = (started, index), now
            elif now - since > max(limit, int((_STALLED if in_call else seconds) * 1e9)):
                return index
        return None

    def _receive(self) -> bytes:
        data = b""
        while len(data) < 8 or len(data) < 8 + int.from_bytes(data[:8], "little"):
            part = self._socket.recv(1 << 16)
            if not part:
                return b""
            data += part
        return data[8:]

    def _bury(self, overdue: int | None) -> Death:
        if overdue is not None:
            with contextlib.suppress(ProcessLookupError):
                os.kill(self._pid, signal.SIGKILL)
        self._socket.close()
        return Death(self._zygote.reap(self._pid), overdue)

    def close(self) -> None:
        """End a child that is idle or dead."""
        if self._socket.fileno() >= 0:
            with contextlib.suppress(SandboxLost):
                self._bury(0)
        self.board.close()
        shutil.rmtree(self.scratch, ignore_errors=True)


def _environment(hash_seed: int) -> dict[str, str]:
    """The owner's environment with this hash seed, and this package where an import can find it."""
    home = str(Path(__file__).resolve().parent.parent)
    paths = [path for path in os.environ.get("PYTHONPATH", "").split(os.pathsep) if path]
    return {
        **os.environ,
        "PYTHONHASHSEED": str(hash_seed),
        "PYTHONPATH": os.pathsep.join([*paths, home]),
        "PYTHONDONTWRITEBYTECODE": "1",
        "PYTHONWARNINGS": "ignore",
        "PYTHONSAFEPATH": "",
    }
