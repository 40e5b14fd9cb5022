"""Checkouts of public repositories: which directories the user names, and whether they hold the pinned files."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path

from specs.documents import did_you_mean

from .errors import CheckoutError
from .pins import Catalogue
from .records import Checkout, Member

VARIABLE = "ASSAY_CHECKOUT_"


def given_checkouts(
    catalogue: Catalogue, options: Iterable[str] = (), environment: Mapping[str, str] = os.environ
) -> dict[str, Path]:
    """Key to directory, from `KEY=DIR` options and, below them, variables such as `ASSAY_CHECKOUT_OPEN_INSTRUCT`.

    Raises `CheckoutError` for a key that no pin has and for a directory that does not exist.
    """
    given: dict[str, tuple[str, str]] = {}
    for key in catalogue.checkouts:
        for variable in (VARIABLE + key.upper(), VARIABLE + key):
            if environment.get(variable):
                given[key] = (variable, environment[variable])
    for option in options:
        key, equals, directory = option.partition("=")
        if not equals or not directory:
            raise CheckoutError(f"--checkout {option}: write it as KEY=DIR, such as open_instruct=../open-instruct")
        if key not in catalogue.checkouts:
            hint = did_you_mean(key, catalogue.checkouts)
            raise CheckoutError(f"--checkout {option}: no checkout is called '{key}'{hint}")
        given[key] = (f"--checkout {key}", directory)
    return {key: _directory(*named) for key, named in given.items()}


def _directory(origin: str, named: str) -> Path:
    directory = Path(named).expanduser().absolute()
    if not directory.is_dir():
        raise CheckoutError(f"{origin}: {directory} is no directory; name the top of a checkout")
    return directory


def verify_checkout(checkout: Checkout, members: Iterable[Member], directory: Path) -> Path:
    """`directory`, once every member in it has the pinned SHA-256.

    Raises `CheckoutError` that names the file and how to get the pinned commit.
    """
    for member in members:
        path = directory / member.path
        try:
            facts = path.stat()
            found = _sha256(str(path), facts.st_size, facts.st_mtime_ns)
        except OSError as error:
            raise CheckoutError(f"{checkout}: {path}: {error.strerror}; {_remedy(checkout, directory)}") from None
        if found != member.sha256:
            raise CheckoutError(
                f"{checkout}: {path} is not the pinned file (SHA-256 {found[:12]}… instead of {member.sha256[:12]}…); "
                + _remedy(checkout, directory)
            )
    return directory


@cache
def _sha256(path: str, size: int, modified_ns: int) -> str:
    # Asked for once a case; size and time are part of the key so that an edited file is read again.
    return hashlib.sha256(Path(path).read_bytes()).hexdigest()


def _remedy(checkout: Checkout, directory: Path) -> str:
    return (
        f"the pin is commit {checkout.commit} of {checkout.repository}: git -C {directory} checkout {checkout.commit}"
    )
