"""Bumping a pin: only what changed in the wheel changes in the file, and what no longer fits is named."""

import shutil
from pathlib import Path

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from verifiers_pinned import bump_command
from verifiers_pinned.__main__ import main
from verifiers_pinned.bump_checks import misfits
from verifiers_pinned.cache import member_folder
from verifiers_pinned.errors import FetchError, PinError
from verifiers_pinned.miniature_wheels import sha256, write_wheel
from verifiers_pinned.pin_files import pin_path, schema
from verifiers_pinned.pin_folders import PINS
from verifiers_pinned.pins import load_catalogue
from verifiers_pinned.scalar_edits import edited

OLD = b"from toys.words import WORDS\nimport re\nREGISTRY = {}\n"
MORE = OLD + b"# more\n"
WORDS = b"WORDS = 1\n"
ROWS = b"{}\n{}\n"
PIN = """\
# A toy, and why it is here.
kind: wheel
name: toys
version: "0.9"   # quotes stay
file: toys-0.9-py3-none-any.whl
sha256: {wheel}
bytes: 1
requires_python: ">=3.10"
license: MIT
default: false
implementations:
  toys:
    style: class
    collection: ifeval
    members:
      checks: {{path: toys/checks.py, sha256: {checks}}}
      words:
        sha256: "{words}"
        path: toys/words.py
    entry: {{module: checks, name: REGISTRY}}
    replacements:
      checks: [{{old: from toys.words, new: from .words}}]
    requires: []
    needs: []
    covers: ifeval
data:
  toy_rows: {{member: {{path: toys/rows.jsonl, sha256: {words}}}, rows: 7}}
"""


@pytest.fixture
def pin(tmp_path) -> Path:
    path = tmp_path / "pins" / "toys.yaml"
    path.parent.mkdir()
    path.write_text(PIN.format(wheel="a" * 64, checks=sha256(OLD), words=sha256(WORDS)))
    return path


@pytest.fixture
def bumped(pin, tmp_path, monkeypatch):
    """Runs `bump toys` against a wheel with these files; the exit status."""

    def run(*options: str, checks: bytes = OLD, words: bytes | None = WORDS, rows: bytes = ROWS) -> int:
        wheel = tmp_path / "toys-1.0-py3-none-any.whl"
        named = {"toys/checks.py": checks, "toys/words.py": words, "toys/rows.jsonl": rows}
        write_wheel(wheel, "toys", {path: raw for path, raw in named.items() if raw is not None})

        def download(name: str, version: str | None, into: Path) -> Path:
            assert (name, version) == ("toys", None)
            return Path(shutil.copy(wheel, into))

        arguments = ["bump", "toys", "--pins-dir", str(pin.parent), *options]
        monkeypatch.setattr(bump_command, "pip_newest", download)
        return main(arguments)

    return run


def changed_lines(before: str, after: str) -> list[str]:
    return [new for old, new in zip(before.split("\n"), after.split("\n"), strict=True) if old != new]


def test_only_the_values_that_changed_are_written(bumped, pin, tmp_path, capsys):
    before = pin.read_text()
    assert bumped(checks=MORE) == 0
    wheel = tmp_path / "toys-1.0-py3-none-any.whl"
    assert changed_lines(before, pin.read_text()) == [
        'version: "1.0"   # quotes stay',
        "file: toys-1.0-py3-none-any.whl",
        f"sha256: {sha256(wheel.read_bytes())}",
        f"bytes: {wheel.stat().st_size}",
        f"      checks: {{path: toys/checks.py, sha256: {sha256(MORE)}}}",
        f"  toy_rows: {{member: {{path: toys/rows.jsonl, sha256: {sha256(ROWS)}}}, rows: 2}}",
    ]
    told = capsys.readouterr().out
    assert "toys 0.9 -> 1.0" in told
    assert "pytest -m audit --pins toys --report-dir=new && python -m reports compare OLD new" in told
    assert load_catalogue([PINS, pin.parent]).archives["toys"].version == "1.0"


def test_a_pin_that_is_up_to_date_stays_as_it_is(bumped, pin, capsys):
    bumped()
    before = pin.read_bytes()
    assert bumped() == 0
    assert "nothing to do" in capsys.readouterr().out
    assert pin.read_bytes() == before


