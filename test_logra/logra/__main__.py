"""The command line: `python -m logra memory` prints what LoGRA takes beside dense AdamW."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import torch

from logra.memory import Account, account, configured, measure, qwen3_5_0_8b, target_shapes, unique_parameters

MIB = 2**20


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; returns the exit status."""
    parser = argparse.ArgumentParser(prog="python -m logra", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    memory = commands.add_parser("memory", help="memory beside dense AdamW, from a model's shapes")
    memory.add_argument("--config", type=Path, help="folder of a config.json (default: Qwen3.5-0.8B's shape)")
    memory.add_argument("--rank", type=int, nargs="+", default=[16], help="one or more ranks (default: 16)")
    memory.add_argument("--measure", action="store_true", help="also take one step of the 0.8B model (4 GiB, CPU)")
    chosen = parser.parse_args(arguments)
    if chosen.measure and chosen.config:
        parser.error("--measure knows Qwen3.5-0.8B only; leave out --config")
    try:
        model = configured(chosen.config) if chosen.config else qwen3_5_0_8b()
        print(table({rank: account(target_shapes(model), rank) for rank in chosen.rank}, unique_parameters(model)))
    except (ImportError, OSError, ValueError) as error:
        print(f"memory: {error}", file=sys.stderr)
        return 1
    for rank in chosen.rank if chosen.measure else []:
        real = qwen3_5_0_8b("cpu", torch.bfloat16)
        accumulated, stepping = measure(real, rank, low_precision="stochastic")
        print(
            f"\nmeasured at rank {rank}: {accumulated / MIB:.1f} MiB after backward, {stepping / MIB:.1f} MiB in a step"
        )
    return 0


def table(accounts: dict[int, Account], parameters: int) -> str:
    """A Markdown table with a column a rank, in MiB."""
    first = next(iter(accounts.values()))
    rows: list[tuple[str, Callable[[Account], int]]] = [
        ("sketches S", lambda a: a.sketches),
        ("projections A", lambda a: a.projections),
        ("row moments v", lambda a: a.moments),
        ("during a step: D, next v", lambda a: a.step),
        ("**gradients, state and sketches**", lambda a: a.total),
        ("dense AdamW: gradient, two moments", lambda a: a.dense),
        ("masters, if kept", lambda a: a.masters),
    ]
    lines = [
        f"{parameters:,} unique parameters, {first.parameters:,} of them in the layers that LoGRA trains; MiB",
        "",
        "| | " + " | ".join(f"r = {rank}" for rank in accounts) + " |",
        "|---|" + "---:|" * len(accounts),
    ]
    for title, of in rows:
        lines.append(f"| {title} | " + " | ".join(f"{of(a) / MIB:,.1f}" for a in accounts.values()) + " |")
    lines.append("| share of dense AdamW's | " + " | ".join(f"{a.share:.2%}" for a in accounts.values()) + " |")
    return "\n".join(lines)


if __name__ == "__main__":
    raise SystemExit(main())
