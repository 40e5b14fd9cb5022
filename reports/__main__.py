"""The command line of the reports: summaries, pictures and comparisons of stored runs, and published figures."""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Sequence
from pathlib import Path

from specs.findings import load_findings

from .change_lines import change_lines
from .changes import changes
from .classes import class_lines, classes
from .comparing import row_differences
from .merging import merge_runs
from .picture import write_picture
from .published import check_published, published_lines
from .retention import retention, retention_lines
from .store import StoreError, read_run
from .summary import WIDTH, closing_lines, content_free_probes, summary_lines

_MERGE = "join the shards of one run (pytest --shard I/N --report-dir RUN) into the folder OUT"
_COMPARE = "tell what changed from the run OLD to the run NEW; exit status 1 if anything did"


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command; 0 where all is well, 1 where rows or figures differ, 2 where there is nothing to work on."""
    options = _parser().parse_args(arguments)
    try:
        return int(options.command(options))
    except StoreError as error:
        print(f"reports: {error}", file=sys.stderr)
        return 2
    except BrokenPipeError:
        # The reader has seen enough (`| head`); Python would complain once more when it flushes at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m reports", description="What is made of the rows of a run.")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    for name, command, places, told in (
        ("summary", _summary, ["run"], "print the summary of a run"),
        ("picture", _picture, ["run", "svg"], "draw the summary of a run as an SVG file"),
        ("compare-rows", _compare_rows, ["one", "other"], "tell whether two runs gave the same rows"),
        ("published", _published, ["run"], "recompute the published figures from a run"),
        ("classes", _classes, ["run"], "class each verifier by what was found, and name those that accept anything"),
        ("retention", _retention, ["run"], "count the passing verdicts that survive an edit or another prompt"),
    ):
        sub = commands.add_parser(name, help=told, description=told)
        for place in places:
            sub.add_argument(place, type=Path, metavar=place.upper())
        sub.set_defaults(command=command)
    merge = commands.add_parser("merge", help=_MERGE, description=_MERGE)
    merge.add_argument("out", type=Path, metavar="OUT")
    merge.add_argument("runs", type=Path, metavar="RUN", nargs="+")
    merge.add_argument("--partial", action="store_true", help="merge what there is into an incomplete run")
    merge.set_defaults(command=_merge)
    compare = commands.add_parser("compare", help=_COMPARE, description=_COMPARE)
    compare.add_argument("old", type=Path, metavar="OLD")
    compare.add_argument("new", type=Path, metavar="NEW")
    compare.add_argument("--json", action="store_true", help="print everything as JSON")
    compare.set_defaults(command=_compare)
    return parser


def _summary(options: argparse.Namespace) -> int:
    # What is read from a file or a pager need not fit a screen, so here all names are told.
    print("\n".join(summary_lines(read_run(options.run), height=1000)))
    return 0


def _picture(options: argparse.Namespace) -> int:
    write_picture(summary_lines(read_run(options.run)), options.svg)
    return 0


def _compare_rows(options: argparse.Namespace) -> int:
    one, other = read_run(options.one), read_run(options.other)
    differences = row_differences(one, other)
    if not differences:
        print(f"the same {one.table.num_rows:,} rows")
        return 0
    print(f"{one.table.num_rows:,} rows in {options.one}, {other.table.num_rows:,} in {options.other}; they differ:")
    for difference in differences:
        print(f"only in {difference.run}: " + ascii(difference.row))
    return 1


def _merge(options: argparse.Namespace) -> int:
    merged = merge_runs(options.out, options.runs, partial=options.partial)
    print("\n".join(closing_lines(merged)))
    return 0 if merged.complete else 1


def _compare(options: argparse.Namespace) -> int:
    found = changes(read_run(options.old), read_run(options.new))
    print(json.dumps(found.json(), indent=1) if options.json else "\n".join(change_lines(found)))
    return 1 if found.any else 0


def _classes(options: argparse.Namespace) -> int:
    records = classes(read_run(options.run).table, load_findings(), content_free_probes())
    print("\n".join(class_lines(records, WIDTH)))
    return 0


def _retention(options: argparse.Namespace) -> int:
    print("\n".join(retention_lines(retention(read_run(options.run).table), 2 * WIDTH)))
    return 0


def _published(options: argparse.Namespace) -> int:
    checks = check_published(read_run(options.run).table)
    print("\n".join(published_lines(checks)))
    return 0 if all(check.agrees is not False for check in checks) else 1


if __name__ == "__main__":
    sys.exit(main())
