"""A session of calls: one sandbox, one child for each implementation, batches in and verdicts out."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Any

from specs.documents import did_you_mean
from verifiers_pinned import cache
from verifiers_pinned.calling import Address
from verifiers_pinned.importing import Recipe
from verifiers_pinned.pins import Catalogue, Implementation, UnknownPin
from verifiers_pinned.sandbox_board import (
    ACCEPT,
    CAPACITY,
    CRASH,
    DREW_RANDOM,
    HAS_DETAIL,
    LEFT_THREADS,
    REJECT,
    TIMEOUT,
)
from verifiers_pinned.sandbox_child import Batch, Terms
from verifiers_pinned.sandbox_parent import Child, Death, SandboxLost, Zygote
from verifiers_pinned.verdicts import Verdict, VerifierUnavailable

Call = tuple[Mapping[str, Any], str]

_VERDICTS = {ACCEPT: Verdict.accept, REJECT: Verdict.reject, CRASH: Verdict.crash, TIMEOUT: Verdict.timeout}
# Characters of text in one message to a child.
_PIECE = 1 << 24
# A sandbox that is killed from outside is started again; one that ends again and again is not.
_RESTARTS = 3


@dataclass(frozen=True)
class Limits:
    """`seconds` of wall clock for one call, and bytes of memory a child may map beyond what it starts with."""

    seconds: float = 5.0
    memory_bytes: int = 1 << 30

    def __post_init__(self) -> None:
        if not 0.01 <= self.seconds <= 3600:
            raise ValueError(f"seconds is {self.seconds}; a call may take between 0.01 and 3600 seconds")
        if self.memory_bytes < 1 << 24:
            raise ValueError(f"memory_bytes is {self.memory_bytes}; a child needs at least {1 << 24}")


@dataclass
class BatchResult:
    """What a batch came to: one item a call in each list; `details` says why, by index, where there is more to say."""

    verdicts: list[Verdict] = field(default_factory=list)
    details: dict[int, str] = field(default_factory=dict)
    microseconds: list[float] = field(default_factory=list)
    drew_random: list[bool] = field(default_factory=list)

    @classmethod
    def blank(cls, calls: int) -> BatchResult:
        return cls([Verdict.not_run] * calls, {}, [0.0] * calls, [False] * calls)

    def put(self, index: int, verdict: Verdict, detail: str = "") -> None:
        self.verdicts[index] = verdict
        if detail:
            self.details[index] = detail


class Session:
    """Calls pinned verifiers in processes of their own; a context manager.

    `guard` is what most callers put around a check: a blank response is rejected without asking. A verdict depends on
    (implementation, template, params, text, seed) only, never on the calls before it. Not to be shared by threads.
    """

    def __init__(
        self,
        catalogue: Catalogue,
        *,
        checkouts: Mapping[str, Path] | None = None,
        limits: Limits | None = None,
        seed: int = 0,
        guard: bool = False,
        children: int = 48,
    ) -> None:
        self.catalogue = catalogue
        self.limits = limits or Limits()
        self.seed = seed
        self.guard = guard
        self._checkouts = dict(checkouts or {})
        self._most_children = children
        self._zygote: Zygote | None = None
        self._children: OrderedDict[str, Child] = OrderedDict()
        self._folders: dict[str, Path | cache.Missing] = {}
        self._restarts = 0

    def __enter__(self) -> Session:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    def close(self) -> None:
        """End all processes of the session. It may be used again afterwards, and starts new ones."""
        children, self._children = self._children, OrderedDict()
        zygote, self._zygote = self._zygote, None
        try:
            for child in children.values():
                child.close()
        finally:
            if zygote is not None:
                zygote.close()

    def call_batch(self, key: str, template: str, calls: Sequence[Call], *, guard: bool | None = None) -> BatchResult:
        """Ask implementation `key` about each (params, text) of `calls`, in order.

        Raises UnknownPin for a key that no pin has, VerifierUnavailable for a pin that cannot be imported or called,
        and SandboxLost where processes cannot be had. What one call does to its process never reaches another call.
        """
        if key not in self.catalogue.implementations:
            raise UnknownPin(f"no implementation is called '{key}'{did_you_mean(key, self.catalogue.implementations)}")
        implementation = self.catalogue.implementations[key]
        result = BatchResult.blank(len(calls))
        if template not in implementation.covers:
            why = implementation.not_covered.get(template, f"{key} has no {template}")
            return _all(result, Verdict.unsupported, why)
        found = self._installed(implementation)
        if isinstance(found, cache.Missing):
            return _all(result, Verdict.not_run, found.reason)
        pieces = _Pieces(implementation, template, calls, self.guard if guard is None else guard)
        pending = pieces.translate(result)
        while pending:
            piece = pieces.take(pending)
            pending = piece[self._answer(implementation, found, pieces, piece, result) :] + pending[len(piece) :]
        return result

    def _installed(self, implementation: Implementation) -> Path | cache.Missing:
        # Looked up once: a hundred files are compared with their stamp, or a checkout hashed.
        if implementation.key not in self._folders:
            self._folders[implementation.key] = cache.installed(self.catalogue, implementation, self._checkouts)
        return self._folders[implementation.key]

    def _answer(
        self, implementation: Implementation, folder: Path, pieces: _Pieces, piece: Sequence[int], result: BatchResult
    ) -> int:
        """Have one child answer `piece`; how many of its calls are settled, fewer than all where the child died."""
        try:
            child = self._child(implementation, folder)
            child.board.clear(len(piece))
            told = child.answer(pieces.batch(piece), self.limits.seconds)
        except SandboxLost:
            self._start_again()
            return 0
        if isinstance(told, Death):
            return self._after_death(implementation.key, child, told, piece, result)
        if "unavailable" in told:
            raise VerifierUnavailable(implementation.key, told["unavailable"])
        _collect(child, piece, len(piece), result)
        if any(flags & LEFT_THREADS for flags in child.board.flags[: len(piece)]):
            self._drop(implementation.key)
        return len(piece)

    def _after_death(self, key: str, child: Child, death: Death, piece: Sequence[int], result: BatchResult) -> int:
        settled = child.board.first_unfinished(len(piece))
        _collect(child, piece, settled, result)
        self._drop(key)
        if settled == len(piece):
            return settled
        if death.overdue:
            told = f"killed after {self.limits.seconds:g} s, for the call did not heed the time limit"
            result.put(piece[settled], Verdict.timeout, told)
            result.microseconds[piece[settled]] = self.limits.seconds * 1e6
        else:
            result.put(piece[settled], Verdict.crash, str(death))
        return settled + 1

    def _child(self, implementation: Implementation, folder: Path) -> Child:
        key = implementation.key
        if key in self._children:
            self._children.move_to_end(key)
            return self._children[key]
        while len(self._children) >= self._most_children:
            self._drop(next(iter(self._children)))
        if self._zygote is None:
            self._zygote = Zygote()
        child = self._children[key] = self._zygote.fork(implementation.requires)
        roots = tuple(str(root) for root in cache.resource_roots(self.catalogue, implementation, self._checkouts))
        recipe = recipe_of(implementation, folder)
        terms = Terms(recipe, self.limits.seconds, self.limits.memory_bytes, self.seed, child.scratch, roots)
        told = child.load(terms)
        if isinstance(told, Death) or "unavailable" in told:
            self._drop(key)
            why = f"its import did not end: {told}" if isinstance(told, Death) else told["unavailable"]
            raise VerifierUnavailable(key, why)
        return child

    def _drop(self, key: str) -> None:
        if key in self._children:
            self._children.pop(key).close()

    def _start_again(self) -> None:
        self._restarts += 1
        self.close()
        if self._restarts > _RESTARTS:
            raise SandboxLost(f"the sandbox process ended {self._restarts} times; is the machine out of memory?")


class _Pieces:
    """The calls of one batch in the implementation's own words, cut into messages of bounded size."""

    def __init__(self, implementation: Implementation, template: str, calls: Sequence[Call], guard: bool) -> None:
        self._implementation, self._template, self._calls, self._guard = implementation, template, calls, guard
        self._address = address_of(implementation, template)
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
                result.put(index, Verdict.unsupported, f"{self._implementation.key} has no words for these params")
            else:
                pending.append(index)
        return pending

    def _number(self, params: Mapping[str, Any]) -> int:
        own = self._implementation.own_parameters(self._template, params)
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
        return Batch(self._address, params, which, texts, self._guard)


