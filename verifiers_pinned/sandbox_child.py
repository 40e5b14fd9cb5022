"""The child: imports one pin, then answers batches of calls under a clock, and writes each verdict into shared memory.

Everything the loop uses is kept in local names from before the pin was imported: a verifier may replace functions of
`re`, `time` or `os` in its own process, and harms only itself.
"""

from __future__ import annotations

import _thread
import json
import os
import pickle
import re
import signal
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import Any

from verifiers_pinned import sandbox_guards
from verifiers_pinned.calling import Address, Check, bind
from verifiers_pinned.importing import Recipe, load
from verifiers_pinned.invocations import telling
from verifiers_pinned.sandbox_board import (
    ACCEPT,
    CRASH,
    INDEX,
    LEFT_THREADS,
    REJECT,
    STARTED,
    TIMEOUT,
    Board,
)
from verifiers_pinned.sandbox_nltk import downloads_asked, prepare_resources, reseeding
from verifiers_pinned.sandbox_random import DrawSeeder
from verifiers_pinned.sandbox_threads import Together
from verifiers_pinned.sandbox_wire import read_message, write_message
from verifiers_pinned.verdicts import VerifierUnavailable, answer_of

_now, _threads, _set_timer, _set_handler = time.monotonic_ns, _thread._count, signal.setitimer, signal.signal
_loads, _dumps = pickle.loads, json.dumps
_ANSI, _FOLDERS = re.compile(r"\x1b\[[0-9;]*m"), re.compile(r"(?<![\w.:])(?:/[^\s/:'\"]+)+/")
_clean_ansi, _clean_folders = _ANSI.sub, _FOLDERS.sub

DETAIL_LENGTH = 200
# Of a message, more than a detail may need once paths and frames are gone; some hold a whole response.
_READ_LENGTH = 10_000
# After so many timeouts in a row the rest of a batch is not asked: a verifier that hangs would hold it for hours.
PATIENCE = 10


class Expired(BaseException):
    """Raised inside a call that is over its time; not an Exception, so that only a bare except swallows it."""


@dataclass(frozen=True)
class Terms:
    """What a child is told once: the pin, its limits and its surroundings."""

    recipe: Recipe
    seconds: float
    memory_bytes: int
    seed: int
    scratch: str
    nltk_roots: tuple[str, ...] = ()


@dataclass(frozen=True)
class Batch:
    """Calls of one template: call k is `params[which[k]]` and `texts[k]`; `guard` rejects a blank text uncalled.

    `seeds`, one a call, take the place of the session's. `together` makes all calls at once, each in a thread.
    """

    address: Address
    params: Sequence[Mapping[str, Any]]
    which: Sequence[int]
    texts: Sequence[str]
    guard: bool
    seeds: Sequence[int] = ()
    together: bool = False

    def cases(self) -> list[tuple[Mapping[str, Any], str]]:
        """Lists in the params are copied for each call: some checkers sort or extend what they are given."""
        plain = [all(not isinstance(value, list | dict) for value in given.values()) for given in self.params]
        if all(plain):
            return list(zip(map(self.params.__getitem__, self.which), self.texts, strict=True))
        pairs = zip(self.which, self.texts, strict=True)
        return [(self.params[at] if plain[at] else _fresh(self.params[at]), text) for at, text in pairs]


def serve(descriptor: int, board: Board, seeder: DrawSeeder) -> None:
    """Answer messages until the parent closes its end. A message is `Terms` once, then batches; a reply is JSON."""
    terms: Terms = _loads(read_message(descriptor))
    try:
        modules = _prepare(terms, board, seeder)
    except VerifierUnavailable as error:
        write_message(descriptor, _dumps({"unavailable": error.reason}).encode())
        return
    write_message(descriptor, _dumps({"downloads": downloads_asked()}).encode())
    checks: dict[Address, Check] = {}
    while data := read_message(descriptor):
        batch: Batch = _loads(data)
        try:
            check = checks[batch.address] = checks.get(batch.address) or bind(batch.address, modules)
        except VerifierUnavailable as error:
            write_message(descriptor, _dumps({"unavailable": error.reason}).encode())
            continue
        told: list[object] = []
        _answer(telling(check, told) if batch.address.tells else check, batch, terms, board, seeder)
        write_message(descriptor, _dumps({"downloads": downloads_asked(), "told": told}).encode())


def _prepare(terms: Terms, board: Board, seeder: DrawSeeder) -> Mapping[str, Any]:
    os.chdir(terms.scratch)
    Path(terms.scratch, terms.recipe.key).mkdir()
    os.environ.update(TMPDIR=terms.scratch, HOME=terms.scratch)
    sys.dont_write_bytecode = True
    sandbox_guards.forbid_side_effects(terms.scratch)
    prepare_resources(terms.nltk_roots, terms.seed)
    seeder.begin_child(terms.seed, board)
    return load(terms.recipe, terms.scratch)


