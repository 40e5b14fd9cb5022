"""What a run has shown, as lines of plain text that fit one screen."""

from __future__ import annotations

import sys
from collections.abc import Container, Mapping, Sequence
from typing import Any

import pyarrow as pa

from specs import load_probes
from specs.findings import load_findings

from .acceptance import ANY, acceptance
from .classes import class_counts, classes
from .counts import (
    VERDICTS,
    Reason,
    alarm_counts,
    crash_kinds,
    idle,
    not_run_reasons,
    nothing_ran,
    verdict_counts,
)
from .layout import Columns, Group, Line, ascii_line, cut, fitted_names, grouped, legend, shares
from .retention import retention
from .statistics import percent_interval
from .store import Run

WIDTH, HEIGHT = 100, 40
_MOST_CRASHES, _MOST_REASONS, _MOST_LOST = 3, 3, 3
_MOST_ACCEPTANCE = 18  # lines, heads included


def summary_lines(run: Run, *, width: int = WIDTH, height: int = HEIGHT) -> list[str]:
    """The summary of a run: at most `height` lines of at most `width` ASCII characters; only a path is never cut.

    What agrees shares a line; what does not fit is counted. Shares of an incomplete run are not shown, because what
    is missing would pass for a measurement.
    """
    table, counts = run.table, verdict_counts(run.table)
    ends = [Line(text) for text in closing_lines(run)]
    tail = [*_crash_lines(crash_kinds(table), width), *_not_run_lines(not_run_reasons(table), width), *ends]
    head = [Line(_title(run, len(counts))), *_alarm_line(table)]
    # The ends of the page are short and always wanted; shares come next, and the matrix takes what is left.
    free = height - len(head) - len(tail)
    most = _MOST_ACCEPTANCE if height <= HEIGHT else height
    accepted = _acceptance_lines(table, width, min(free - 4, most), idle(counts)) if run.complete else []
    matrix = _verdict_lines(counts, width, free - len(accepted))
    members = legend(accepted, width)
    if len(members) + len(accepted) + len(matrix) > free:
        members = []
    lines = [line.text for line in (*head, *accepted, *members, *matrix, *tail)]
    return [ascii_line(line, width) for line in lines[:-1]] + [ascii_line(lines[-1], sys.maxsize)]


def summary_data(table: pa.Table) -> dict[str, Any]:
    """The figures of the summary in full, as JSON values: every implementation, probe, level and guard."""
    return {
        "acceptance": acceptance(table, content_free_probes()).to_pylist(),
        "verdicts": verdict_counts(table),
        "crashes": [_told(reason) for reason in crash_kinds(table)],
        "not_run": [_told(reason) for reason in not_run_reasons(table)],
        "alarms": alarm_counts(table),
        "retention": retention(table),
        "classes": class_counts(classes(table, load_findings(), content_free_probes())),
    }


def content_free_probes() -> tuple[str, ...]:
    """Ids of the probes that have text and say nothing."""
    return tuple(probe.id for probe in load_probes() if probe.content_free)


def closing_lines(run: Run) -> list[str]:
    """Whether the run is all there and, in the last line, where it lies."""
    place = f"rows in {run.directory}"
    if run.complete:
        told = f"complete: {run.closing['rows']:,} rows of {run.closing['cases']:,} cases"
        nothing = "NOTHING RAN: every verdict is not_run, so this run says nothing about any verifier"
        return [told, *([nothing] if nothing_ran(run.table) else []), place]
    reasons, lost = run.closing.get("reasons", ["no closing record"]), run.closing.get("lost", [])
    lines = [f"INCOMPLETE: {reason}" for reason in reasons[:_MOST_REASONS]]
    lines += [f"INCOMPLETE: lost {case}" for case in lost[:_MOST_LOST]]
    more = max(0, len(reasons) - _MOST_REASONS) + max(0, len(lost) - _MOST_LOST)
    if more:
        lines.append(f"INCOMPLETE: {more:,} more in closing.json")
    return [*lines, "no report is made of an incomplete run", place]


def _told(reason: Reason) -> dict[str, Any]:
    return {"what": reason.label, "rows": reason.count, "implementations": sorted(reason.implementations)}


def _title(run: Run, implementations: int) -> str:
    git = run.header.get("git") or {}
    commit = f", commit {git['commit'][:8]}{' (dirty)' if git.get('dirty') else ''}" if git.get("commit") else ""
    state = "" if run.complete else "INCOMPLETE "
    seed = run.header.get("seed")
    seeded = "" if seed is None else f", seed {seed}"
    rows = f"{run.table.num_rows:,} rows, {implementations} implementations"
    return f"{state}run {run.header.get('run')}: {rows}{seeded}{commit}"


