"""What a child may not do: an audit hook without network, processes or writes outside its folder, and memory limits."""

from __future__ import annotations

import _posixsubprocess
import os
import resource
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

_WRITE_FLAGS = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND

_LARGEST_FILE = 1 << 26

_NETWORK = frozenset(
    f"socket.{name}"
    for name in (
        *("connect", "bind", "sendto", "sendmsg"),
        *("getaddrinfo", "gethostbyname", "gethostbyaddr", "getnameinfo"),
    )
)
_PROCESSES = frozenset(
    [
        *("subprocess.Popen", "pty.spawn", "os.system", "os.startfile", "os.kill", "os.killpg"),
        *("os.fork", "os.forkpty", "os.posix_spawn", "os.spawn", "os.exec"),
    ]
)
# Where an event has the paths that it changes, and for each the folder descriptor that it is relative to.
_PATHS: dict[str, tuple[tuple[int, int | None], ...]] = {
    "os.remove": ((0, 1),),
    "os.rmdir": ((0, 1),),
    "os.mkdir": ((0, 2),),
    "os.rename": ((0, 2), (1, 3)),
    "os.link": ((0, 2), (1, 3)),
    "os.symlink": ((1, 2),),
    "os.truncate": ((0, None),),
    "os.chmod": ((0, 2),),
    "os.chown": ((0, 3),),
    "os.utime": ((0, 3),),
    "os.setxattr": ((0, None),),
    "os.removexattr": ((0, None),),
}
_REFUSED = _NETWORK | _PROCESSES | _PATHS.keys() | {"open", "ctypes.dlopen", "sqlite3.connect"}


class Refused(PermissionError):
    """What a verifier may not do; as text, the sentence alone, also where a library adds a file name to the error."""

    def __init__(self, sentence: str) -> None:
        super().__init__(sentence)
        self._sentence = sentence

    def __str__(self) -> str:
        return self._sentence


def forbid_side_effects(scratch: str) -> None:
    """Install the hook for good (a hook cannot be removed). Writes stay possible under `scratch` and to /dev/null.

    It is there against accidents and careless code, not against someone who wants out: native code is not asked.
    """
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_FSIZE, (_LARGEST_FILE, _LARGEST_FILE))
    # multiprocessing starts its processes below subprocess, without a word to the hook.
    _posixsubprocess.fork_exec = _start_nothing  # type: ignore[attr-defined]
    sys.addaudithook(_hook(os.path.realpath(scratch)))


def _start_nothing(*_: object) -> int:
    raise Refused("a pinned verifier may not start or signal processes (fork_exec)")


def _hook(scratch: str) -> Callable[[str, tuple[Any, ...]], None]:
    inside = scratch + os.sep
    # A verifier may replace what it likes in `os`; the hook keeps its own.
    realpath, join, fsdecode, refused = os.path.realpath, os.path.join, os.fsdecode, _REFUSED

    def allowed(path: Any, folder: int = -1) -> bool:
        # A descriptor in a path's place was opened under this hook.
        if path is None or type(path) is int:
            return True
        real = realpath(join(f"/proc/self/fd/{folder}" if folder >= 0 else ".", fsdecode(path)))
        return real == scratch or real.startswith(inside) or real == os.devnull

    def hook(event: str, args: tuple[Any, ...]) -> None:
        # Every import, open and id() comes through here: one set look-up for the common case.
        if event not in refused:
            return
        if event == "open":
            if not args[2] & _WRITE_FLAGS or allowed(args[0]):
                return
            raise Refused("a pinned verifier may not write outside its scratch folder")
        if event == "ctypes.dlopen":
            # `import ctypes` opens the process itself (None), which is harmless.
            if args[0] is None:
                return
            raise Refused("a pinned verifier may not load libraries by name")
        if event == "sqlite3.connect":
            if args[0] in (":memory:", "") or allowed(args[0]):
                return
            raise Refused("a pinned verifier may not open a database outside its scratch folder")
        if event in _PATHS:
            if all(allowed(args[path], -1 if at is None else args[at]) for path, at in _PATHS[event]):
                return
            raise Refused(f"a pinned verifier may not change files outside its scratch folder ({event})")
        what = "use the network" if event in _NETWORK else "start or signal processes"
        raise Refused(f"a pinned verifier may not {what} ({event})")

    return hook


def address_space() -> int:
    """Bytes of virtual memory that this process has mapped."""
    return int(Path("/proc/self/statm").read_bytes().split()[0]) * resource.getpagesize()


def limit_memory(extra: int) -> None:
    """Let this process map `extra` bytes more than it has now."""
    _soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (address_space() + extra, hard))