@pytest.mark.parametrize(
    ("files", "told"),
    [
        ({"words": None}, "toys: toys/words.py is gone"),
        ({"checks": OLD * 2}, "module checks: 'from toys.words' occurs 2 times, and its pin replaces it 1 times"),
        ({"checks": OLD.replace(b"toys.words", b"toys.more")}, "it imports 'toys', which is neither required nor"),
        ({"checks": OLD.replace(b"REGISTRY", b"CHECKS")}, "module checks: it no longer defines 'REGISTRY'"),
        ({"checks": OLD + b"import numpy\n"}, "it imports 'numpy', which is neither required nor replaced"),
        ({"checks": b"def ("}, "it is no Python"),
    ],
)
def test_what_no_longer_fits_is_named_and_nothing_written(bumped, pin, capsys, files, told):
    before = pin.read_bytes()
    assert bumped(**files) == 1
    out = capsys.readouterr().out
    assert "no longer fits: toys" in out
    assert told in out
    assert "nothing was written" in out
    assert pin.read_bytes() == before


def test_force_writes_what_can_be_known(bumped, pin):
    assert bumped("--force", words=None, checks=OLD + b"\n") == 1
    written = yaml.safe_load(pin.read_text())
    members = written["implementations"]["toys"]["members"]
    assert (written["version"], members["checks"]["sha256"]) == ("1.0", sha256(OLD + b"\n"))
    assert members["words"]["sha256"] == sha256(WORDS)


def test_a_checkout_is_not_bumped(capsys):
    assert main(["bump", "ai2_ifbench"]) == 2
    assert "names no single wheel" in capsys.readouterr().err


def test_an_unknown_key_is_guessed(capsys):
    assert main(["bump", "lm_evall"]) == 2
    assert "did you mean 'lm_eval'?" in capsys.readouterr().err


def test_a_file_that_is_no_wheel_is_told(pin, tmp_path, monkeypatch, capsys):
    def download(name: str, version: str | None, into: Path) -> Path:
        (into / "toys-1.0-py3-none-any.whl").write_bytes(b"PK no")
        return into / "toys-1.0-py3-none-any.whl"

    monkeypatch.setattr(bump_command, "pip_newest", download)
    assert main(["bump", "toys", "--pins-dir", str(pin.parent)]) == 2
    assert "is not a readable zip archive" in capsys.readouterr().err


def test_an_index_that_cannot_be_reached_is_told(tmp_path, monkeypatch):
    from verifiers_pinned.download import pip_newest

    monkeypatch.setenv("PIP_INDEX_URL", "http://127.0.0.1:9/simple")
    monkeypatch.setenv("PIP_RETRIES", "0")
    with pytest.raises(FetchError, match=r"no_such_toy==1: .*the package index cannot be reached, or lacks it"):
        pip_newest("no_such_toy", "1", tmp_path)


VALUES = st.one_of(st.integers(0, 10**9), st.from_regex(r"[A-Za-z0-9.>=<+, -]{1,20}", fullmatch=True))


@given(st.lists(VALUES, min_size=3, max_size=3), st.sampled_from(["{v}", "'{v}'", '"{v}"']))
def test_an_edited_value_is_read_back_and_the_rest_kept(values, form):
    text = f"# head\na: {form.format(v='old')}   # why\nb: [{form.format(v='x')}, {{c: 3}}]\n"
    new = edited(text, {("a",): values[0], ("b", 0): values[1], ("b", 1, "c"): values[2]})
    assert yaml.safe_load(new) == {"a": values[0], "b": [values[1], {"c": values[2]}]}
    assert new.startswith("# head\na: ")
    assert "   # why\n" in new


def test_a_value_over_several_lines_is_not_edited():
    with pytest.raises(PinError, match="line 1, column 4: write the value on one line"):
        edited('a: "one\n  two"\n', {("a",): "x"})


def test_two_folders_with_one_source_are_refused(pin, capsys):
    shutil.copy(PINS / "lm_eval.yaml", pin.parent)
    assert main(["list", "--pins-dir", str(pin.parent)]) == 2
    assert "lm_eval.yaml:2:7: name: 'lm_eval' is declared in" in capsys.readouterr().err


@pytest.mark.parametrize("folder", ["nowhere", "."])
def test_a_folder_without_pins_is_refused(tmp_path, monkeypatch, capsys, folder):
    monkeypatch.chdir(tmp_path)
    assert main(["list", "--pins-dir", folder]) == 2
    assert f"--pins-dir {folder}: " in capsys.readouterr().err


def test_pins_of_a_users_own_are_listed_beside_ours(pin, capsys):
    assert main(["list", "--pins-dir", str(pin.parent)]) == 0
    told = capsys.readouterr().out
    assert "toys" in told
    assert "lm_eval" in told


@pytest.mark.audit
def test_every_pin_fits_the_wheel_that_it_is_of(catalogue):
    from specs.documents import open_document
    from verifiers_pinned.bump import paths_of

    for archive in catalogue.archives.values():
        pin = open_document(pin_path(archive.key, [PINS]), schema("pin")).data
        folder = member_folder(archive)
        files = {path: (folder / path).read_bytes() for path in paths_of(pin) if (folder / path).is_file()}
        assert list(misfits(pin, files)) == [], archive