def _alarm_line(table: pa.Table) -> list[Line]:
    alarms = alarm_counts(table)
    return [Line("alarms: " + ", ".join(f"{count:,} {kind}" for kind, count in alarms.items()))] if alarms else []


def _acceptance_lines(table: pa.Table, width: int, room: int, absent: Container[str]) -> list[Line]:
    """Prompts that a response without content passes, a block a collection; empty where nothing was probed.

    Those that did not run at all have no line here: they are named with the reason further down.
    """
    found = _acceptance_cells(table)
    asked = {name: {key: row for key, row in cells.items() if key not in absent} for name, cells in found.items()}
    blocks = {collection: grouped(cells) for collection, cells in asked.items() if cells}
    if not blocks:
        return []
    heads = ("prompts", "Yes.", "empty", "empty+guard", "any probe")
    columns = Columns(heads, [group for groups in blocks.values() for group in groups], width)
    lines = [Line("% of prompts passed by a response without content [95 % Wilson interval]"), columns.head("")]
    quotas = shares([len(groups) for groups in blocks.values()], room - len(lines) - len(blocks))
    for (collection, groups), quota in zip(blocks.items(), quotas, strict=True):
        lines += [Line(collection), *columns.block(groups, quota)]
    return lines


def _acceptance_cells(table: pa.Table) -> dict[str, dict[str, list[str]]]:
    """Cells by collection and implementation: prompts, then a share for each column of the table."""
    texts = _probe_texts(table)
    wanted = {("Yes.", "off"): 1, ("", "off"): 2, ("", "on"): 3, (ANY, "off"): 4}
    found: dict[str, dict[str, list[str]]] = {}
    for row in acceptance(table, content_free_probes()).to_pylist():
        place = wanted.get((texts.get(row["probe"], row["probe"]), row["guard"]))
        if row["level"] != "prompt" or place is None or not row["total"] + row["uncovered"]:
            continue
        cells = found.setdefault(row["collection"], {}).setdefault(row["implementation"], ["-"] * 5)
        if row["total"]:
            cells[place] = _share(row["accepted"], row["total"])
        cells[0] = str(row["total"]) + (f"/{row['total'] + row['uncovered']}" if row["uncovered"] else "")
    return found


def _probe_texts(table: pa.Table) -> dict[str, str]:
    pairs = table.group_by(["response_id", "response"]).aggregate([]).to_pylist()
    return {pair["response_id"]: pair["response"] for pair in pairs if pair["response"] is not None}


def _share(count: int, total: int) -> str:
    return percent_interval(count, total).replace(", ", ",")


def _verdict_lines(counts: Mapping[str, Mapping[str, int]], width: int, room: int) -> list[Line]:
    if not counts:
        return []
    cells = {
        name: [f"{verdicts[word]:,}" if verdicts[word] else "." for word in VERDICTS]
        for name, verdicts in counts.items()
    }
    absent = idle(counts)
    groups = grouped({name: row for name, row in cells.items() if name not in absent})
    groups += _absent(absent, cells)
    columns = Columns(VERDICTS, groups, width)
    return [columns.head("verdicts by implementation"), *columns.block(groups, max(1, room - 1))]


def _absent(names: Sequence[str], cells: Mapping[str, Sequence[str]]) -> list[Group]:
    """One line for all that did not run, with their number of rows where it is the same."""
    if not names:
        return []
    numbers = {cells[name][-1] for name in names}
    return [Group(tuple(names), (*["."] * (len(VERDICTS) - 1), numbers.pop() if len(numbers) == 1 else "all"))]


def _crash_lines(kinds: Sequence[Reason], width: int) -> list[Line]:
    lines = _reason_lines(kinds[:_MOST_CRASHES], width)
    more = _more(len(kinds) - len(lines), "kind")
    return [Line(f"most frequent crashes{more}"), *lines] if lines else []


def _not_run_lines(reasons: Sequence[Reason], width: int) -> list[Line]:
    lines = _reason_lines(reasons[:_MOST_REASONS], width)
    more = _more(len(reasons) - len(lines), "reason")
    return [Line(f"not run{more}"), *lines] if lines else []


def _more(number: int, what: str) -> str:
    return f" ({number} more {what}{'' if number == 1 else 's'})" if number > 0 else ""


def _reason_lines(reasons: Sequence[Reason], width: int) -> list[Line]:
    lines = []
    for reason in reasons:
        label = cut(reason.label, width - 40)
        start = f"  {reason.count:>9,}  {label}: "
        lines.append(Line(start + fitted_names(sorted(reason.implementations), width - len(start))))
    return lines
