"""The command `python -m specs draw`: instances of a template as JSON, one a line."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from random import Random
from typing import Any

from .draws import KINDS, NoDraw, draw_params
from .loading import load_templates
from .schemas import ROOM
from .templates import UnknownTemplate, find_template


def add_draw(commands: Any) -> None:
    draw = commands.add_parser("draw", help="draw instances of a template")
    draw.add_argument("name", metavar="NAME", help="collection/family:name")
    draw.add_argument("--kind", choices=KINDS, default="small", help="for examples or as the original (default: small)")
    draw.add_argument("--count", type=_count, default=1, metavar="N", help="how many (default: 1)")
    draw.add_argument("--seed", type=int, default=0, metavar="S", help="the same seed, the same instances (default: 0)")
    draw.add_argument("--directory", action="append", type=Path, default=[], help="a directory of your own templates")
    draw.set_defaults(command=_draw)


def _count(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number from 1 on")
    return int(text)


def _draw(options: argparse.Namespace) -> int:
    templates = load_templates([ROOM, *options.directory])
    rng = Random(options.seed)
    try:
        template = find_template(options.name, templates)
        for _ in range(options.count):
            params = draw_params(template, options.kind, rng)
            line = {"template": template.name, "params": params, "wording": template.render(params)}
            print(json.dumps(line, ensure_ascii=False))
    except (UnknownTemplate, NoDraw) as error:
        print(error, file=sys.stderr)
        return 2
    return 0
