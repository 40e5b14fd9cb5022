"""Fetching: what arrives is what was pinned, nothing else stays, and nothing is half done."""

import dataclasses
import errno
import json
import resource
import signal
import stat
import subprocess
import sys
import threading
import zipfile
from pathlib import Path
from types import SimpleNamespace

import pytest

from verifiers_pinned import download
from verifiers_pinned.cache import Missing, cache_root, installed, member_folder, read_stamp, state, wheel_path
from verifiers_pinned.download import last_useful_line, pip_download
from verifiers_pinned.fetch import FetchError, fetch
from verifiers_pinned.miniature_wheels import Shelf, sha256
from verifiers_pinned.pins import UnknownPin

ROOT = Path(__file__).resolve().parent.parent
CHECKS = b"REGISTRY = {}\n"
FETCH_IN_A_CHILD = """
import os
import sys
from pathlib import Path
from verifiers_pinned.fetch import fetch
from verifiers_pinned.miniature_wheels import Shelf
from verifiers_pinned.progress import Silent

shelf, mode = Shelf(Path(sys.argv[1])), sys.argv[2]

def download(archive, into):
    with open(Path(sys.argv[1]) / "asked", "a") as asked:
        asked.write(archive.key + "\\n")
    if mode == "hang":
        (into / archive.file).write_bytes(b"PK half a wh")
        os.write(1, b"downloading\\n")
        sys.stdin.read()
    return shelf.download(archive, into)

class Begun(Silent):
    def started(self, archive):
        if mode == "copy":
            os.write(1, b"begun\\n")

fetch(shelf.catalogue(), ["all"], download=download, progress=Begun())
"""


@pytest.fixture
def shelf(tmp_path, monkeypatch):
    monkeypatch.setenv("ASSAY_CACHE", str(tmp_path / "cache"))
    made = Shelf(tmp_path / "shelf")
    made.add("alpha", {"alpha/checks.py": CHECKS, "alpha/more/words.py": b"WORDS = 1\n"})
    made.add("beta", {"beta/checks.py": b"REGISTRY = {1: 1}\n"}, default=False)
    return made


def refuse(archive, into):
    raise AssertionError(f"{archive} was downloaded")


def archive_of(shelf, **changes):
    """The catalogue with one archive, and that archive, after `changes` to its pin file."""
    path = shelf.pins / "alpha.yaml"
    path.write_text(json.dumps({**json.loads(path.read_text()), **changes}))
    catalogue = shelf.catalogue()
    return catalogue, catalogue.archives["alpha"]


def repin(shelf, wheel):
    """Lets the pin of alpha name the bytes of `wheel` as they are now."""
    return archive_of(shelf, sha256=sha256(wheel.read_bytes()), bytes=wheel.stat().st_size)


def assert_nothing_stays(archive):
    assert not member_folder(archive).exists()
    assert list((cache_root() / "tmp").iterdir()) == []


def test_fetched_members_lie_at_their_paths(shelf):
    report = fetch(shelf.catalogue(), ["default"], download=shelf.download)
    folder = installed(shelf.catalogue(), "alpha", {})
    assert [archive.key for archive in report.fetched] == ["alpha"]
    assert (folder / "alpha/checks.py").read_bytes() == CHECKS
    assert not (folder / "alpha-1.0.dist-info").exists()


def test_a_second_fetch_downloads_nothing(shelf):
    fetch(shelf.catalogue(), ["all"], download=shelf.download)
    report = fetch(shelf.catalogue(), ["all"], download=refuse)
    assert (report.fetched, len(report.present)) == ((), 2)


def test_a_key_fetches_its_own_archive_and_the_resources_it_needs(shelf):
    nltk = {"root": "data", "members": [{"path": "data/tokenizers/punkt_tab/x", "sha256": sha256(b"x")}]}
    shelf.add("words", {"data/tokenizers/punkt_tab/x": b"x"}, implementations={}, resources={"punkt_tab": nltk})
    path = shelf.pins / "words.yaml"
    path.write_text(path.read_text().replace('"implementations": {},', ""))
    pin = json.loads((shelf.pins / "beta.yaml").read_text())
    pin["implementations"]["beta"]["needs"] = ["punkt_tab"]
    (shelf.pins / "beta.yaml").write_text(json.dumps(pin))
    fetch(shelf.catalogue(), ["beta"], download=shelf.download)
    assert sorted(shelf.asked) == ["beta", "words"]


