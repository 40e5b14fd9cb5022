"""Whether a data set is whole: its rows by themselves, against another copy, and responses against their prompts."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from specs import ParameterError, Template

from .known import Place
from .wording import digest

Row = Mapping[str, Any]
Told = tuple[Place, str]

# A prompt that is shorter may stand in another by chance.
LONG = 60
# What a serialized row looks like in the middle of a prompt: a list of ids, or arguments without values.
_SERIALIZED = re.compile(r"\[['\"][a-z_]+:[a-z_0-9]+['\"]|['\"]\w+['\"]: (?:None|null), ['\"]\w+['\"]: (?:None|null)")
# Control characters, the sign for what could not be decoded, and halves of a character.
_DAMAGED = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ufffd\ud800-\udfff]")


def key_of(row: Row) -> str:
    """The data set's own key, as text; a digest of the prompt where it has none."""
    return str(row["key"] if "key" in row else row["id"] if "id" in row else digest(row["prompt"]))


def prompt_problems(
    rows: Sequence[Row], templates: Mapping[str, Template], collections: Sequence[str]
) -> Iterator[Told]:
    """What is wrong in a file of prompts. An id belongs to the first of `collections` that has it."""
    for name, values in (("key", map(key_of, rows)), ("prompt", (row["prompt"] for row in rows))):
        for value, times in Counter(values).items():
            if times > 1:
                yield Place(f"{name}-twice", value if name == "key" else digest(value)), f"{times} rows have it"
    texts = {key_of(row): row["prompt"] for row in rows}
    for row in rows:
        yield from _row_problems(row, templates, collections)
        yield from swallowed(row, texts)


def _row_problems(row: Row, templates: Mapping[str, Template], collections: Sequence[str]) -> Iterator[Told]:
    at, arguments = key_of(row), row["kwargs"]
    ids: list[str] = row["instruction_id_list"]
    if not row["prompt"].strip():
        yield Place("blank", at), "the prompt is blank"
    if found := sorted({f"U+{ord(each):04X}" for each in _DAMAGED.findall(row["prompt"])}):
        yield Place("damaged", at), f"the prompt holds {', '.join(found)}"
    if len(ids) != len(arguments):
        yield Place("lengths", at), f"{len(ids)} ids and {len(arguments)} sets of arguments"
    for id_, times in Counter(ids).items():
        if times > 1:
            given = [each for one, each in zip(ids, arguments, strict=False) if one == id_]
            how = (
                "with the same arguments" if all(_given(each) == _given(given[0]) for each in given) else "with others"
            )
            yield Place("id-twice" if how.endswith("others") else "instance-twice", at), f"{id_} {times} times, {how}"
    for number, (id_, given) in enumerate(zip(ids, arguments, strict=False)):
        name = next((f"{each}/{id_}" for each in collections if f"{each}/{id_}" in templates), None)
        if name is None:
            yield Place("unknown-id", f"{at}#{number}"), f"{id_} is in none of {', '.join(collections)}"
            continue
        try:
            templates[name].check_params(_given(given))
        except ParameterError as error:
            yield Place("arguments", f"{at}#{number}"), f"{id_}: {'; '.join(error.messages)}"


def _given(arguments: Mapping[str, Any] | None) -> dict[str, Any]:
    return {name: value for name, value in (arguments or {}).items() if value is not None}


def swallowed(row: Row, texts: Mapping[str, str]) -> Iterator[Told]:
    """Whether the row's prompt holds other rows: their serialized form, or another prompt of `texts` whole."""
    text = row["prompt"]
    if _SERIALIZED.search(text):
        yield Place("serialized", key_of(row)), "the prompt holds a serialized row"
    held = [
        key
        for key, other in texts.items()
        if key != key_of(row) and len(other) >= LONG and other != text and other in text
    ]
    if held:
        yield Place("swallowed", key_of(row)), f"the prompt holds that of {', '.join(held)}"


def copy_problems(rows: Sequence[Row], others: Sequence[Row]) -> Iterator[Told]:
    """How the copy `rows` differs from `others`, by key; arguments without a value are no arguments."""
    own, theirs = ({key_of(row): row for row in each} for each in (rows, others))
    for key in sorted(own.keys() ^ theirs.keys()):
        yield (
            Place("missing" if key in theirs else "added", key),
            "the other copy has it" if key in theirs else "only here",
        )
    texts = {key: row["prompt"] for key, row in theirs.items()}
    for key in sorted(own.keys() & theirs.keys()):
        one, other = own[key], theirs[key]
        if one["prompt"] != other["prompt"]:
            same = one["prompt"].split() == other["prompt"].split()
            told = f"{len(one['prompt'])} characters, in the other copy {len(other['prompt'])}"
            yield Place("spaces" if same else "text", key), told
        if one["instruction_id_list"] != other["instruction_id_list"]:
            told = f"{', '.join(one['instruction_id_list'])} and not {', '.join(other['instruction_id_list'])}"
            yield Place("ids", key), told
        elif [*map(_given, one["kwargs"])] != [*map(_given, other["kwargs"])]:
            yield Place("given", key), "other arguments"
        yield from (told for told in swallowed(one, texts) if told[0].rule == "swallowed")


def response_problems(rows: Sequence[Row], prompts: Sequence[Row]) -> Iterator[Told]:
    """Which responses match no prompt, which prompts have none; `at` is the key, or a digest of an unknown prompt."""
    keys = {row["prompt"]: key_of(row) for row in prompts}
    counts = Counter(row["prompt"] for row in rows)
    for row in rows:
        at = keys.get(row["prompt"], digest(row["prompt"]))
        if row["prompt"] not in keys:
            yield Place("no-prompt", at), f"no prompt is just so ({len(row['prompt'])} characters)"
        if not row["response"].strip():
            yield Place("blank-response", at), "the response is blank"
        if counts[row["prompt"]] > 1:
            yield Place("response-twice", at), f"{counts[row['prompt']]} responses"
    yield from ((Place("no-response", key), "no response") for text, key in keys.items() if text not in counts)


def rollout_problems(rows: Sequence[Row], examples: Sequence[Row]) -> Iterator[Told]:
    """Whether graded responses belong to their examples, and whether a reward is what its list of verdicts says."""
    known = {row["prompt"]: row for row in examples}
    for number, row in enumerate(rows):
        at, verdicts = str(number), row["follow_instruction_list"]
        example = known.get(row["prompt"])
        if example is None:
            yield Place("no-example", at), "no example has its prompt"
        elif any(row[name] != example[name] for name in ("instruction_id_list", "kwargs")):
            yield Place("other-example", at), "ids or arguments are not those of its example"
        if len(verdicts) != len(row["instruction_id_list"]):
            yield Place("verdicts", at), f"{len(verdicts)} verdicts for {len(row['instruction_id_list'])} ids"
        if row["follow_all_instructions"] is not all(verdicts) or row["reward"] != float(all(verdicts)):
            yield Place("reward", at), f"the reward is {row['reward']} for {verdicts}"