def recipe_of(implementation: Implementation, folder: Path) -> Recipe:
    """What a child needs to import `implementation` from `folder`."""
    entry = implementation.entry
    return Recipe(
        implementation.key,
        str(folder),
        {name: member.path for name, member in implementation.members.items()},
        {
            name: tuple((each.old, each.new, each.count) for each in replacements)
            for name, replacements in implementation.replacements.items()
        },
        dict(implementation.stand_ins),
        {entry.module: (entry.name,)} if implementation.style == "method" else {},
    )


def address_of(implementation: Implementation, template: str) -> Address:
    entry = implementation.entry
    return Address(
        implementation.key,
        implementation.style,
        entry.module,
        entry.name,
        implementation.covers[template],
        entry.method,
        entry.arguments,
        entry.returns,
    )


def _all(result: BatchResult, verdict: Verdict, why: str) -> BatchResult:
    for index in range(len(result.verdicts)):
        result.put(index, verdict, why)
    return result


def _collect(child: Child, piece: Sequence[int], settled: int, result: BatchResult) -> None:
    board = child.board
    took = board.microseconds[:settled].tolist()
    for index, code, microseconds in zip(piece, board.verdicts[:settled], took, strict=False):
        result.verdicts[index] = _VERDICTS[code]
        result.microseconds[index] = microseconds
    flags = bytes(board.flags[:settled])
    if not any(flags):
        return
    for at, flag in enumerate(flags):
        if flag & DREW_RANDOM:
            result.drew_random[piece[at]] = True
        if flag & HAS_DETAIL:
            result.details[piece[at]] = board.read_detail(at)