def test_an_unknown_key_is_told_with_the_nearest(shelf):
    with pytest.raises(UnknownPin, match="did you mean 'alpha'"):
        fetch(shelf.catalogue(), ["alhpa"], download=refuse)


def test_other_bytes_than_pinned_are_never_opened(shelf):
    catalogue, archive = archive_of(shelf, sha256="0" * 64)
    with pytest.raises(FetchError, match=r"alpha 1.0: alpha-1.0-py3-none-any.whl has SHA-256 .* its pin says 0000"):
        fetch(catalogue, ["alpha"], download=shelf.download)
    assert_nothing_stays(archive)


def test_a_truncated_wheel_is_called_truncated(shelf):
    catalogue = shelf.catalogue()
    wheel = shelf.wheels / catalogue.archives["alpha"].file
    wheel.write_bytes(wheel.read_bytes()[:-10])
    with pytest.raises(FetchError, match=r"truncated: \d+ of \d+ bytes"):
        fetch(catalogue, ["alpha"], download=shelf.download)
    assert_nothing_stays(catalogue.archives["alpha"])


def test_a_wheel_that_is_no_zip_is_refused(shelf):
    wheel = shelf.wheels / "alpha-1.0-py3-none-any.whl"
    wheel.write_bytes(b"<html>moved</html>")
    catalogue, archive = repin(shelf, wheel)
    with pytest.raises(FetchError, match="is not a readable zip archive"):
        fetch(catalogue, ["alpha"], download=shelf.download)
    assert_nothing_stays(archive)


def test_a_member_that_is_not_in_the_wheel_is_told_with_the_nearest(shelf):
    wheel = shelf.wheels / "alpha-1.0-py3-none-any.whl"
    with zipfile.ZipFile(wheel, "w") as opened:
        opened.writestr("alpha/check.py", CHECKS)
    catalogue, archive = repin(shelf, wheel)
    with pytest.raises(FetchError, match=r"no member 'alpha/checks.py'; did you mean 'alpha/check.py'"):
        fetch(catalogue, ["alpha"], download=shelf.download)
    assert_nothing_stays(archive)


def test_a_member_with_other_bytes_is_refused(shelf):
    wheel = shelf.wheels / "alpha-1.0-py3-none-any.whl"
    with zipfile.ZipFile(wheel, "w") as opened:
        opened.writestr("alpha/checks.py", b"import evil\n")
    catalogue, archive = repin(shelf, wheel)
    with pytest.raises(FetchError, match=r"the member 'alpha/checks.py' has SHA-256"):
        fetch(catalogue, ["alpha"], download=shelf.download)
    assert_nothing_stays(archive)


def test_a_link_in_the_wheel_is_refused(shelf):
    wheel = shelf.wheels / "alpha-1.0-py3-none-any.whl"
    link = zipfile.ZipInfo("alpha/checks.py")
    link.external_attr = (stat.S_IFLNK | 0o777) << 16
    with zipfile.ZipFile(wheel, "w") as opened:
        opened.writestr(link, "/etc/passwd")
    catalogue, archive = repin(shelf, wheel)
    with pytest.raises(FetchError, match="no plain file"):
        fetch(catalogue, ["alpha"], download=shelf.download)
    assert_nothing_stays(archive)


@pytest.mark.parametrize("path", ["../out.py", "/tmp/out.py", "a/../../out.py", "..\\out.py", "C:out.py", ""])
def test_a_member_never_lands_outside_its_folder(shelf, path):
    # A pin file cannot say this; a catalogue made by a program can.
    catalogue = shelf.catalogue()
    pin = catalogue.implementations["alpha"]
    member = dataclasses.replace(pin.members["checks"], path=path)
    sly = dataclasses.replace(
        catalogue, implementations={"alpha": dataclasses.replace(pin, members={"checks": member})}
    )
    with pytest.raises(FetchError, match="would land outside its folder"):
        fetch(sly, ["alpha"], download=shelf.download)
    assert_nothing_stays(catalogue.archives["alpha"])


