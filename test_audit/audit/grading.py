"""What a caller answered, against what a careful one would: a verdict, an outcome and an alarm."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, NamedTuple

from verifiers_pinned.verdicts import Verdict

from .callers import Question, fractions

# Where an object lay is another place in each run.
_ADDRESS = re.compile(r" at 0x[0-9a-f]+")


class Graded(NamedTuple):
    """`verdict` accepts where all constraints are said to hold; `alarm` is None where all is as it should be."""

    verdict: str
    outcome: str | None
    alarm: str | None
    detail: str


def graded(
    question: Question, entry: str, verdict: Verdict, answer: Mapping[str, Any] | None, detail: str | None, drew: bool
) -> Graded:
    """One alarm an answer, the gravest: a crash, a wrong grade, arguments drawn at random, a record that is changed."""
    wanted = [question.expects(each) for each in (("strict", "loose") if entry == "both" else (entry,))]
    if answer is None:
        expected = wanted[0] is None and verdict is Verdict.crash
        word = verdict.value if verdict in (Verdict.crash, Verdict.timeout) else None
        return Graded(
            verdict.value, "agree" if expected else word, None if expected else word, _ADDRESS.sub("", detail or "")
        )
    given = fractions(answer["value"])
    if given is None:
        return Graded("crash", "crash", "non_boolean", f"returned {answer['value']!r}"[:200])
    told = f"{' and '.join(f'{each:g}' for each in given)} of the constraints hold"
    said = "accept" if all(each == 1 for each in given) else "reject"
    if drew:
        return Graded(said, None, "altered", f"{told}, with arguments drawn at random")
    if given != [each or 0.0 for each in wanted]:
        too_much = sum(given) > sum(each or 0.0 for each in wanted)
        word = "false_accept" if too_much else "false_reject"
        return Graded(said, word, word, f"{told}; {question.reason}")
    if answer["before"] != answer["after"]:
        return Graded(said, "agree", "altered", f"{told}; the caller's record is changed")
    return Graded(said, "agree", None, told)
