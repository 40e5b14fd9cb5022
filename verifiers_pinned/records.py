"""What a pin file says, as frozen values: sources, implementations, callers, data and resources."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class Member:
    """One file inside an archive or checkout; `path` has forward slashes and is relative."""

    path: str
    sha256: str


@dataclass(frozen=True)
class Archive:
    """A wheel on the package index; its members may run on older interpreters than `requires_python` says."""

    key: str
    name: str
    version: str
    file: str
    sha256: str
    bytes: int
    requires_python: str
    license: str
    repository: str | None
    default: bool

    def __str__(self) -> str:
        return f"{self.name} {self.version}"


@dataclass(frozen=True)
class Checkout:
    """A public repository at a commit, read from a directory that the user names."""

    key: str
    commit: str
    license: str
    repository: str

    @property
    def version(self) -> str:
        return self.commit[:7]

    def __str__(self) -> str:
        return f"{self.key} at {self.version}"


@dataclass(frozen=True)
class Local:
    """A file of the user's own, read where it lies; `sha256` is that of its content when it was named."""

    key: str
    folder: Path
    file: str
    sha256: str

    @property
    def version(self) -> str:
        return self.sha256[:12]

    def __str__(self) -> str:
        return f"{self.folder / self.file}"


Source = Archive | Checkout | Local


def digest_of(source: Source) -> dict[str, str]:
    """What pins a source, under its name."""
    return {"commit": source.commit} if isinstance(source, Checkout) else {"sha256": source.sha256}


@dataclass(frozen=True)
class Replacement:
    """An exact text that occurs `count` times in a module, and what stands there when it is imported."""

    old: str
    new: str
    count: int = 1


@dataclass(frozen=True)
class Entry:
    """Where the checks are reached, and how one is called; `pins` tells what the words mean."""

    module: str
    name: str
    method: str | None = None
    arguments: tuple[str, ...] = ()
    returns: str = "bool"


@dataclass(frozen=True)
class Implementation:
    """One pinned copy of verifiers. `pins` tells what each field means to a caller."""

    key: str
    collection: str
    style: str
    source: Source
    members: Mapping[str, Member]
    entry: Entry
    replacements: Mapping[str, tuple[Replacement, ...]]
    stand_ins: Mapping[str, tuple[str, ...]]
    requires: tuple[str, ...]
    needs: tuple[str, ...]
    covers: Mapping[str, str]
    not_covered: Mapping[str, str]
    parameters: Mapping[str, Mapping[str, str | None]]
    constants: Mapping[str, Mapping[str, Any]]
    only: Mapping[str, Mapping[str, tuple[Any, ...]]]
    unchecked: tuple[str, ...]

    @property
    def registry(self) -> str:
        """The name of the dictionary, function or class through which the checks are reached."""
        return self.entry.name

    @property
    def default(self) -> bool:
        """Whether it belongs to the default set. Checkouts do: they cost no download and are skipped where absent."""
        return not isinstance(self.source, Archive) or self.source.default

    def own_parameters(self, template: str, params: Mapping[str, Any]) -> dict[str, Any] | None:
        """`params` under the names that this implementation uses for `template`; None: it has no words for a value."""
        for name, allowed in self.only.get(template, {}).items():
            if name in params and params[name] not in allowed:
                return None
        names = self.parameters.get(template, {})
        renamed = {names.get(name, name): value for name, value in params.items()}
        return {
            **{name: value for name, value in renamed.items() if name is not None},
            **self.constants.get(template, {}),
        }


@dataclass(frozen=True)
class Caller:
    """A scoring loop or reward function around an implementation's checks, imported into the same private package."""

    key: str
    implementation: str
    source: Source
    member: Member
    symbols: tuple[str, ...]
    cut: bool
    replacements: tuple[Replacement, ...]
    stand_ins: Mapping[str, tuple[str, ...]]


@dataclass(frozen=True)
class Data:
    """A JSON Lines file of `rows` rows."""

    key: str
    source: Source
    member: Member
    rows: int


@dataclass(frozen=True)
class Resource:
    """A part of an NLTK data tree: `root` inside the source is what belongs on `nltk.data.path`."""

    key: str
    source: Source
    root: str
    members: tuple[Member, ...]
