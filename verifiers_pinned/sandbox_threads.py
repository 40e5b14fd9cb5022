"""Calls made all at once by threads of a fresh process, to see whether what is loaded at the first is loaded safely."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from verifiers_pinned.calling import Check
from verifiers_pinned.sandbox_nltk import forget_profiles

# Python changes threads every 5 ms, in which a small race is never seen.
_SWITCH_SECONDS = 1e-5


class Together:
    """A check whose first call makes all of `cases` at once, and which then tells of one after the other.

    The time limit of the first call is that of all.
    """

    def __init__(self, check: Check, cases: Sequence[tuple[Mapping[str, Any], str]]) -> None:
        self._check, self._cases = check, cases
        self._told: list[Callable[[], object]] = []
        self._made = False

    def __call__(self, params: Mapping[str, Any], text: str) -> object:
        if not self._made:
            self._made = True
            self._make()
        if not self._told:
            raise TimeoutError("the calls did not end in time")
        return self._told.pop(0)()

    def _make(self) -> None:
        outcomes: list[Callable[[], object]] = [_nothing] * len(self._cases)
        start = threading.Barrier(len(self._cases))

        def run(index: int) -> None:
            start.wait()
            try:
                value = self._check(*self._cases[index])
                outcomes[index] = lambda: value
            except BaseException as raised:
                error = raised
                outcomes[index] = lambda: _raise(error)

        forget_profiles()
        before = sys.getswitchinterval()
        sys.setswitchinterval(_SWITCH_SECONDS)
        try:
            threads = [threading.Thread(target=run, args=(index,), daemon=True) for index in range(len(self._cases))]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
        finally:
            sys.setswitchinterval(before)
        self._told = outcomes


def _nothing() -> object:
    return None


def _raise(error: BaseException) -> object:
    raise error
