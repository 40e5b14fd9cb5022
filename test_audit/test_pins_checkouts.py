"""Checkouts: named by option or variable, absent without harm, and never used when they are not as pinned."""

import hashlib

import pytest

from verifiers_pinned.cache import Missing, installed
from verifiers_pinned.checkouts import given_checkouts, verify_checkout
from verifiers_pinned.errors import CheckoutError
from verifiers_pinned.fetch import fetch
from verifiers_pinned.pins import Checkout, Member, load_catalogue

CATALOGUE = load_catalogue()
TOY = Checkout("toy", "ab" * 20, "MIT", "https://example.org/toy")
TEXT = b"REGISTRY = {}\n"
CHECKS = Member("toy/checks.py", hashlib.sha256(TEXT).hexdigest())


@pytest.fixture
def directory(tmp_path):
    (tmp_path / "toy").mkdir()
    (tmp_path / "toy/checks.py").write_bytes(TEXT)
    return tmp_path


def test_options_go_before_variables(tmp_path):
    (tmp_path / "a").mkdir()
    named = {"ASSAY_CHECKOUT_JOSEJG": str(tmp_path), "ASSAY_CHECKOUT_open_instruct": str(tmp_path)}
    given = given_checkouts(CATALOGUE, [f"josejg={tmp_path / 'a'}"], named)
    assert given == {"josejg": tmp_path / "a", "open_instruct": tmp_path}


@pytest.mark.parametrize(
    ("option", "told"),
    [
        ("josejg", "write it as KEY=DIR"),
        ("josejg=", "write it as KEY=DIR"),
        ("josej=/", "no checkout is called 'josej'; did you mean 'josejg'"),
        ("josejg=/nowhere/at/all", "--checkout josejg: /nowhere/at/all is no directory"),
    ],
)
def test_a_wrong_option_is_explained(option, told):
    with pytest.raises(CheckoutError, match=told):
        given_checkouts(CATALOGUE, [option], {})


def test_a_variable_without_a_directory_is_named():
    with pytest.raises(CheckoutError, match=r"ASSAY_CHECKOUT_JOSEJG: .* is no directory"):
        given_checkouts(CATALOGUE, [], {"ASSAY_CHECKOUT_JOSEJG": "/nowhere/at/all"})


def test_a_checkout_that_is_not_given_is_missing_not_wrong(monkeypatch):
    pin = CATALOGUE.implementations["open_instruct_functions"]
    assert installed(CATALOGUE, pin, {}) == Missing("not given: --checkout open_instruct=DIR")


def test_files_as_pinned_are_accepted(directory):
    assert verify_checkout(TOY, [CHECKS], directory) == directory


def test_an_edited_file_is_named_with_the_commit_to_take(directory):
    verify_checkout(TOY, [CHECKS], directory)
    (directory / "toy/checks.py").write_bytes(TEXT + b"# edited\n")
    with pytest.raises(CheckoutError, match=rf"toy/checks.py is not the pinned file .* checkout {TOY.commit}"):
        verify_checkout(TOY, [CHECKS], directory)


def test_an_absent_file_is_named(directory):
    with pytest.raises(CheckoutError, match=r"toy/more.py: No such file"):
        verify_checkout(TOY, [Member("toy/more.py", "0" * 64)], directory)


def test_fetching_checks_the_checkouts_that_were_given(directory):
    with pytest.raises(CheckoutError, match="josejg at 0c495b2"):
        fetch(CATALOGUE, ["josejg"], checkouts={"josejg": directory}, offline=True)
