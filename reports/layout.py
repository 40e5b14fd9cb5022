"""Plain text in columns: names that fit, groups that agree on one line, nothing but ASCII."""

from __future__ import annotations

import textwrap
from collections.abc import Hashable, Mapping, Sequence
from typing import NamedTuple


class Group(NamedTuple):
    """Names that share the same cells."""

    names: tuple[str, ...]
    cells: tuple[str, ...]


def grouped(cells_by_name: Mapping[str, Sequence[str]]) -> list[Group]:
    """The names that have equal cells together, large groups first, then by name."""
    groups: dict[Hashable, list[str]] = {}
    for name in sorted(cells_by_name):
        groups.setdefault(tuple(cells_by_name[name]), []).append(name)
    found = [Group(tuple(names), tuple(cells_by_name[names[0]])) for names in groups.values()]
    return sorted(found, key=lambda group: (-len(group.names), group.names))


def fitted(names: Sequence[str], width: int) -> tuple[str, tuple[str, ...]]:
    """`a, b, c`, or where that is too wide the short ones, `b, a +1`, and the names that are then left out.

    A name that is too wide by itself is cut.
    """
    if len(", ".join(names)) <= width:
        return ", ".join(names), ()
    short = sorted(names, key=lambda name: (len(name), name))
    for shown in range(len(names) - 1, 1, -1):
        if len(_listed(short, shown)) <= width:
            return _listed(short, shown), tuple(sorted(short[shown:]))
    more = _listed(short, 1)[len(short[0]) :]
    return cut(short[0], width - len(more)) + more, tuple(sorted(short[1:]))


def fitted_names(names: Sequence[str], width: int) -> str:
    """The text of `fitted`."""
    return fitted(names, width)[0]


def _listed(names: Sequence[str], shown: int) -> str:
    return ", ".join(names[:shown]) + (f" +{len(names) - shown}" if shown < len(names) else "")


def _more(names: Sequence[str]) -> str:
    return f" +{len(names) - 1}" if len(names) > 1 else ""


def cut(text: str, width: int) -> str:
    """At most `width` characters, the last two dots where something is missing."""
    return text if len(text) <= width else text[: max(0, width - 2)] + ".."


class Line(NamedTuple):
    """A line, the names at its head as they are shown, and those that did not fit."""

    text: str
    shown: str = ""
    more: tuple[str, ...] = ()


class Columns:
    """Right-aligned cells as wide as the widest, and names in what is left of the width.

    Columns stand closer where else a group would have no whole name.
    """

    def __init__(self, heads: Sequence[str], groups: Sequence[Group], width: int) -> None:
        cells = [heads, *(group.cells for group in groups)]
        self._heads = heads
        self._widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
        longest = max((min(map(len, group.names)) + len(_more(group.names)) for group in groups), default=0)
        self._gap = 2 if longest + 2 <= width - sum(self._widths) - 2 * len(self._widths) else 1
        self._left = width - sum(self._widths) - self._gap * len(self._widths)

    def head(self, title: str) -> Line:
        return Line(self._line(cut(title, self._left), self._heads))

    def block(self, groups: Sequence[Group], room: int) -> list[Line]:
        """A line a group; where they are more than `room`, the last line says how many are left out."""
        shown = groups if len(groups) <= room else groups[: max(0, room - 1)]
        lines = [self._group_line(group) for group in shown]
        rest = groups[len(shown) :]
        if rest:
            names = [name for group in rest for name in group.names]
            lines.append(Line(f"  {len(rest)} more lines: {fitted_names(names, 2 * self._left)}"))
        return lines

    def _group_line(self, group: Group) -> Line:
        shown, more = fitted(group.names, self._left - 2)
        return Line(self._line(f"  {shown}", group.cells), shown, more)

    def _line(self, left: str, cells: Sequence[str]) -> str:
        aligned = (cell.rjust(width) for cell, width in zip(cells, self._widths, strict=True))
        return (" " * self._gap).join([left.ljust(self._left), *aligned])


def legend(lines: Sequence[Line], width: int) -> list[Line]:
    """Lines that tell, once for each group whose names did not all fit, the names that are only counted there."""
    told = dict.fromkeys(f"{line.shown}: {', '.join(line.more)}" for line in lines if line.more)
    wrapper = textwrap.TextWrapper(width, initial_indent="  + ", subsequent_indent="      ", break_on_hyphens=False)
    return [Line(text) for each in told for text in wrapper.wrap(each)]


def shares(wanted: Sequence[int], room: int) -> list[int]:
    """How many lines each gets of `room`: what it wants, or less of the largest first; at least one each."""
    given = list(wanted)
    while sum(given) > room and max(given) > 1:
        given[given.index(max(given))] -= 1
    return given


def ascii_line(text: str, width: int) -> str:
    """One line of printable ASCII, cut to the width; a line break is shown as `\\n`."""
    plain = text.encode("ascii", "backslashreplace").decode()
    plain = "".join(char if char.isprintable() else repr(char)[1:-1] for char in plain)
    return cut(plain, width).rstrip()