def _answer(check: Check, batch: Batch, terms: Terms, board: Board, seeder: DrawSeeder) -> None:
    cases = batch.cases()
    seeder.begin_batch(cases, batch.seeds)
    if batch.seeds:
        check = reseeding(check, batch.seeds, board.clock)
    if batch.together:
        check = Together(check, cases)
    sandbox_guards.limit_memory(terms.memory_bytes)
    limit = int(terms.seconds * 1e9)
    clock = board.clock

    def expire(_signal: int, _frame: FrameType | None) -> None:
        started = clock[STARTED]
        if started and _now() - started > limit:
            raise Expired

    tick = min(0.05, terms.seconds / 4)
    _set_handler(signal.SIGALRM, expire)
    _set_timer(signal.ITIMER_REAL, tick, tick)
    try:
        _run(check, cases, batch.guard, board, limit, terms)
    finally:
        _set_timer(signal.ITIMER_REAL, 0)


def _run(check: Check, cases: Sequence[tuple[Any, str]], guard: bool, board: Board, limit: int, terms: Terms) -> None:
    clock, verdicts, microseconds = board.clock, board.verdicts, board.microseconds
    now, threads, seen_threads, record = _now, _threads, _threads(), _Recorder(board, limit, terms)
    for index, (params, text) in enumerate(cases):
        if record.timeouts >= PATIENCE:
            return
        if guard and not text.strip():
            verdicts[index] = REJECT
            continue
        clock[INDEX] = index
        try:
            try:
                clock[STARTED] = started = now()
                value = check(params, text)
                took = now() - started
                clock[STARTED] = 0
            except BaseException as error:
                took = now() - clock[STARTED]
                clock[STARTED] = 0
                record.raised(index, error, took)
                continue
        except Expired as error:  # the tick fell between an error and the line that stops the clock
            clock[STARTED] = 0
            record.raised(index, error, limit)
            continue
        microseconds[index] = took / 1000
        if threads() != seen_threads:
            record.left_threads(index, threads() - seen_threads)
            seen_threads = threads()
        if took > limit:
            record.late(index, took)
            continue
        record.timeouts = 0
        if value is True:
            verdicts[index] = ACCEPT
        elif value is False:
            verdicts[index] = REJECT
        else:
            record.returned(index, value)


class _Recorder:
    """Writes what is not a plain boolean. The verdict comes last: it tells the parent that the call is finished."""

    def __init__(self, board: Board, limit: int, terms: Terms) -> None:
        self._board, self._limit, self._terms = board, limit, terms
        self.timeouts = 0  # in a row

    def raised(self, index: int, error: BaseException, took: int) -> None:
        self._board.microseconds[index] = took / 1000
        # What a verifier makes of the error that ends a late call is not its answer to the text.
        if isinstance(error, Expired) or took > self._limit:
            self._timeout(index, f"over the time limit of {self._terms.seconds:g} s")
            return
        self.timeouts = 0
        # The message may be the verifier's own code, so the clock runs again.
        self._board.clock[STARTED] = _now()
        told = describe(error, self._terms.memory_bytes)
        self._board.clock[STARTED] = 0
        self._board.write_detail(index, told)
        self._board.verdicts[index] = CRASH

    def late(self, index: int, took: int) -> None:
        self._timeout(index, f"answered after {took / 1e9:.2f} s")

    def _timeout(self, index: int, detail: str) -> None:
        self.timeouts += 1
        self._board.write_detail(index, detail)
        self._board.verdicts[index] = TIMEOUT

    def returned(self, index: int, value: object) -> None:
        answer = answer_of(value)
        if answer is None:
            self._board.write_detail(index, f"returned {type(value).__name__}, not a boolean")
        self._board.verdicts[index] = CRASH if answer is None else ACCEPT if answer else REJECT

    def left_threads(self, index: int, count: int) -> None:
        if count > 0:
            self._board.write_detail(index, f"left {count} thread{'s' * (count > 1)} running")
            self._board.flags[index] |= LEFT_THREADS


def describe(error: BaseException, memory_bytes: int) -> str:
    """`TypeName: message` in one line of at most 200 characters, without the folders of this machine."""
    if isinstance(error, MemoryError):
        return f"MemoryError: over the memory limit of {memory_bytes >> 20} MiB"
    try:
        message = str(error)[:_READ_LENGTH]
    except BaseException:  # even the message of an error may fail
        message = "(its message cannot be read)"
    # nltk frames and colours its messages.
    told = " ".join(_clean_ansi("", message).replace("*" * 20, "").split())
    told = f"{type(error).__name__}: {_clean_folders('', told)}" if told else type(error).__name__
    return told if len(told) <= DETAIL_LENGTH else told[: DETAIL_LENGTH - 1] + "…"


def _fresh(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _fresh(item) for name, item in value.items()}
    return [_fresh(item) for item in value] if isinstance(value, list) else value
