"""Imports the members of a pin under a private package name, with its declared replacements and stand-ins, and no more.

`_assay_pinned.<key>.<module>` is executed from the text of the verified member; no file is written or changed. What a
pin replaces is told in its YAML, and a replacement that no longer fits is an error, never skipped.
"""

from __future__ import annotations

import ast
import importlib
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib.abc import InspectLoader, MetaPathFinder
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import CodeType, ModuleType
from typing import Any

from verifiers_pinned import stand_ins
from verifiers_pinned.verdicts import VerifierUnavailable

PACKAGE = "_assay_pinned"


@dataclass(frozen=True)
class Recipe:
    """All that a process needs to import one pin: plain data, so that it travels to a child.

    `modules` gives each module's file below `folder`; `replacements` (old, new, how often) a module; `stand_ins` the
    names that a module of ours holds; `cut` the classes and functions to take out of a module whose other contents
    would import what nobody needs (none: the module whole); `offers` the names that a module must have afterwards.
    """

    key: str
    folder: str
    modules: Mapping[str, str]
    replacements: Mapping[str, tuple[tuple[str, str, int], ...]] = field(default_factory=dict)
    stand_ins: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    cut: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    offers: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    @property
    def package(self) -> str:
        return f"{PACKAGE}.{self.key}"


def load(recipe: Recipe, scratch: str) -> dict[str, ModuleType]:
    """Import every module of `recipe`; VerifierUnavailable where one cannot be.

    `scratch` takes the place of the modules' folder in `__file__`: some pins make a folder beside themselves.
    """
    finder = _PinFinder(recipe, scratch)
    sys.meta_path.insert(0, finder)
    try:
        modules = {name: importlib.import_module(f"{recipe.package}.{name}") for name in recipe.modules}
    except VerifierUnavailable:
        raise
    except ModuleNotFoundError as error:
        raise VerifierUnavailable(recipe.key, _missing_module(recipe, error)) from error
    except BaseException as error:  # an import may raise anything, SystemExit included
        raise VerifierUnavailable(recipe.key, f"its import raised {type(error).__name__}: {error}") from error
    for module, names in recipe.offers.items():
        for name in names:
            if not hasattr(modules[module], name):
                raise VerifierUnavailable(recipe.key, f"module {module} has no {name!r}, which its pin names")
    return modules


def source_of(recipe: Recipe, module: str) -> str:
    """The member's text after its replacements."""
    path = Path(recipe.folder, recipe.modules[module])
    try:
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        raise VerifierUnavailable(recipe.key, f"module {module} cannot be read: {error.strerror} ({path})") from error
    for old, new, count in recipe.replacements.get(module, ()):
        if text.count(old) != count:
            told = f"module {module} holds {old!r} {text.count(old)} times, and its pin replaces it {count} times"
            raise VerifierUnavailable(recipe.key, told)
        text = text.replace(old, new)
    return text


def cut_out(source: str, names: tuple[str, ...]) -> ast.Module:
    """The named definitions and the imports that they may use, at their own lines; the rest is left out.

    Imports are kept where they name the standard library or, after the pin's replacements, the pin's own package.
    """
    tree = ast.parse(source)
    kept = [node for node in tree.body if _is_near_import(node) or getattr(node, "name", None) in names]
    return ast.Module(body=kept, type_ignores=[])


def _is_near_import(node: ast.stmt) -> bool:
    if isinstance(node, ast.Import):
        return all(alias.name.partition(".")[0] in sys.stdlib_module_names for alias in node.names)
    if isinstance(node, ast.ImportFrom):
        return node.level > 0 or (node.module or "").partition(".")[0] in sys.stdlib_module_names
    return False


def _missing_module(recipe: Recipe, error: ModuleNotFoundError) -> str:
    name = error.name or str(error)
    if name.startswith(PACKAGE):
        return f"imports {name.rpartition('.')[2]!r}, which its pin lists neither as a member nor as a stand-in"
    return f"needs the module {name!r}, which is not installed"


class _PinFinder(MetaPathFinder):
    def __init__(self, recipe: Recipe, scratch: str) -> None:
        self._recipe = recipe
        self._scratch = scratch

    def find_spec(self, fullname: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        if fullname == PACKAGE or fullname == self._recipe.package:
            return ModuleSpec(fullname, _EmptyLoader(), is_package=True)
        parent, _, name = fullname.rpartition(".")
        if parent != self._recipe.package:
            return None
        if name in self._recipe.stand_ins:
            return ModuleSpec(fullname, _StandInLoader(self._recipe, name))
        if name in self._recipe.modules:
            return ModuleSpec(
                fullname, _MemberLoader(self._recipe, name), origin=f"{self._scratch}/{self._recipe.key}/{name}.py"
            )
        return None


class _EmptyLoader(InspectLoader):
    def get_source(self, fullname: str) -> str:
        return ""

    def is_package(self, fullname: str) -> bool:
        return True


class _StandInLoader(_EmptyLoader):
    def __init__(self, recipe: Recipe, name: str) -> None:
        self._recipe, self._name = recipe, name

    def is_package(self, fullname: str) -> bool:
        return False

    def exec_module(self, module: ModuleType) -> None:
        for name in self._recipe.stand_ins[self._name]:
            if name not in stand_ins.STAND_INS:
                raise VerifierUnavailable(self._recipe.key, f"asks for the stand-in {name!r}, which nobody wrote")
            setattr(module, name, stand_ins.STAND_INS[name])


class _MemberLoader(InspectLoader):
    def __init__(self, recipe: Recipe, name: str) -> None:
        self._recipe, self._name = recipe, name

    def is_package(self, fullname: str) -> bool:
        return False

    def get_source(self, fullname: str) -> str:
        return source_of(self._recipe, self._name)

    def exec_module(self, module: ModuleType) -> None:
        module.__file__ = module.__spec__.origin if module.__spec__ else None
        exec(self.get_code(module.__name__), module.__dict__)

    def get_code(self, fullname: str) -> CodeType:
        source, name = self.get_source(fullname), self._recipe.modules[self._name]
        names = self._recipe.cut.get(self._name)
        try:
            tree = cut_out(source, names) if names else ast.parse(source)
            # Only the member's name: tracebacks and details show no folder of this machine.
            return compile(tree, name, "exec", dont_inherit=True)
        except SyntaxError as error:
            told = f"{name} does not parse on this Python, line {error.lineno}: {error.msg}"
            raise VerifierUnavailable(self._recipe.key, told) from error
