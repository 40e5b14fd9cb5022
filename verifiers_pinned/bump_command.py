"""`bump`: rewrites the pin of a wheel for another version of it, and says what no longer fits."""

from __future__ import annotations

import argparse
import difflib
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from specs.documents import open_document
from specs.problems import shown_path

from .bump import Bump, bump, paths_of
from .download import pip_newest
from .errors import PinError
from .pin_files import pin_path, schema
from .pin_folders import add_pins_dir, pin_folders
from .pins import Catalogue, load_catalogue
from .records import Archive
from .scalar_edits import edited
from .wheel_contents import read_wheel

Download = Callable[[str, "str | None", Path], Path]
"""Puts a distribution's wheel, in a version or the newest, into a folder and says where; raises `FetchError`."""


def add_parser(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    parser = commands.add_parser("bump", help="rewrite a pin for another version of its wheel", description=__doc__)
    parser.add_argument("key", metavar="KEY", help="an implementation or archive")
    parser.add_argument("version", nargs="?", metavar="VERSION", help="the version (default: the newest)")
    parser.add_argument("--force", action="store_true", help="write what can be known even where something is wrong")
    add_pins_dir(parser)
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """The exit status is 1 where something is to be mended by hand."""
    folders = pin_folders(arguments.pins_dir)
    archive = archive_of(load_catalogue(folders), arguments.key)
    path = pin_path(archive.key, folders)
    with tempfile.TemporaryDirectory(prefix="bump-") as folder:
        found, old, new = plan(path, archive, arguments.version, Path(folder), pip_newest)
    if not found.changes and not found.problems:
        print(f"{archive} is what its pin says already; nothing to do")
        return 0
    written = arguments.force or not found.problems
    if written:
        _write(path, new)
    print("\n".join(told(archive, path, found, old, new, written)))
    return 1 if found.problems else 0


def archive_of(catalogue: Catalogue, key: str) -> Archive:
    """The wheel that a key names. Raises PinError for a checkout, UnknownPin for a key that there is not."""
    sources = {each.source.key: each.source for each in catalogue.select(key)} if key not in catalogue.archives else {}
    source = catalogue.archives.get(key) or next(iter(sources.values()), None)
    if len(sources) > 1 or not isinstance(source, Archive):
        raise PinError(f"'{key}' names no single wheel; a checkout is moved by editing its `commit` and sha256s")
    return source


def plan(path: Path, archive: Archive, version: str | None, folder: Path, download: Download) -> tuple[Bump, str, str]:
    """What changes, the text of the pin file, and its text with all changes that can be made."""
    pin: dict[str, Any] = open_document(path, schema("pin")).data
    wheel = read_wheel(download(archive.name, version, folder), paths_of(pin))
    found = bump(pin, wheel)
    text = path.read_bytes().decode("utf-8")
    try:
        new = edited(text, found.changes)
    except PinError as error:
        raise PinError(f"{path}: {error}") from None
    candidate = folder / path.name
    candidate.write_bytes(new.encode("utf-8"))
    open_document(candidate, schema("pin"))  # what would be written is a pin
    return found, text, new


def _write(path: Path, text: str) -> None:
    fresh = path.with_suffix(".yaml.new")
    try:
        fresh.write_bytes(text.encode("utf-8"))
        fresh.replace(path)
    except OSError as error:
        raise PinError(f"{path} cannot be written: {error.strerror}; bump in a checkout of your own") from None


def told(archive: Archive, path: Path, found: Bump, old: str, new: str, written: bool) -> Iterator[str]:
    """What changed, what does not fit, and what to do next."""
    version = found.changes.get(("version",), archive.version)
    yield f"{archive.name} {archive.version} -> {version}: {shown_path(path)}"
    diff = difflib.unified_diff(old.splitlines(), new.splitlines(), "pinned", "found", lineterm="", n=1)
    yield from (f"  {line}" for line in diff)
    members = sum(steps[-1] == "sha256" and len(steps) > 1 for steps in found.changes)
    yield f"members that changed: {members}"
    yield from (f"note: {note}" for note in found.notes)
    yield from (f"no longer fits: {problem}" for problem in found.problems)
    if not written:
        yield "nothing was written; mend the pin by hand, or let --force write what is known and mend the rest"
        return
    yield "next: see that `license` and `covers` still hold, then compare with the run before"
    yield f"  pytest -m audit --pins {archive.key} --report-dir=new && python -m reports compare OLD new"
