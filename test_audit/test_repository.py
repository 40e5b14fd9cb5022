"""The repository keeps its own rules: rooms, imports, style, types, and a README whose commands are CI's."""

import ast
import importlib.metadata
import re
import subprocess
import sys
from pathlib import Path

import hypothesis
import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).resolve().parent.parent
ROOMS = {"specs", "oracles", "verifiers_pinned", "panels", "reports", "test_audit", "test_logra", "test_rl"}
FILES = {"conftest.py", "pyproject.toml", "README.md", "LICENSE", "CHANGELOG.md", "CONTRIBUTING.md", "constraints.txt"}

# Who may import what of ours. Tests may import anything but test modules.
MAY_IMPORT = {
    "specs": set(),
    "oracles": {"specs"},
    "verifiers_pinned": {"specs"},
    "panels": {"specs", "oracles", "verifiers_pinned", "reports.store", "reports.statistics"},
    "reports": {"specs"},
    "test_audit/audit": {"specs", "oracles", "verifiers_pinned", "panels", "reports"},
    "test_logra/logra": set(),
    "test_rl/grpo": {"specs", "oracles", "verifiers_pinned", "reports.store"},
}
OURS = {"specs", "oracles", "verifiers_pinned", "panels", "reports", "audit", "logra", "grpo"}


def python_files(room: str) -> list[Path]:
    return sorted((ROOT / room).rglob("*.py"))


def imported_modules(path: Path) -> set[str]:
    """Absolute names of all that a file imports, inside functions too; `from a import b` counts as `a.b`."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.level == 0 and node.module:
            found |= {f"{node.module}.{alias.name}" for alias in node.names}
    return found


def foreign_imports(room: str, files: list[Path]) -> list[str]:
    own = room.rpartition("/")[2]
    allowed = MAY_IMPORT[room] | {own}
    return [
        f"{path.name} imports {name}"
        for path in files
        for name in sorted(imported_modules(path))
        if name.partition(".")[0] in OURS and not any(name == a or name.startswith(f"{a}.") for a in allowed)
    ]


@pytest.mark.parametrize("room", MAY_IMPORT)
def test_a_room_imports_only_what_it_may(room):
    assert foreign_imports(room, python_files(room)) == []


def test_a_forbidden_import_is_seen(tmp_path):
    (tmp_path / "liar.py").write_text("def f():\n    from verifiers_pinned import session\n", encoding="utf-8")
    assert foreign_imports("oracles", [tmp_path / "liar.py"]) == ["liar.py imports verifiers_pinned.session"]


@pytest.mark.parametrize("room", sorted(ROOMS))
def test_nothing_imports_a_test_module(room):
    test_modules = {p.stem for p in ROOT.glob("test_*/**/*.py") if p.stem.startswith("test_")}
    loaded = {name.partition(".")[0] for path in python_files(room) for name in imported_modules(path)}
    assert not loaded & (test_modules | {"test_audit", "test_logra", "test_rl"})


def test_the_top_level_holds_the_rooms_and_nothing_else():
    tracked = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True).stdout.split()
    top = {name.partition("/")[0] for name in tracked}
    assert {name for name in top if not name.startswith(".")} <= ROOMS | FILES
    assert top >= ROOMS | FILES


@pytest.mark.parametrize("room", sorted(ROOMS))
def test_every_room_has_a_readme(room):
    assert (ROOT / room / "README.md").read_text(encoding="utf-8").startswith("# ")


def test_every_module_opens_with_one_sentence():
    silent = [
        str(path.relative_to(ROOT))
        for room in ROOMS
        for path in python_files(room)
        if not ast.get_docstring(ast.parse(path.read_text(encoding="utf-8")))
    ]
    assert silent == []


def test_no_module_is_named_for_nothing():
    assert [p for room in ROOMS for p in python_files(room) if p.stem in {"utils", "helpers", "manager", "base"}] == []


def tool(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-m", *arguments], cwd=ROOT, capture_output=True, text=True, check=False)


@pytest.mark.parametrize("arguments", [("check", "."), ("format", "--check", ".")], ids=["lint", "format"])
def test_ruff_is_content(arguments):
    result = tool("ruff", *arguments)
    assert result.returncode == 0, result.stdout + result.stderr


def test_the_types_hold():
    result = tool("mypy")
    assert result.returncode == 0, result.stdout + result.stderr


def code_blocks(markdown: str) -> list[str]:
    return [block.strip() for block in re.findall(r"```bash\n(.*?)```", markdown, flags=re.DOTALL)]


def test_ci_runs_the_test_command_of_the_readme():
    main_command, test_command = code_blocks((ROOT / "README.md").read_text(encoding="utf-8"))[:2]
    assert "pytest -m audit -n auto" in main_command
    assert test_command in (ROOT / ".ci" / "run").read_text(encoding="utf-8")


def test_every_dependency_has_its_version_in_the_constraints():
    lines = (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()
    constrained = {canonicalize_name(Requirement(line).name) for line in lines if line and not line.startswith("#")}
    declared = [Requirement(text) for text in importlib.metadata.requires("assay-verifiers") or ()]
    wanted = {canonicalize_name(r.name) for r in declared if "gpu" not in str(r.marker)}
    assert wanted - constrained == set()


def test_every_package_is_declared():
    declared = (ROOT / "pyproject.toml").read_text(encoding="utf-8").partition("packages = [")[2].partition("]")[0]
    roots = [ROOT / room for room in ("specs", "oracles", "verifiers_pinned", "reports", "test_logra", "test_rl")]
    found = {p.parent.relative_to(ROOT) for root in roots for p in root.rglob("__init__.py")}
    names = {".".join(p.parts[1:] if p.parts[0].startswith("test_") else p.parts) for p in found}
    assert set(re.findall(r'"([^"]+)"', declared)) == names


def test_no_test_of_a_property_is_timed():
    assert hypothesis.settings().deadline is None
