"""The header of a run: what has to be known to repeat it."""

from __future__ import annotations

import platform
import secrets
import subprocess
import sys
from collections.abc import Mapping, Sequence
from datetime import datetime, timezone
from importlib import metadata
from pathlib import Path
from typing import Any

from specs import ROOM
from specs.digest import specs_digest

# What decides verdicts or how they are stored; the rest of an environment does not reach a row.
PACKAGES = (
    "absl-py",
    "assay-verifiers",
    "emoji",
    "hypothesis",
    "immutabledict",
    "langdetect",
    "nltk",
    "pyarrow",
    "pytest",
    "pytest-xdist",
    "pyyaml",
    "statsmodels",
    "syllapy",
)


def new_run_id() -> str:
    """A name for a run that sorts by time and does not repeat: `20260131-235959-1a2b3c4d`."""
    return f"{datetime.now(timezone.utc):%Y%m%d-%H%M%S}-{secrets.token_hex(4)}"


def run_header(
    run: str, root: Path, arguments: Sequence[str], contributions: Sequence[Mapping[str, object]]
) -> dict[str, Any]:
    """The header as JSON values; a contribution that says another thing than the rest is a ValueError."""
    header: dict[str, Any] = {
        "run": run,
        "started": datetime.now(timezone.utc).isoformat(timespec="seconds"),
        "python": sys.version.split()[0],
        "implementation": platform.python_implementation(),
        "platform": platform.platform(),
        "packages": {name: version for name in PACKAGES if (version := _version(name))},
        "git": git_state(root),
        "arguments": [str(argument) for argument in arguments],
        "seed": None,
        "specs": specs_digest([ROOM]),
    }
    for contribution in contributions:
        for name, value in contribution.items():
            if header.get(name) is not None and header[name] != value:
                raise ValueError(f"two plugins give the run header a different {name!r}: {header[name]!r}, {value!r}")
            header[name] = value
    return header


def git_state(root: Path) -> dict[str, Any] | None:
    """Commit and dirtiness of the checkout that `root` lies in; None outside of one or without git."""
    commit = _git(root, "rev-parse", "HEAD")
    if commit is None:
        return None
    # Untracked files count as dirt: an untracked conftest or spec decides what a run does.
    changes = _git(root, "status", "--porcelain")
    return {"commit": commit, "dirty": None if changes is None else bool(changes)}


def _git(root: Path, *arguments: str) -> str | None:
    try:
        done = subprocess.run(["git", "-C", str(root), *arguments], capture_output=True, text=True, timeout=10)
    except (OSError, subprocess.SubprocessError):
        return None
    return done.stdout.strip() if done.returncode == 0 else None


def _version(name: str) -> str | None:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return None