def test_one_failure_keeps_what_the_others_fetched(shelf):
    under_way = threading.Event()

    def alpha_is_refused(archive, into):
        if archive.key == "alpha":
            under_way.wait()
            raise FetchError("alpha: refused")
        under_way.set()
        return shelf.download(archive, into)

    catalogue = shelf.catalogue()
    with pytest.raises(FetchError, match="alpha: refused"):
        fetch(catalogue, ["all"], download=alpha_is_refused)
    assert state(catalogue, catalogue.archives["beta"]).word == "present"


def test_a_full_disk_while_unpacking_leaves_nothing_behind(shelf):
    shelf.add("alpha", {"alpha/checks.py": b"#" * 100_000})
    catalogue = shelf.catalogue()
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, hard))
    try:
        with pytest.raises(FetchError, match=r"no space left at .*free some, or set ASSAY_CACHE"):
            fetch(catalogue, ["alpha"], download=shelf.download)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert_nothing_stays(catalogue.archives["alpha"])


def test_a_full_disk_while_downloading_is_told_as_such(shelf):
    def full(archive, into):
        raise OSError(errno.ENOSPC, "No space left on device")

    with pytest.raises(FetchError, match=r"alpha 1.0: no space left at"):
        fetch(shelf.catalogue(), ["alpha"], download=full)


def test_an_unusable_cache_is_told_with_the_way_out(shelf, tmp_path, monkeypatch):
    (tmp_path / "file").touch()
    monkeypatch.setenv("ASSAY_CACHE", str(tmp_path / "file"))
    with pytest.raises(FetchError, match=r"cannot be used: .*Not a directory; set ASSAY_CACHE to a folder"):
        fetch(shelf.catalogue(), ["alpha"], download=shelf.download)


def test_offline_says_what_is_missing_and_what_to_do(shelf):
    with pytest.raises(FetchError, match=r"alpha 1.0 \(0.0 MB\).*verifiers_pinned fetch alpha"):
        fetch(shelf.catalogue(), ["alpha"], offline=True, download=refuse)


def test_a_kept_wheel_serves_a_machine_without_network(shelf):
    catalogue = shelf.catalogue()
    fetch(catalogue, ["alpha"], download=shelf.download, keep_wheels=True)
    (member_folder(catalogue.archives["alpha"]) / "alpha/checks.py").unlink()
    fetch(catalogue, ["alpha"], offline=True, download=refuse)
    assert state(catalogue, catalogue.archives["alpha"], rehash=True).word == "present"


def test_a_broken_kept_wheel_is_named(shelf):
    catalogue = shelf.catalogue()
    kept = wheel_path(catalogue.archives["alpha"])
    kept.parent.mkdir(parents=True)
    kept.write_bytes(b"half")
    with pytest.raises(FetchError, match=r"kept wheel .*remove it"):
        fetch(catalogue, ["alpha"], download=refuse)


@pytest.mark.parametrize(("raw", "rehash"), [(b"", False), (b"REGISTRY = []\n", True)], ids=["cut", "changed"])
def test_a_damaged_file_is_seen_and_mended(shelf, raw, rehash):
    catalogue = shelf.catalogue()
    archive = catalogue.archives["alpha"]
    fetch(catalogue, ["alpha"], download=shelf.download)
    (member_folder(archive) / "alpha/checks.py").write_bytes(raw)
    assert state(catalogue, archive, rehash=rehash).word == "damaged"
    fetch(catalogue, ["alpha"], download=shelf.download)
    assert (member_folder(archive) / "alpha/checks.py").read_bytes() == CHECKS


def test_pins_that_name_different_files_share_the_cache(shelf):
    path = shelf.pins / "alpha.yaml"
    whole = path.read_text()
    for module, file in (("checks", "alpha/checks.py"), ("words", "alpha/more/words.py")):
        pin = json.loads(whole)
        implementation = pin["implementations"]["alpha"]
        implementation["members"] = {module: implementation["members"][module]}
        implementation["entry"]["module"] = module
        path.write_text(json.dumps(pin))
        fetch(shelf.catalogue(), ["alpha"], download=shelf.download)
        assert file in read_stamp(installed(shelf.catalogue(), "alpha", {}))
    path.write_text(whole)
    fetch(shelf.catalogue(), ["alpha"], download=refuse)


