"""The calls of one batch, cut into messages of bounded size, and what they came to."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from .calling import Address
from .sandbox_board import ACCEPT, CAPACITY, CRASH, DREW_RANDOM, HAS_DETAIL, REJECT, TIMEOUT, Board
from .sandbox_child import Batch
from .verdicts import Verdict

Call = tuple[Mapping[str, Any], str]
# Params in an implementation's own words, or None where it has none.
Translation = Callable[[Mapping[str, Any]], "dict[str, Any] | None"]

_VERDICTS = {ACCEPT: Verdict.accept, REJECT: Verdict.reject, CRASH: Verdict.crash, TIMEOUT: Verdict.timeout}
# Characters of text in one message to a child.
_PIECE = 1 << 24


@dataclass
class BatchResult:
    """What a batch came to: one item a call in each list; `details` says why, by index, where there is more to say.

    Where more than a verdict was asked for, `accept` says that there is an answer, which stands in `answers` by index.
    """

    verdicts: list[Verdict] = field(default_factory=list)
    details: dict[int, str] = field(default_factory=dict)
    microseconds: list[float] = field(default_factory=list)
    drew_random: list[bool] = field(default_factory=list)
    answers: dict[int, Any] = field(default_factory=dict)

    @classmethod
    def blank(cls, calls: int) -> BatchResult:
        return cls([Verdict.not_run] * calls, {}, [0.0] * calls, [False] * calls)

    def put(self, index: int, verdict: Verdict, detail: str = "") -> None:
        self.verdicts[index] = verdict
        if detail:
            self.details[index] = detail

    def collect(self, board: Board, piece: Sequence[int], settled: int) -> None:
        """Take over what the first `settled` calls of `piece` came to."""
        took = board.microseconds[:settled].tolist()
        for index, code, microseconds in zip(piece, board.verdicts[:settled], took, strict=False):
            self.verdicts[index] = _VERDICTS[code]
            self.microseconds[index] = microseconds
        flags = bytes(board.flags[:settled])
        if not any(flags):
            return
        for at, flag in enumerate(flags):
            if flag & DREW_RANDOM:
                self.drew_random[piece[at]] = True
            if flag & HAS_DETAIL:
                self.details[piece[at]] = board.read_detail(at)

    def all_are(self, verdict: Verdict, why: str) -> BatchResult:
        for index in range(len(self.verdicts)):
            self.put(index, verdict, why)
        return self


class Pieces:
    """The calls of one batch in the implementation's own words, cut into messages of bounded size."""

    def __init__(
        self,
        address: Address,
        own: Translation,
        calls: Sequence[Call],
        guard: bool = False,
        seeds: Sequence[int] = (),
        together: bool = False,
    ) -> None:
        self.address = address
        self._own, self._calls, self._guard = own, calls, guard
        self._seeds, self._together = seeds, together
        self._params: list[dict[str, Any]] = []
        self._which: list[int] = []

    def translate(self, result: BatchResult) -> list[int]:
        """Indexes of the calls to make; those that the implementation has no words for are settled as unsupported."""
        known: dict[int, int] = {}
        pending: list[int] = []
        for index, (params, _text) in enumerate(self._calls):
            which = known.get(id(params))
            if which is None:
                which = known[id(params)] = self._number(params)
            self._which.append(which)
            if which < 0:
                result.put(index, Verdict.unsupported, f"{self.address.key} has no words for these params")
            else:
                pending.append(index)
        return pending

    def _number(self, params: Mapping[str, Any]) -> int:
        own = self._own(params)
        if own is None:
            return -1
        self._params.append(own)
        return len(self._params) - 1

    def take(self, pending: list[int]) -> list[int]:
        """The next calls that one message holds."""
        piece = pending[:CAPACITY]
        size = 0
        for taken, index in enumerate(piece):
            size += len(self._calls[index][1])
            if size > _PIECE:
                return piece[: taken or 1]
        return piece

    def batch(self, piece: Sequence[int]) -> Batch:
        which = [self._which[index] for index in piece]
        texts = [self._calls[index][1] for index in piece]
        params = self._params
        if len(params) > len(piece) // 8:
            # Each call may have params of its own: only those of this piece travel with it.
            used: dict[int, int] = {}
            which = [used.setdefault(number, len(used)) for number in which]
            params = [params[number] for number in used]
        seeds = [self._seeds[index] for index in piece] if self._seeds else ()
        return Batch(self.address, params, which, texts, self._guard, seeds, self._together)
