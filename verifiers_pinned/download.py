"""Downloads one wheel with pip, which checks its hash where there is one; the caller checks it again."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

from .errors import FetchError
from .records import Archive

# Wheels are fetched for the newest interpreter that any of them asks for, whichever runs this: their members are read,
# not installed.
PYTHON_VERSION = "3.13"
OPTIONS = (
    *("--no-deps", "--require-hashes", "--only-binary", ":all:", "--ignore-requires-python"),
    *("--python-version", PYTHON_VERSION, "--no-input", "--disable-pip-version-check", "--progress-bar", "off"),
)
# Signs in what pip says. A failed connection shows only as a warning, and then as a package without versions.
FULL = ("Errno 28]", "Errno 27]", "Errno 122]", "No space left")
# pip takes an error of writing for one of reading.
CUT = ("incomplete-download", "not enough bytes were received")
CUT_OFF = "the download was cut off again and again; check the network, and whether the disk has space or a quota"
UNREACHABLE = ("from versions: none", "after connection broken by", "Max retries exceeded", "ProxyError")


def pip_download(archive: Archive, into: Path) -> Path:
    """The path of the wheel, downloaded into the folder `into`; pip's settings and index are the user's.

    Raises `FetchError` with the last useful line of what pip said.
    """
    requirements = into / "requirements.txt"
    requirements.write_text(f"{archive.name}=={archive.version} --hash=sha256:{archive.sha256}\n", encoding="utf-8")
    command = [sys.executable, "-m", "pip", "download", *OPTIONS, "--dest", str(into), "-r", str(requirements)]
    done = _pip(command, into)
    wheel = into / archive.file
    if done.returncode or not wheel.is_file():
        why = last_useful_line(done.stdout + done.stderr)
        free = shutil.disk_usage(into).free
        if why == CUT_OFF and free < archive.bytes:
            why = f"no space left for it ({free / 1e6:.1f} MB); free some, or set ASSAY_CACHE elsewhere"
        raise FetchError(f"{archive}: pip could not download it: {why}")
    return wheel


def last_useful_line(said: str) -> str:
    """What pip's output comes to: a known cause with its remedy, else its last error, else its last line."""
    if "No module named pip" in said:
        return f"pip is not installed for {sys.executable}: {sys.executable} -m ensurepip"
    if "DO NOT MATCH THE HASHES" in said:
        return "the index has another file under this version than the pinned one (hash mismatch); nothing was used"
    lines = [line.strip() for line in said.splitlines() if line.strip()] or ["pip said nothing"]
    if any(sign in said for sign in FULL):
        return f"no space left for it ({lines[-1]}); free some, or set ASSAY_CACHE elsewhere"
    if any(sign in said for sign in UNREACHABLE):
        return "the package index cannot be reached, or lacks it; check the network and `pip config list`"
    if any(sign in said for sign in CUT):
        return CUT_OFF
    errors = [line for line in lines if line.startswith("ERROR:") and line != "ERROR: Exception:"]
    return (errors or lines)[-1].removeprefix("ERROR: ")


def pip_newest(name: str, version: str | None, into: Path) -> Path:
    """The wheel of a distribution in a version, or in the newest, downloaded into the empty folder `into`.

    Nothing is known of it yet, so nothing is checked but what pip checks. Raises `FetchError`.
    """
    wanted = name if version is None else f"{name}=={version}"
    options = [option for option in OPTIONS if option != "--require-hashes"]
    command = [sys.executable, "-m", "pip", "download", *options, "--dest", str(into), wanted]
    done = _pip(command, into)
    wheels = sorted(into.glob("*.whl"))
    if done.returncode or len(wheels) != 1:
        raise FetchError(f"{wanted}: pip could not download it: {last_useful_line(done.stdout + done.stderr)}")
    return wheels[0]


def _pip(command: list[str], folder: Path) -> subprocess.CompletedProcess[str]:
    # pip unpacks and checks in its temporary folder: there it goes with ours, even after a kill.
    environment = {**os.environ, "TMPDIR": str(folder), "PYTHONUTF8": "1", "PIP_NO_COLOR": "1"}
    return subprocess.run(
        command,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        errors="replace",
        env=environment,
        cwd=folder,
    )