def test_an_unreadable_stamp_counts_as_not_fetched(shelf):
    catalogue = shelf.catalogue()
    fetch(catalogue, ["alpha"], download=shelf.download)
    (member_folder(catalogue.archives["alpha"]) / ".verified.json").write_text('{"files": [1]}')
    assert state(catalogue, catalogue.archives["alpha"]).word == "missing"


def child(shelf, mode):
    command = [sys.executable, "-c", FETCH_IN_A_CHILD, str(shelf.pins.parent), mode]
    return subprocess.Popen(command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE)


def test_two_processes_that_fetch_at_once_download_once(shelf):
    first = child(shelf, "hang")
    assert first.stdout.readline() == b"downloading\n"
    second = child(shelf, "copy")
    assert second.stdout.readline() == b"begun\n"
    first.stdin.close()
    assert [first.wait(), second.wait()] == [0, 0]
    assert sorted((shelf.pins.parent / "asked").read_text().split()) == ["alpha", "beta"]
    assert state(shelf.catalogue(), shelf.catalogue().archives["alpha"], rehash=True).word == "present"


def test_a_killed_fetch_leaves_a_usable_cache(shelf):
    process = child(shelf, "hang")
    assert process.stdout.readline() == b"downloading\n"
    process.send_signal(signal.SIGKILL)
    process.wait()
    catalogue = shelf.catalogue()
    assert state(catalogue, catalogue.archives["alpha"]).word == "missing"
    fetch(catalogue, ["all"], download=shelf.download)
    assert state(catalogue, catalogue.archives["alpha"], rehash=True).word == "present"
    assert list((cache_root() / "tmp").iterdir()) == []


@pytest.fixture
def no_index(shelf, monkeypatch):
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(shelf.wheels))
    monkeypatch.setenv("PIP_CONFIG_FILE", "/dev/null")
    return shelf


def test_pip_downloads_what_is_pinned(no_index):
    fetch(no_index.catalogue(), ["alpha"])
    assert isinstance(installed(no_index.catalogue(), "beta", {}), Missing)
    assert not isinstance(installed(no_index.catalogue(), "alpha", {}), Missing)


def test_pip_refuses_another_hash(no_index, tmp_path):
    _, archive = archive_of(no_index, sha256="0" * 64)
    with pytest.raises(FetchError, match="hash mismatch"):
        pip_download(archive, tmp_path)


def test_pip_without_the_file_says_what_to_check(no_index, tmp_path):
    (no_index.wheels / "alpha-1.0-py3-none-any.whl").unlink()
    with pytest.raises(FetchError, match=r"alpha 1.0: pip could not download it: the package index cannot be reached"):
        pip_download(no_index.catalogue().archives["alpha"], tmp_path)


def test_a_disk_that_pip_takes_for_a_bad_network_is_told_as_full(shelf, tmp_path, monkeypatch):
    said = subprocess.CompletedProcess([], 1, "error: incomplete-download\nhint: Use --resume-retries", "")
    monkeypatch.setattr(download, "_pip", lambda *_: said)
    monkeypatch.setattr(download.shutil, "disk_usage", lambda _: SimpleNamespace(free=10))
    with pytest.raises(FetchError, match=r"alpha 1.0: .*no space left for it \(0.0 MB\); free some"):
        pip_download(shelf.catalogue().archives["alpha"], tmp_path)


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ("/usr/bin/python: No module named pip", "ensurepip"),
        ("ERROR: Exception:\nTraceback:\nOSError: [Errno 28] No space left on device", "no space left"),
        ("WARNING: Retrying after connection broken by 'X'\nERROR: No matching distribution", "check the network"),
        ("Collecting x\nERROR: 403 Client Error\nWARNING: a new pip", "403 Client Error"),
        ("error: incomplete-download\nhint: Use --resume-retries", "cut off again and again; check the network"),
        ("Collecting x\n", "Collecting x"),
        ("", "pip said nothing"),
    ],
)
def test_the_useful_line_of_pip_is_found(said, told):
    assert told in last_useful_line(said)
