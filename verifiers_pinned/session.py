"""A session of calls: one sandbox, one child for each implementation, batches in and verdicts out."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import Any, NamedTuple

from specs.documents import did_you_mean

from . import cache
from .batches import BatchResult, Call, Pieces
from .importing import Recipe
from .invocations import Invocation
from .pins import Catalogue, Implementation, UnknownPin
from .recipes import address_of, caller_address_of, caller_recipe_of, recipe_of
from .sandbox_board import LEFT_THREADS
from .sandbox_child import PATIENCE, Terms
from .sandbox_parent import Child, Death, SandboxLost, Zygote
from .verdicts import Verdict, VerifierUnavailable

__all__ = ["BatchResult", "Limits", "SandboxLost", "Session"]

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


class _Target(NamedTuple):
    """What a child is started for: its key, whose modules it needs, and the recipe of the import."""

    key: str
    implementation: Implementation
    recipe: Callable[[], Recipe]


class Session:
    """Calls pinned verifiers in processes of their own; a context manager.

    `guard` is what most callers put around a check: a blank response is rejected without asking. A verdict depends on
    (implementation, template, params, text, seed) only, never on the calls before it. Not to be shared by threads.
    `downloads` says by implementation what it asked `nltk.download` for, at its import or since.
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
        hash_seed: int = 0,
    ) -> None:
        self.catalogue = catalogue
        self.limits = limits or Limits()
        self.seed = seed
        self.hash_seed = hash_seed
        self.guard = guard
        self._checkouts = dict(checkouts or {})
        self._most_children = children
        self._zygote: Zygote | None = None
        self._children: OrderedDict[str, Child] = OrderedDict()
        self._folders: dict[str, Path | cache.Missing] = {}
        self._restarts = 0
        self.downloads: dict[str, list[str]] = {}

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

    def call_batch(
        self,
        key: str,
        template: str,
        calls: Sequence[Call],
        *,
        guard: bool | None = None,
        seeds: Sequence[int] | None = None,
    ) -> BatchResult:
        """Ask implementation `key` about each (params, text) of `calls`, in order.

        `seeds`, one a call, take the place of the session's seed: for the global generator and for langdetect.
        Raises UnknownPin for a key that no pin has, VerifierUnavailable for a pin that cannot be imported or called,
        and SandboxLost where processes cannot be had. What one call does to its process never reaches another call.
        After ten timeouts in a row the rest of the batch is `not_run`.
        """
        if seeds is not None and len(seeds) != len(calls):
            raise ValueError(f"there are {len(seeds)} seeds for {len(calls)} calls; give one for each")
        return self._ask(key, template, calls, "check", self.guard if guard is None else guard, seeds or ())

    def call_together(self, key: str, template: str, calls: Sequence[Call]) -> BatchResult:
        """Make all calls, a few, at the same time: each in a thread of a process in which nothing was called before.

        Together they may take as long as one call. Raises as `call_batch` does.
        """
        self._drop(key)
        result = self._ask(key, template, calls, "check", False, together=True)
        self._drop(key)
        return result

    def describe_batch(
        self, key: str, template: str, params: Sequence[Mapping[str, Any]], *, seeds: Sequence[int] = (0,)
    ) -> BatchResult:
        """Build the checker for each of `params` and each seed (fastest) and ask what it says of itself.

        An answer has `text`, what `build_description` returned, and `arguments`, what `get_instruction_args` says
        (absent where the class has none). Only implementations in the class style describe: others are unsupported.
        """
        calls = [(given, f"seed {seed}") for given in params for seed in seeds]
        if self._implementation(key).style != "class":
            return BatchResult.blank(len(calls)).all_are(Verdict.unsupported, f"{key} has no descriptions")
        return self._ask(key, template, calls, "description", False)

    def invoke_batch(self, key: str, invocations: Sequence[Invocation]) -> BatchResult:
        """Make each invocation in the module of the caller `key`.

        An answer has `value`, `before` and `after`: what was returned, and the arguments around the call.
        """
        result = BatchResult.blank(len(invocations))
        target = self._caller_target(key)
        if isinstance(target, cache.Missing):
            return result.all_are(Verdict.not_run, target.reason)
        calls: list[Call] = [({"invocation": each}, "") for each in invocations]
        return self._run(target, Pieces(caller_address_of(self.catalogue.callers[key]), dict, calls), result)

    def _ask(
        self,
        key: str,
        template: str,
        calls: Sequence[Call],
        question: str,
        guard: bool,
        seeds: Sequence[int] = (),
        together: bool = False,
    ) -> BatchResult:
        implementation = self._implementation(key)
        result = BatchResult.blank(len(calls))
        if template not in implementation.covers:
            why = implementation.not_covered.get(template, f"{key} has no {template}")
            return result.all_are(Verdict.unsupported, why)
        found = self._installed(implementation)
        if isinstance(found, cache.Missing):
            return result.all_are(Verdict.not_run, found.reason)
        address = replace(address_of(implementation, template), question=question)
        pieces = Pieces(address, partial(implementation.own_parameters, template), calls, guard, seeds, together)
        return self._run(_Target(key, implementation, partial(recipe_of, implementation, found)), pieces, result)

    def _implementation(self, key: str) -> Implementation:
        if key not in self.catalogue.implementations:
            raise UnknownPin(f"no implementation is called '{key}'{did_you_mean(key, self.catalogue.implementations)}")
        return self.catalogue.implementations[key]

    def _run(self, target: _Target, pieces: Pieces, result: BatchResult) -> BatchResult:
        pending = pieces.translate(result)
        asked: list[int] = []
        while pending:
            piece = pieces.take(pending)
            settled = self._answer(target, pieces, piece, result)
            asked = [*asked, *piece[:settled]][-PATIENCE:]
            pending = pending[settled:]
            if [result.verdicts[index] for index in asked] == [Verdict.timeout] * PATIENCE:
                for index in pending:
                    result.put(index, Verdict.not_run, f"not asked: the {PATIENCE} calls before did not end in time")
                break
        return result

    def _installed(self, implementation: Implementation) -> Path | cache.Missing:
        # Looked up once: a hundred files are compared with their stamp, or a checkout hashed.
        if implementation.key not in self._folders:
            self._folders[implementation.key] = cache.installed(self.catalogue, implementation, self._checkouts)
        return self._folders[implementation.key]

    def _answer(self, target: _Target, pieces: Pieces, piece: Sequence[int], result: BatchResult) -> int:
        """Have one child answer `piece`; how many of its calls are settled, fewer than all where the child died."""
        try:
            child = self._child(target)
            child.board.clear(len(piece))
            told = child.answer(pieces.batch(piece), self.limits.seconds)
        except SandboxLost:
            self._start_again()
            return 0
        except BaseException:  # interrupted: a late reply would be taken for that of the next batch
            self._drop(target.key)
            raise
        if isinstance(told, Death):
            return self._after_death(target, pieces, child, told, piece, result)
        if "unavailable" in told:
            raise VerifierUnavailable(target.key, told["unavailable"])
        self.downloads[target.key] = told["downloads"]
        settled = child.board.first_unfinished(len(piece))  # fewer than all where its patience ended
        result.collect(child.board, piece, settled)
        result.answers.update(
            (index, answer)
            for index, answer in zip(piece, told["told"], strict=False)
            if result.verdicts[index] is Verdict.accept
        )
        if any(flags & LEFT_THREADS for flags in child.board.flags[: len(piece)]):
            self._drop(target.key)
        return settled

    def _after_death(
        self, target: _Target, pieces: Pieces, child: Child, death: Death, piece: Sequence[int], result: BatchResult
    ) -> int:
        settled = child.board.first_unfinished(len(piece))
        result.collect(child.board, piece, settled)
        self._drop(target.key)
        # What it had to tell beside verdicts died with it, and is asked again.
        again = piece[:settled] if pieces.address.tells else ()
        while again:
            again = again[self._answer(target, pieces, again, result) :]
        if settled == len(piece) or death.overdue not in (None, settled):
            return settled  # the call it was killed for did end, just then
        if death.overdue is not None:
            told = f"killed after {self.limits.seconds:g} s, for the call did not heed the time limit"
            result.put(piece[settled], Verdict.timeout, told)
            result.microseconds[piece[settled]] = self.limits.seconds * 1e6
        else:
            result.put(piece[settled], Verdict.crash, str(death))
        return settled + 1

    def try_caller(self, key: str) -> cache.Missing | None:
        """Import a caller and its verifiers in a child, and end it; Missing where the pin's files are not there.

        Raises VerifierUnavailable where it cannot be imported or lacks one of its symbols.
        """
        target = self._caller_target(key)
        if isinstance(target, cache.Missing):
            return target
        self._start(target)
        self._drop(key)
        return None

    def _caller_target(self, key: str) -> _Target | cache.Missing:
        if key not in self.catalogue.callers:
            raise UnknownPin(f"no caller is called '{key}'{did_you_mean(key, self.catalogue.callers)}")
        caller = self.catalogue.callers[key]
        implementation = self.catalogue.implementations[caller.implementation]
        # Its own file is checked, too, as if it were one of the implementation's.
        members = {**implementation.members, key: caller.member}
        found = self._installed(replace(implementation, key=key, members=members))
        if isinstance(found, cache.Missing):
            return found
        return _Target(key, implementation, partial(caller_recipe_of, caller, implementation, found))

    def _child(self, target: _Target) -> Child:
        if target.key in self._children:
            self._children.move_to_end(target.key)
            return self._children[target.key]
        return self._start(target)

    def _start(self, target: _Target) -> Child:
        key, implementation = target.key, target.implementation
        while len(self._children) >= self._most_children:
            self._drop(next(iter(self._children)))
        if self._zygote is None:
            self._zygote = Zygote(self.hash_seed)
        child = self._children[key] = self._zygote.fork(implementation.requires)
        roots = tuple(str(root) for root in cache.resource_roots(self.catalogue, implementation, self._checkouts))
        limits = self.limits
        told = child.load(Terms(target.recipe(), limits.seconds, limits.memory_bytes, self.seed, child.scratch, roots))
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
