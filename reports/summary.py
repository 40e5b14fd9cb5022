"""What a run has shown, as lines of plain text that fit one screen."""

from __future__ import annotations

from reports.store import Run


def closing_lines(run: Run) -> list[str]:
    """Where the run lies, and whether it is all there."""
    if run.complete:
        return [f"complete; {run.table.num_rows:,} rows of {run.closing['cases']:,} cases in {run.directory}"]
    lost = run.closing.get("lost", [])
    lines = [f"INCOMPLETE: {reason}" for reason in run.closing.get("reasons", [])]
    lines += [f"INCOMPLETE: lost {case}" for case in lost[:3]]
    if len(lost) > 3:
        lines.append(f"INCOMPLETE: and {len(lost) - 3:,} more lost cases")
    return [*lines, f"{run.table.num_rows:,} rows in {run.directory}; no report is made of an incomplete run"]
