"""The one schema of a row, and the building of a checked batch of rows from plain Python values."""

from __future__ import annotations

import difflib
import json
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

SCHEMA = pa.schema(
    [
        ("run", pa.string()),
        ("collection", pa.string()),
        ("template", pa.string()),  # "ifbench/count:word_count_range"
        ("params", pa.string()),  # canonical JSON: keys sorted, no spaces
        ("implementation", pa.string()),
        ("check", pa.string()),
        ("case", pa.string()),
        ("prompt", pa.string()),  # the key of an official prompt
        ("instance", pa.int32()),  # which of its prompt's instances, from 0
        ("response_id", pa.string()),  # a probe's id, or what else names the response
        ("response", pa.string()),
        ("verdict", pa.string()),
        ("detail", pa.string()),  # "ZeroDivisionError: division by zero", or why nothing ran
        ("oracle", pa.string()),
        ("readings", pa.string()),  # canonical JSON: {reading: answer}
        ("outcome", pa.string()),
        ("alarm", pa.string()),
        ("finding", pa.string()),
        ("microseconds", pa.float32()),
        ("drew_random", pa.bool_()),
    ]
)

# What differs between two runs of the same audit; everything else must not.
VOLATILE = ("run", "microseconds")
STABLE = tuple(name for name in SCHEMA.names if name not in VOLATILE)

WORDS: dict[str, tuple[str, ...]] = {
    "verdict": ("accept", "reject", "crash", "timeout", "unsupported", "not_run"),
    "oracle": ("accept", "reject", "either"),
    "outcome": ("agree", "false_accept", "false_reject", "crash", "timeout", "open"),
    "alarm": (
        "false_accept",
        "false_reject",
        "crash",
        "timeout",
        "non_boolean",
        "unstable",
        "altered",
        "diverges",
        "vacuous",
        "broken_relation",
    ),
}

SIBLINGS = "siblings"
"""Stands for the implementation where a row is about all copies of a template, and has no verdict of its own."""

_JSON_COLUMNS = ("params", "readings")
_SCALARS = (str, bytes, int, float, Mapping)


class RowError(ValueError):
    """Rows that do not fit the schema; nothing of the batch was written."""


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """`; did you mean 'x'?`, or nothing where no known word is close."""
    close = difflib.get_close_matches(word, list(known), n=1)
    return f"; did you mean {close[0]!r}?" if close else ""


def canonical_json(value: object) -> str:
    """JSON with sorted keys and no spaces: equal values give equal text. A string is taken as JSON already."""
    if isinstance(value, str):
        return _recoded(value)
    return _dumped(value)


def _dumped(value: object) -> str:
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)


@lru_cache(maxsize=4096)
def _recoded(text: str) -> str:
    return _dumped(json.loads(text))


def row_batch(rows: Mapping[str, object], **scalars: object) -> pa.RecordBatch:
    """One batch from columns by name: sequences of one length, or scalars, which are broadcast.

    Columns that are absent or None are null. Scalars by keyword (the run, the template, ...) name the columns that
    are the same for the whole batch; a column given both ways is refused. Raises RowError.
    """
    fixed = {name: value for name, value in scalars.items() if value is not None}
    for name in rows:
        if name not in SCHEMA.names:
            raise RowError(f"a row has no column {name!r}{did_you_mean(name, SCHEMA.names)}")
        if name in fixed:
            raise RowError(f"column {name!r} is given twice: as {fixed[name]!r} for the whole batch and in the rows")
    columns = {**fixed, **rows}
    length = _common_length(columns)
    arrays = [_array(name, columns.get(name), length) for name in SCHEMA.names]
    return pa.record_batch(arrays, schema=SCHEMA)


def _is_scalar(value: object) -> bool:
    return value is None or isinstance(value, _SCALARS)


def _common_length(columns: Mapping[str, object]) -> int:
    lengths: dict[str, int] = {}
    for name, value in columns.items():
        if not _is_scalar(value):
            if not hasattr(value, "__len__"):
                raise RowError(
                    f"column {name!r} is a {type(value).__name__}; give a sequence or one value for all rows"
                )
            lengths[name] = len(value)
    if len(set(lengths.values())) > 1:
        told = ", ".join(f"{name} {length}" for name, length in lengths.items())
        raise RowError(f"the columns of a batch differ in length: {told}")
    return next(iter(lengths.values()), 1)


def _array(name: str, value: object, length: int) -> pa.Array:
    kind = SCHEMA.field(name).type
    if value is None:
        return pa.nulls(length, kind)
    if _is_scalar(value):
        array = _converted(name, [value], kind)
        _check_words(name, array)
        return pa.repeat(array[0], length)
    array = _converted(name, value, kind)
    _check_words(name, array)
    return array


def _converted(name: str, values: Any, kind: pa.DataType) -> pa.Array:
    if name in _JSON_COLUMNS:
        values = _as_json(name, values)
    try:
        return pa.array(values, kind, from_pandas=False)
    except UnicodeEncodeError:
        # A lone surrogate is a legal Python string and no legal UTF-8; it is kept escaped rather than lost.
        return pa.array([_escaped(value) for value in values], kind)
    except (pa.ArrowException, TypeError, OverflowError, ValueError) as error:
        raise RowError(_misfit(name, values, kind, error)) from None


def _escaped(value: object) -> object:
    return value.encode("utf-8", "backslashreplace").decode() if isinstance(value, str) else value


def _as_json(name: str, values: Sequence[object]) -> list[str | None]:
    # A batch repeats a few parameter sets many times, mostly as the same object; `seen` keeps them alive, because
    # the id of an object that is gone may come back as another's.
    seen: dict[int, tuple[object, str]] = {}
    texts: list[str | None] = []
    for index, value in enumerate(values):
        if value is None:
            texts.append(None)
            continue
        if id(value) not in seen:
            try:
                seen[id(value)] = (value, canonical_json(value))
            except (TypeError, ValueError) as error:
                raise RowError(f"column {name!r}, row {index}: {value!r} is not JSON: {error}") from None
        texts.append(seen[id(value)][1])
    return texts


def _misfit(name: str, values: Any, kind: pa.DataType, error: Exception) -> str:
    for index, value in enumerate(values):
        try:
            pa.array([value], kind)
        except (pa.ArrowException, TypeError, OverflowError, ValueError):
            return f"column {name!r}, row {index}: {value!r} ({type(value).__name__}) is not a {kind}"
    return f"column {name!r} is not a sequence of {kind}: {error}"


def _check_words(name: str, array: pa.Array) -> None:
    words = WORDS.get(name)
    if words is None:
        return
    for word in pc.unique(array).to_pylist():
        if word is not None and word not in words:
            raise RowError(f"column {name!r}: {word!r} is none of {', '.join(words)}{did_you_mean(word, words)}")
