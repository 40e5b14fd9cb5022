"""Randomness that depends on the call alone: the global generator is seeded at a call's first draw, and not before."""

from __future__ import annotations

import functools
import hashlib
import json
import random
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from verifiers_pinned.sandbox_board import DREW_RANDOM, INDEX, STARTED, Board

# A verifier may replace what it likes in these modules; the seeding keeps its own.
_dumps, _digest = json.dumps, hashlib.blake2b

Cases = Sequence[tuple[Mapping[str, Any], str]]


class DrawSeeder:
    """Stands in front of the module-level functions of `random`; a call that draws nothing pays nothing.

    The first draw of a call seeds the hidden generator from (seed, params, text) and sets the call's flag, so a verdict
    depends neither on the calls before it nor on the process. The seed is the session's, or the call's own. An explicit
    `random.seed(value)` is left as it is. Not covered: `random.SystemRandom`, `os.urandom`, `secrets`, numpy's
    generators and a verifier's own `random.Random()`.
    """

    def __init__(self) -> None:
        self._seed = 0
        self._seeded = -1
        self._cases: Cases = ()
        self._seeds: Sequence[int] = ()
        self._board: Board | None = None
        self._reseed = random.seed

    def install(self) -> None:
        """Replace the functions. To be done before any other module can take `from random import choice`."""
        for name in random.__all__:
            drawn = getattr(random, name)
            if name != "seed" and isinstance(getattr(drawn, "__self__", None), random.Random):
                setattr(random, name, self._drawing(drawn))
        random.seed = self._seeding(self._reseed)  # type: ignore[assignment]

    def begin_child(self, seed: int, board: Board) -> None:
        self._seed, self._board = seed, board
        self._reseed(seed)

    def begin_batch(self, cases: Cases, seeds: Sequence[int] = ()) -> None:
        self._cases, self._seeds, self._seeded = cases, seeds, -1

    def _drawing(self, draw: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(draw)
        def drawing(*args: Any, **kwargs: Any) -> Any:
            self._on_draw()
            return draw(*args, **kwargs)

        return drawing

    def _seeding(self, seed: Callable[..., None]) -> Callable[..., None]:
        @functools.wraps(seed)
        def seeding(a: Any = None, version: int = 2) -> None:
            if a is None:
                self._on_draw()  # upstream's `random.seed()` asks the operating system: the call's own seed instead
                return
            if self._board is not None:
                self._seeded = self._board.clock[INDEX]
            seed(a, version)

        return seeding

    def _on_draw(self) -> None:
        board = self._board
        if board is None or not board.clock[STARTED]:
            return
        index = board.clock[INDEX]
        if index == self._seeded:
            return
        self._seeded = index
        board.flags[index] |= DREW_RANDOM
        seed = self._seeds[index] if self._seeds else self._seed
        self._reseed(call_seed(seed, *self._cases[index]))


def call_seed(seed: int, params: Mapping[str, Any], text: str) -> int:
    """64 bits that only the seed, the params (in any order) and the text decide."""
    told = _dumps([seed, params, text], sort_keys=True, default=repr)
    return int.from_bytes(_digest(told.encode(), digest_size=8).digest(), "big")
