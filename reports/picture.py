"""The summary of a run as an SVG picture of a terminal, the same bytes for the same run."""

from __future__ import annotations

import io
import re
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console
from rich.terminal_theme import DEFAULT_TERMINAL_THEME
from rich.text import Text

from .files import write_whole

_WEB_FONTS = re.compile(r"@font-face \{.*?\}", re.DOTALL)


def write_picture(lines: Sequence[str], path: Path, *, title: str = "pytest -m audit") -> None:
    """Draw the lines in a light terminal window; the file is whole or not there."""
    svg = picture(lines, title=title).encode()
    write_whole(path, lambda stream: stream.write(svg))


def picture(lines: Sequence[str], *, title: str) -> str:
    """The SVG as text. Nothing in it is loaded from elsewhere, and its ids do not change from run to run."""
    console = Console(record=True, width=max(map(len, lines)), file=io.StringIO(), color_system=None)
    for line in lines:
        console.print(Text(line), no_wrap=True, overflow="ignore", crop=False)
    svg = console.export_svg(title=title, theme=DEFAULT_TERMINAL_THEME, unique_id="assay")
    return _WEB_FONTS.sub("", svg)
