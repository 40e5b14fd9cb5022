"""Where pin files are read from: the folder of this package, and those that a user adds with `--pins-dir`."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from .errors import PinError

PINS = Path(__file__).parent / "pins"
HELP = "pin files of your own beside ours, one a source (repeatable)"


def add_pins_dir(parser: argparse.ArgumentParser) -> None:
    """The option `--pins-dir` of a command."""
    parser.add_argument("--pins-dir", action="append", default=[], type=Path, metavar="DIR", help=HELP)


def pin_folders(added: Sequence[Path]) -> list[Path]:
    """Our folder and then the added ones. Raises PinError for one that does not exist or holds no pin file."""
    for folder in added:
        if not folder.is_dir():
            raise PinError(f"--pins-dir {folder}: there is no such directory")
        if not any(folder.glob("*.yaml")):
            raise PinError(f"--pins-dir {folder}: it holds no .yaml file")
    return [PINS, *dict.fromkeys(folder.absolute() for folder in added)]
