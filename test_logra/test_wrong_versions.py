"""Each wrong version of the optimizer that somebody has written or could write is caught by a check of the suite.

A wrong version is the package with one edit. The edit's text must occur exactly once, so a change to the code that
would make a wrong version right again fails here.
"""

from __future__ import annotations

import importlib
import shutil
import sys
from pathlib import Path

import pytest

torch = pytest.importorskip("torch", reason="the optimizer needs torch: pip install .[rl]")

import golden_checks  # noqa: E402
import logra  # noqa: E402
import optimizer_checks as checks  # noqa: E402
from wrong_versions import WRONG  # noqa: E402


@pytest.fixture
def wrong(tmp_path, monkeypatch):
    """Imports the package with one edit, beside the right one and gone afterwards."""

    def edited(module, right, replacement):
        source = Path(logra.__file__).parent
        shutil.copytree(source, tmp_path / "logra", ignore=shutil.ignore_patterns("__pycache__"))
        file = tmp_path / "logra" / f"{module}.py"
        text = file.read_text(encoding="utf-8")
        assert text.count(right) == 1, f"{right!r} occurs {text.count(right)} times in {module}.py"
        file.write_text(text.replace(right, replacement), encoding="utf-8")
        for name in [name for name in sys.modules if name.partition(".")[0] == "logra"]:
            monkeypatch.delitem(sys.modules, name)
        monkeypatch.syspath_prepend(str(tmp_path))
        package = importlib.import_module("logra")
        assert Path(package.__file__).parent == tmp_path / "logra"
        return package

    yield edited
    for name in [name for name in sys.modules if name.partition(".")[0] == "logra"]:
        del sys.modules[name]


@pytest.mark.parametrize("name", WRONG)
def test_a_wrong_version_is_caught(name, wrong):
    module, right, replacement, check, _ = WRONG[name]
    with pytest.raises(AssertionError):
        check(wrong(module, right, replacement))


@pytest.mark.parametrize("name", WRONG)
def test_the_check_passes_on_the_right_version(name):
    WRONG[name][3](logra)


def test_every_check_is_run_by_the_test_that_is_named():
    texts = {file: file.read_text(encoding="utf-8") for file in Path(__file__).parent.glob("test_*.py")}
    for *_, test in WRONG.values():
        assert any(f"def {test}(" in text for text in texts.values()), f"no test is called {test}"


def test_an_unedited_copy_passes(wrong):
    # The control: what the copies fail on is the edit, not the copying.
    package = wrong("update", "def clip_scale", "def clip_scale")
    golden_checks.check_golden_directions(package)
    checks.check_refused_step_changes_nothing(package)
