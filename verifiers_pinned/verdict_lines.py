"""Verdicts for a JSON Lines file: each good line comes back with its verdict, each bad one is told by its number."""

from __future__ import annotations

import json
import sys
from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any, BinaryIO

from .requests import Desk, Request, RequestError
from .session import Session
from .verdicts import VerifierUnavailable

# Lines that are read, grouped by (implementation, template) and answered at a time.
_WINDOW = 10_000

Line = tuple[Request, dict[str, Any]]


def answer_lines(session: Session, desk: Desk, file: str, implementations: Sequence[str]) -> int:
    """Print an object for each line and implementation, in the file's order; 2 where a line could not be answered."""
    with _open(file) as stream:
        return _Answers(session, desk, file, implementations).run(stream)


def _open(file: str) -> BinaryIO:
    try:
        return sys.stdin.buffer if file == "-" else Path(file).open("rb")
    except OSError as error:
        raise RequestError(f"{file} cannot be read: {error.strerror}") from None


class _Answers:
    def __init__(self, session: Session, desk: Desk, file: str, implementations: Sequence[str]) -> None:
        self._session, self._desk, self._implementations = session, desk, implementations
        self._name = "<stdin>" if file == "-" else file
        self._status = 0
        self._unavailable: set[str] = set()

    def run(self, stream: BinaryIO) -> int:
        numbered = enumerate(stream, start=1)
        while window := list(islice(numbered, _WINDOW)):
            self._answer(list(self._parsed(window)))
        return self._status

    def _parsed(self, window: Sequence[tuple[int, bytes]]) -> Iterator[Line]:
        for number, raw in window:
            if not raw.strip():
                continue
            try:
                yield self._desk.parse(raw.decode("utf-8"))
            except UnicodeDecodeError as error:
                self._complain(number, f"is not UTF-8 at byte {error.start}")
            except RequestError as error:
                self._complain(number, str(error))

    def _complain(self, number: int, message: str) -> None:
        self._status = 2
        for line in message.splitlines():
            print(f"{self._name}:{number}: {line}", file=sys.stderr)

    def _answer(self, lines: Sequence[Line]) -> None:
        groups: dict[tuple[str, str], list[int]] = defaultdict(list)
        for at, (request, _told) in enumerate(lines):
            for key in self._keys(request):
                groups[key, request.template].append(at)
        added: list[list[dict[str, Any]]] = [[] for _ in lines]
        for (key, template), places in groups.items():
            for at, answer in zip(places, self._batch(key, template, [lines[at][0] for at in places]), strict=False):
                added[at].append(answer)
        for (_request, told), answers in zip(lines, added, strict=True):
            for answer in answers:
                print(json.dumps({**told, **answer}))

    def _keys(self, request: Request) -> Sequence[str]:
        if request.implementation is not None:
            return [request.implementation]
        return self._implementations or self._desk.covering(request.template)

    def _batch(self, key: str, template: str, requests: Sequence[Request]) -> Iterator[dict[str, Any]]:
        if key in self._unavailable:
            return
        try:
            result = self._session.call_batch(key, template, [(each.params, each.text) for each in requests])
        except VerifierUnavailable as error:
            self._status = 2
            self._unavailable.add(key)
            print(f"error: {error}", file=sys.stderr)
            return
        for at, verdict in enumerate(result.verdicts):
            yield {"implementation": key, "verdict": verdict.value, "detail": result.details.get(at)}
