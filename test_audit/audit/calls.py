"""Calls of a verifier that a check makes, and the rows that come of them."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from verifiers_pinned.data import load_prompts
from verifiers_pinned.session import BatchResult
from verifiers_pinned.verdicts import Verdict

Response = tuple[str, str]  # its name, its text
LONGEST_KEPT = 20_000
"""Characters of a response that a row holds; what is longer is named by its id and the digest in the row."""


@dataclass(frozen=True)
class Call:
    """One question to a verifier; `prompt` and `instance` say where it stands in an official data set."""

    template: str
    params: Mapping[str, Any]
    response_id: str
    response: str
    prompt: str | None = None
    instance: int | None = None

    @property
    def question(self) -> tuple[Mapping[str, Any], str]:
        return self.params, self.response


def official_calls(collection: str, responses: Sequence[Response], template: str | None = None) -> list[Call]:
    """Each response to each official instance of a collection, or of one template of it, in the data set's order."""
    return [
        Call(instance.template, instance.params, name, text, prompt.key, instance.index)
        for prompt in load_prompts(collection)
        for instance in prompt.instances
        if template in (None, instance.template)
        for name, text in responses
    ]


def alarm_of(verdict: Verdict, detail: str | None, response: str) -> str | None:
    """The alarm that needs no oracle: a crash, a timeout, an answer that is no boolean, a blank response accepted."""
    if verdict is Verdict.crash:
        return "non_boolean" if detail and detail.endswith("not a boolean") else "crash"
    if verdict is Verdict.timeout:
        return "timeout"
    return "vacuous" if verdict is Verdict.accept and not response.strip() else None


def kept(response: str) -> str:
    """The response as a row holds it."""
    if len(response) <= LONGEST_KEPT:
        return response
    digest = hashlib.sha256(response.encode("utf-8", "surrogatepass")).hexdigest()
    return f"{response[:100]}... ({len(response):,} characters, sha256 {digest[:16]})"


def call_rows(calls: Iterable[Call], result: BatchResult) -> dict[str, list[Any]]:
    """The columns of the rows of `calls`, in order; for `record_rows` and `reports.row.row_batch`."""
    calls = list(calls)
    details = [result.details.get(position) for position in range(len(calls))]
    return {
        "params": [call.params for call in calls],
        "prompt": [call.prompt for call in calls],
        "instance": [call.instance for call in calls],
        "response_id": [call.response_id for call in calls],
        "response": [kept(call.response) for call in calls],
        "verdict": [verdict.value for verdict in result.verdicts],
        "detail": details,
        "alarm": [
            alarm_of(verdict, detail, call.response)
            for call, verdict, detail in zip(calls, result.verdicts, details, strict=True)
        ],
        "microseconds": list(result.microseconds),
        "drew_random": list(result.drew_random),
    }
