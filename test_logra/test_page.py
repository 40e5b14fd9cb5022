"""The page of the room tells what the code does: its example runs, and its tables are those of the tests."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

torch = pytest.importorskip("torch", reason="the optimizer needs torch: pip install .[rl]")
pytest.importorskip("transformers", reason="the example needs transformers: pip install .[rl]")

from wrong_versions import WRONG  # noqa: E402

PAGE = (Path(__file__).parent / "README.md").read_text(encoding="utf-8")
ROW = re.compile(r"^\| (.+) \| `(\w+)` \|$", re.MULTILINE)


def test_the_example_runs_and_learns(tmp_path, monkeypatch):
    example = re.search(r"```python\n(.+?)```", PAGE, re.DOTALL).group(1)
    assert len(example.splitlines()) <= 22
    monkeypatch.chdir(tmp_path)
    torch.manual_seed(0)
    names = {}
    exec(compile(example, "README.md", "exec"), names)
    assert 2 * float(names["loss"].detach()) < 2.5  # ln 64 = 4.2
    saved = torch.load("checkpoint.pt", weights_only=True)
    assert saved["optimizer"]["param_groups"][0]["logra"]["update"] == 100


def test_the_wrong_versions_are_those_of_the_tests():
    assert dict(ROW.findall(PAGE)) == {name: test for name, (*_, test) in WRONG.items()}
