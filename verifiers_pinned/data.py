"""The pinned data sets: the official prompts of IFEval and IFBench, and sample responses to the latter."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from .cache import member_folder
from .errors import PinError
from .pins import load_catalogue
from .records import Archive, Data

PROMPTS = {"ifeval": "ifeval_prompts", "ifbench": "ifbench_prompts"}
SAMPLE_RESPONSES = "ifbench_sample_responses"


@dataclass(frozen=True)
class Instance:
    """One template of a prompt with its arguments; `index` counts the prompt's instances from 0."""

    template: str
    params: Mapping[str, Any]
    index: int


@dataclass(frozen=True)
class Prompt:
    """A prompt; `key` is the data set's own, as text."""

    key: str
    text: str
    instances: tuple[Instance, ...]


def load_prompts(collection: str) -> tuple[Prompt, ...]:
    """The official prompts of `ifeval` (541) or `ifbench` (300), in their order.

    Arguments that are null are dropped; the others stay as given, whole floats too. Raises `PinError` where the data
    set was not fetched.
    """
    if collection not in PROMPTS:
        raise ValueError(f"no official prompts of '{collection}' are pinned, only of {' and '.join(PROMPTS)}")
    return read_prompts(PROMPTS[collection], collection)


@cache
def read_prompts(key: str, collection: str) -> tuple[Prompt, ...]:
    """The prompts of the data set `key`, whose template ids belong to `collection`."""
    return tuple(_prompt(row, collection) for row in read_rows(key))


def _prompt(row: Mapping[str, Any], collection: str) -> Prompt:
    pairs = zip(row["instruction_id_list"], row["kwargs"], strict=True)
    instances = tuple(
        Instance(
            template=f"{collection}/{id_}",
            params={name: value for name, value in (params or {}).items() if value is not None},
            index=index,
        )
        for index, (id_, params) in enumerate(pairs)
    )
    return Prompt(str(row["key"]), row["prompt"], instances)


def load_sample_responses() -> dict[str, str]:
    """Prompt text to response: the 294 sample responses that IFBench ships."""
    return {row["prompt"]: row["response"] for row in read_rows(SAMPLE_RESPONSES)}


@cache
def read_rows(key: str) -> tuple[dict[str, Any], ...]:
    """The rows of the pinned data set `key`, read once a process."""
    return verified_rows(_data_pins()[key])


def verified_rows(pin: Data) -> tuple[dict[str, Any], ...]:
    """The rows of a data set, hashed when read; raises `PinError` where it is absent or was changed."""
    if not isinstance(pin.source, Archive):
        raise PinError(f"the data set {pin.key} lies in a checkout; read it from there")
    path = member_folder(pin.source) / pin.member.path
    remedy = f"python -m verifiers_pinned fetch {pin.source.key}"
    try:
        raw = path.read_bytes()
    except FileNotFoundError:
        raise PinError(f"the data set {pin.key} was not fetched: {remedy}") from None
    if hashlib.sha256(raw).hexdigest() != pin.member.sha256:
        raise PinError(f"{path} was changed after it was fetched; remove it and run: {remedy}")
    # Split at line feeds only: the texts hold other characters at which `splitlines` would split.
    rows = tuple(json.loads(line) for line in raw.decode("utf-8").split("\n") if line.strip())
    if len(rows) != pin.rows:
        raise PinError(f"{path} has {len(rows)} rows, its pin says {pin.rows}")
    return rows


@cache
def _data_pins() -> Mapping[str, Data]:
    return load_catalogue().data
