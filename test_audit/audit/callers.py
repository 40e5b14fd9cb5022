"""How each pinned caller is handed a prompt and a response, what it is asked, and what a careful one would answer."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from verifiers_pinned.invocations import Invocation

PROMPT = "Say something."
BOTH = ("strict", "loose")
Arguments = Mapping[str, Any] | None


@dataclass(frozen=True)
class Words:
    """Ids and arguments in which a caller is asked: one constraint without arguments, one with, and texts for them."""

    plain: str
    good: str
    bad: str
    given: str
    one: Mapping[str, Any]
    other: Mapping[str, Any]
    one_not_other: str
    zero: tuple[str, Mapping[str, Any]]


IFEVAL = Words(
    plain="punctuation:no_comma",
    good="Yes.",
    bad="Yes, no.",
    given="keywords:existence",
    one={"keywords": ["moon"]},
    other={"keywords": ["sun"]},
    one_not_other="The moon.",
    zero=("keywords:frequency", {"relation": "at least", "keyword": "moon", "frequency": 0}),
)
IFBENCH = Words(
    plain="format:no_whitespace",
    good="Yes.",
    bad="Yes, no.",
    given="count:numbers",
    one={"N": 1},
    other={"N": 2},
    one_not_other="There is 1 moon.",
    zero=("count:numbers", {"N": 0}),
)
FUNCTIONS = Words(
    plain="validate_no_commas",
    good="Yes.",
    bad="Yes, no.",
    given="verify_keywords",
    one={"keyword_list": ["moon"]},
    other={"keyword_list": ["sun"]},
    one_not_other="The moon.",
    zero=("verify_keyword_frequency", {"word": "moon", "N": 0}),
)


@dataclass(frozen=True)
class Question:
    """One prompt with one response. `expected` is the fraction of constraints that hold, strict and loose.

    None: the question cannot be answered, so a careful caller raises an error or, at least, gives nothing.
    `label` says in which layout a reward function is handed the constraints.
    """

    name: str
    ids: Sequence[str]
    arguments: Sequence[Arguments]
    response: str | None
    expected: tuple[float | None, float | None]
    reason: str
    label: str = "literal"

    def expects(self, entry: str) -> float | None:
        return self.expected[entry == "loose"]


def questions(words: Words) -> Iterator[Question]:
    """What every caller is asked."""
    plain, given, one, other = words.plain, words.given, words.one, words.other
    nulls = {**one, "never_heard_of": None}

    def ask(name: str, ids: list[str], arguments: list[Arguments], response: str | None, *more: Any) -> Question:
        *expected, reason = more
        strict = expected[0]
        return Question(name, ids, arguments, response, (strict, expected[1] if expected[1:] else strict), reason)

    yield ask("good", [plain], [{}], words.good, 1.0, "the response follows")
    yield ask("bad", [plain], [{}], words.bad, 0.0, "the response does not follow")
    yield ask("twice", [given] * 2, [one, other], words.one_not_other, 0.5, "each instance has its own arguments")
    yield ask("none", [plain], [{}], None, 0.0, "a model that gave nothing followed nothing; no run ends for it")
    yield ask("blank", [plain], [{}], " \n", 0.0, "a blank response follows nothing")
    yield ask("empty", [plain], [{}], "", 0.0, "an empty response follows nothing")
    yield ask("unknown", ["no:such"], [{}], words.good, None, "an id that nobody checks is not followed")
    yield ask("missing", [given], [{}], words.one_not_other, None, "what was asked is not known, and not to be drawn")
    yield ask("short", [plain, given], [{}], words.good, None, "arguments are missing for the second instance")
    yield ask("nulls", [given], [nulls], words.one_not_other, 1.0, "the data pad every row with null arguments")
    yield ask("null", [plain], [None], words.good, 1.0, "rows of IF-RLVR write no arguments as null")
    yield ask("zero", [words.zero[0]], [words.zero[1]], words.good, 1.0, "0 is a value and no missing one")
    preamble = f"Sure, look here:\n{words.good}"
    yield ask("preamble", [plain], [{}], preamble, 0.0, 1.0, "loose drops the first line, strict does not")


def reward_questions(words: Words) -> Iterator[Question]:
    """What a reward function is asked besides: layouts of labels, and blocks of reasoning."""
    for label in ("literal", "literal_of_json", "json", "object"):
        reason = "the layouts that data sets have mean the same"
        yield Question(
            f"label-{label}", [words.given], [{**words.one, "x": None}], words.one_not_other, (1, 1), reason, label
        )
    closed, open_ = f"<think>So, well.</think>{words.good}", f"<think>{words.good}"
    yield Question("reasoned", [words.plain], [{}], closed, (1.0, 1.0), "reasoning is no part of the answer")
    yield Question(
        "unfinished", [words.plain], [{}], open_, (0.0, 0.0), "reasoning without an end has no answer behind it"
    )
    yield Question(
        "tags-alone", [words.plain], [{}], "<answer></answer>", (0.0, 0.0), "an answer of nothing follows nothing"
    )


@dataclass(frozen=True)
class Adapter:
    """How one caller is asked: `entries` gives the function or class behind `strict`, `loose` and `both`.

    `handed` is `table` (prompt text to response), `text`, or `label` (a reward function).
    """

    words: Words
    handed: str
    entries: Mapping[str, str]
    layout: Callable[[Question], Any] = lambda question: None

    def asked(self) -> Iterator[Question]:
        yield from questions(self.words)
        if self.handed == "label":
            yield from reward_questions(self.words)

    def invocation(self, entry: str, question: Question) -> Invocation:
        name = self.entries[entry]
        record = {
            "key": 1,
            "instruction_id_list": [*question.ids],
            "prompt": PROMPT,
            "kwargs": [dict(each) if each is not None else None for each in question.arguments],
        }
        if self.handed == "label":
            return Invocation(Invocation(name), [[], question.response, self.layout(question)])
        if entry == "both":
            return Invocation(name, [record, [question.response]])
        response = {PROMPT: question.response} if self.handed == "table" else question.response
        return Invocation(name, [Invocation("InputExample", kwargs=record), response])


def labelled(question: Question) -> Any:
    """The label of IF-RLVR: a list of one dictionary, as a Python literal, as JSON or as it is."""
    constraints = {"instruction_id": [*question.ids], "kwargs": [*question.arguments]}
    return {
        "literal": repr([constraints]),
        "literal_of_json": repr([json.dumps(constraints)]),
        "json": json.dumps([constraints]),
        "object": [constraints],
    }[question.label]


def labelled_function(question: Question) -> Any:
    """The label of the older set: one function and its arguments, as JSON or as they are."""
    label = {"func_name": question.ids[0], **(question.arguments[0] or {})}
    return label if question.label == "object" else json.dumps(label)


def fractions(value: Any) -> list[float] | None:
    """What a caller returned as fractions: one, or strict and loose; None where it is no grade."""
    if not isinstance(value, dict):
        return None
    if "score" in value:
        return [float(value["score"])]
    if "follow_instruction_list" in value:
        return [_mean(value["follow_instruction_list"])]
    found = [each for name, each in sorted(value.items(), reverse=True) if name.startswith("inst_level")]
    return [_mean(each) if isinstance(each, list) else float(each) for each in found] or None


def _mean(verdicts: Sequence[bool]) -> float:
    return sum(verdicts) / len(verdicts) if verdicts else 0.0


STRICT, LOOSE = "test_instruction_following_strict", "test_instruction_following_loose"
LOOP = {"strict": STRICT, "loose": LOOSE}

ADAPTERS = {
    "evalscope_ifbench_scoring": Adapter(IFBENCH, "text", {**LOOP, "both": "process_results"}),
    "lighteval_ifbench_scoring": Adapter(IFBENCH, "table", LOOP),
    "lm_eval_scoring": Adapter(IFEVAL, "text", {**LOOP, "both": "process_results"}),
    "nvidia_ifbench_scoring": Adapter(IFBENCH, "table", LOOP),
    "open_instruct_reward": Adapter(IFEVAL, "label", {"strict": "IFEvalVerifier"}, labelled),
    "open_instruct_functions_reward": Adapter(FUNCTIONS, "label", {"strict": "IFEvalVerifierOld"}, labelled_function),
    "twinkle_scoring": Adapter(IFEVAL, "table", LOOP),
}
# One function and its arguments: there is no second instance.
NOT_ASKED = {"open_instruct_functions_reward": ("twice", "short")}
