"""Where pins and specs are read from: our folders, and those that a user adds with `--pins-dir` and `--specs`."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from specs import ROOM, Template, load_templates

from .errors import PinError
from .own_verifiers import with_own_verifiers
from .pins import Catalogue, load_catalogue

PINS = Path(__file__).parent / "pins"
PINS_HELP = "pin files of your own beside ours, one a source (repeatable)"
SPECS_HELP = "specs of your own beside ours, and the verifiers that they name (repeatable)"


def add_pins_dir(parser: argparse.ArgumentParser) -> None:
    """The option `--pins-dir` of a command."""
    parser.add_argument("--pins-dir", action="append", default=[], type=Path, metavar="DIR", help=PINS_HELP)


def pin_folders(added: Sequence[Path]) -> list[Path]:
    """Our folder and then the added ones. Raises PinError for one that does not exist or holds no pin file."""
    for folder in added:
        if not folder.is_dir():
            raise PinError(f"--pins-dir {folder}: there is no such directory")
        if not any(folder.glob("*.yaml")):
            raise PinError(f"--pins-dir {folder}: it holds no .yaml file")
    return [PINS, *dict.fromkeys(folder.absolute() for folder in added)]


def add_specs(parser: argparse.ArgumentParser) -> None:
    """The option `--specs` of a command."""
    parser.add_argument("--specs", action="append", default=[], type=Path, metavar="DIR", help=SPECS_HELP)


def spec_folders(added: Sequence[Path]) -> list[Path]:
    """Our folder and then the added ones, each once."""
    return list(dict.fromkeys([ROOM, *(folder.absolute() for folder in added)]))


def load_added(arguments: argparse.Namespace) -> tuple[Catalogue, dict[str, Template]]:
    """The catalogue and the templates that the options `--pins-dir` and `--specs` of a command ask for."""
    templates = load_templates(spec_folders(arguments.specs))
    return with_own_verifiers(load_catalogue(pin_folders(arguments.pins_dir)), templates.values()), templates
