"""Prints a small table: wrapped to the width of a terminal, one line a row elsewhere."""

from __future__ import annotations

import sys
from collections.abc import Collection, Sequence

from rich.console import Console
from rich.table import Table


def print_table(headings: Sequence[str], rows: Sequence[Sequence[str]], *, numbers: Collection[str] = ()) -> None:
    """Rows under their headings; the columns named in `numbers` are aligned to the right."""
    if not sys.stdout.isatty():
        print("\n".join(_lines(headings, rows, numbers)))
        return
    table = Table(box=None, pad_edge=False)
    for index, heading in enumerate(headings):
        table.add_column(
            heading, overflow="fold", no_wrap=index == 0, justify="right" if heading in numbers else "left"
        )
    for row in rows:
        table.add_row(*row)
    Console(highlight=False).print(table)


def _lines(headings: Sequence[str], rows: Sequence[Sequence[str]], numbers: Collection[str]) -> list[str]:
    widths = [max(map(len, column)) for column in zip(headings, *rows, strict=True)]
    pad = [str.rjust if heading in numbers else str.ljust for heading in headings]
    return [
        "  ".join(fill(cell, width) for fill, cell, width in zip(pad, row, widths, strict=True)).rstrip()
        for row in (headings, *rows)
    ]
