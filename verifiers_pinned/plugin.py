"""The pytest plugin of the pins: options, fetching before a run that needs it, fixtures, and what a run records."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from specs import Template, load_templates
from specs.digest import specs_digest
from specs.documents import DocumentError

from .cache import Missing, installed
from .checkouts import given_checkouts
from .errors import PinError
from .fetch import fetch
from .marks import may_select
from .own_verifiers import with_own_verifiers
from .pin_folders import PINS_HELP, SPECS_HELP, pin_folders, spec_folders
from .pins import Catalogue, UnknownPin, load_catalogue
from .progress import progress_for
from .records import Implementation, digest_of
from .session import Session

# Tests with one of these markers call pinned verifiers.
NEED_PINS = ("audit", "panel")

_CATALOGUE = pytest.StashKey[Catalogue]()
_TEMPLATES = pytest.StashKey[dict[str, Template]]()
_CHECKOUTS = pytest.StashKey[dict[str, Path]]()


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("assay")
    group.addoption(
        "--pins", default="default", metavar="SET", help="pinned verifiers to audit: default, all, or KEY,KEY,..."
    )
    group.addoption(
        "--checkout", action="append", default=[], metavar="KEY=DIR", help="where a pinned checkout lies (repeatable)"
    )
    group.addoption("--pins-dir", action="append", default=[], type=Path, metavar="DIR", help=PINS_HELP)
    group.addoption("--specs", action="append", default=[], type=Path, metavar="DIR", help=SPECS_HELP)
    group.addoption("--offline", action="store_true", help="download no pinned files; fail where some are missing")


@pytest.hookimpl(tryfirst=True)
def pytest_sessionstart(session: pytest.Session) -> None:
    """Fetches before xdist starts its workers, which then find everything in the cache."""
    config = session.config
    if hasattr(config, "workerinput") or config.option.collectonly or not needs_pins(config):
        return
    selected(config)  # refuses unknown keys
    try:
        fetch(
            catalogue_of(config),
            [config.option.pins],
            offline=config.option.offline,
            progress=progress_for(sys.stderr),
            checkouts=checkouts_of(config),
        )
    except PinError as error:
        raise pytest.UsageError(f"the pinned files cannot be had:\n{error}") from None


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers(config: pytest.Config) -> int | None:
    """With `-n auto`, half as many workers again as cores: a worker waits while its sandbox computes, and back."""
    if not needs_pins(config) or "PYTEST_XDIST_AUTO_NUM_WORKERS" in os.environ:
        return None
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return cores + (cores + 1) // 2


def pytest_report_header(config: pytest.Config) -> str | None:
    if not needs_pins(config):
        return None
    given = ", ".join(checkouts_of(config)) or "none"
    return f"pins: {config.option.pins}, {len(selected(config))} implementations; checkouts given: {given}"


@pytest.hookimpl(optionalhook=True)
def pytest_assay_run_header(config: pytest.Config) -> Mapping[str, object]:
    """By implementation, what was pinned, and why it was not there if it was not."""
    if not needs_pins(config):
        return {}
    catalogue, checkouts = catalogue_of(config), checkouts_of(config)
    pins: dict[str, dict[str, str]] = {}
    for each in selected(config):
        source = each.source
        found = installed(catalogue, each, checkouts)
        not_run = {"not_run": found.reason} if isinstance(found, Missing) else {}
        pins[each.key] = {"version": source.version, **digest_of(source), **not_run}
    own = config.option.specs
    return {"pins": pins, **({"own_specs": specs_digest(own)} if own else {})}


@pytest.fixture(scope="session")
def catalogue(pytestconfig: pytest.Config) -> Catalogue:
    """All pins."""
    return catalogue_of(pytestconfig)


@pytest.fixture(scope="session")
def checkouts(pytestconfig: pytest.Config) -> dict[str, Path]:
    """The directories given with `--checkout` or `ASSAY_CHECKOUT_<KEY>`, by key."""
    return checkouts_of(pytestconfig)


@pytest.fixture(scope="session")
def verifier_session(catalogue: Catalogue, checkouts: dict[str, Path]) -> Iterator[Session]:
    """The one sandbox of this process, in which pinned verifiers are called."""
    with Session(catalogue, checkouts=checkouts) as session:
        yield session


def needs_pins(config: pytest.Config) -> bool:
    """Whether the mark expression selects tests that call pinned verifiers."""
    return any(may_select(config.option.markexpr, marker) for marker in NEED_PINS)


def catalogue_of(config: pytest.Config) -> Catalogue:
    """All pins, read once; for parametrizing at collection."""
    if _CATALOGUE not in config.stash:
        try:
            pins = load_catalogue(pin_folders(config.option.pins_dir))
            config.stash[_CATALOGUE] = with_own_verifiers(pins, templates_of(config).values())
        except (DocumentError, PinError) as error:
            raise pytest.UsageError(f"the pins are wrong:\n{error}") from None
    return config.stash[_CATALOGUE]


def templates_of(config: pytest.Config) -> dict[str, Template]:
    """All templates, those of `--specs` with ours, read once; for parametrizing at collection."""
    if _TEMPLATES not in config.stash:
        try:
            config.stash[_TEMPLATES] = load_templates(spec_folders(config.option.specs))
        except DocumentError as error:
            raise pytest.UsageError(f"the specs are wrong:\n{error}") from None
    return config.stash[_TEMPLATES]


def checkouts_of(config: pytest.Config) -> dict[str, Path]:
    """The checkouts given; a wrong option is a usage error."""
    if _CHECKOUTS not in config.stash:
        try:
            config.stash[_CHECKOUTS] = given_checkouts(catalogue_of(config), config.option.checkout)
        except PinError as error:
            raise pytest.UsageError(str(error)) from None
    return config.stash[_CHECKOUTS]


def selected(config: pytest.Config) -> tuple[Implementation, ...]:
    """The implementations that `--pins` names."""
    try:
        return catalogue_of(config).select(config.option.pins)
    except UnknownPin as error:
        raise pytest.UsageError(f"--pins {config.option.pins}: {error}") from None
