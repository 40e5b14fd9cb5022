"""Which cases of a session were expected, which finished, and which left no rows."""

from __future__ import annotations

from collections.abc import Iterable


class CaseLedger:
    """Keeps account of cases by node id, in the order in which they are first heard of.

    A case is *lost* where its worker died in it, or where it uses `record_rows`, failed, and had recorded nothing.
    """

    def __init__(self) -> None:
        self.rows = 0
        self.cases = 0
        self.crashes: list[str] = []
        self._uncollected: list[str] = []
        self._expected: dict[str, None] = {}
        self._finished: set[str] = set()
        self._failed: set[str] = set()
        self._rowless: list[str] = []

    @property
    def lost(self) -> list[str]:
        """Node ids of the cases whose rows are missing."""
        return list(dict.fromkeys([*self.crashes, *self._rowless]))

    def expect(self, cases: Iterable[str]) -> None:
        self._expected.update(dict.fromkeys(cases))

    def not_collected(self, node: str) -> None:
        self._uncollected.append(node)

    def crashed(self, case: str) -> None:
        self.crashes.append(case)

    def reported(self, case: str, *, failed: bool) -> None:
        if failed:
            self._failed.add(case)

    def finished(self, case: str, rows: int | None) -> None:
        """A case is over; `rows` is None where it does not record any."""
        self._finished.add(case)
        if rows is None:
            return
        self.cases += 1
        self.rows += rows
        if rows == 0 and case in self._failed:
            self._rowless.append(case)

    def reasons(self, stopped: str = "") -> list[str]:
        """Why rows may be missing beside the lost cases; `stopped` is what ended the session early, if anything."""
        told = [f"not collected: {node}" for node in self._uncollected]
        missing = [case for case in self._expected if case not in self._finished and case not in self.crashes]
        if missing:
            told.append(
                f"{len(missing):,} of {len(self._expected):,} cases did not run" + (f": {stopped}" if stopped else "")
            )
        elif stopped and not self._finished:
            told.append(stopped)
        return told
