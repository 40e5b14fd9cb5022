"""Whether what a pin says about the text of its modules still holds: replacements, names and imports."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

Files = Mapping[str, bytes]


def misfits(pin: Mapping[str, Any], files: Files) -> Iterator[str]:
    """What has to be mended by hand, where and why; `files` has the members that exist, by path."""
    for key, each in pin.get("implementations", {}).items():
        for name, member in each["members"].items():
            where = f"{key}, module {name}"
            if member["path"] in files:
                replacements = each.get("replacements", {}).get(name, [])
                text, problems = replaced(files[member["path"]].decode("utf-8", "replace"), replacements)
                yield from (f"{where}: {problem}" for problem in problems)
                names = [each["entry"]["name"]] if name == each["entry"]["module"] else []
                # Of a module in the style `method` only a class is executed.
                requires = None if each["style"] == "method" else each["requires"]
                yield from (f"{where}: {problem}" for problem in _code(text, names, requires))
    for key, each in pin.get("callers", {}).items():
        if each["member"]["path"] in files:
            raw = files[each["member"]["path"]].decode("utf-8", "replace")
            text, problems = replaced(raw, each.get("replacements", []))
            problems += _code(text, each["symbols"], None)
            yield from (f"caller {key}: {problem}" for problem in problems)


def replaced(text: str, replacements: Sequence[Mapping[str, Any]]) -> tuple[str, list[str]]:
    """The text after its replacements, and those that occur more or less often than their pin says."""
    problems = []
    for each in replacements:
        wanted, found = each.get("count", 1), text.count(each["old"])
        if found != wanted:
            problems.append(f"{each['old']!r} occurs {found} times, and its pin replaces it {wanted} times")
        text = text.replace(each["old"], each["new"])
    return text, problems


def _code(text: str, names: Iterable[str], requires: Sequence[str] | None) -> list[str]:
    """What is wrong with a module that should define `names` and import nothing but `requires` (None: anything)."""
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError) as error:
        return [f"it is no Python that this interpreter reads: {error}"]
    defined = set(_defined(tree))
    problems = [f"it no longer defines {name!r}" for name in names if name not in defined]
    if requires is not None:
        unlisted = sorted(set(_imported(tree)) - set(requires) - sys.stdlib_module_names)
        problems += [f"it imports {name!r}, which is neither required nor replaced" for name in unlisted]
    return problems


def _defined(tree: ast.Module) -> Iterator[str]:
    for node in tree.body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield node.name
        elif isinstance(node, ast.Import | ast.ImportFrom):
            yield from (alias.asname or alias.name for alias in node.names)
        elif isinstance(node, ast.Assign | ast.AnnAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            yield from (name.id for target in targets for name in ast.walk(target) if isinstance(name, ast.Name))


def _imported(tree: ast.Module) -> Iterator[str]:
    """The packages that importing the module needs; imports inside functions are not seen."""
    for node in tree.body:
        if isinstance(node, ast.Import):
            yield from (alias.name.partition(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.level == 0 and node.module:
            yield node.module.partition(".")[0]
