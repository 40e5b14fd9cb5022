"""Which row of one run is which row of another: by what was asked, whatever was answered."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

# What was asked. Not the case: a test that is renamed asks what it asked before.
QUESTION = (
    "implementation",
    "template",
    "check",
    "params",
    "prompt",
    "instance",
    "response_id",
    "response",
)
Codes = npt.NDArray[np.int64]


class Matching(NamedTuple):
    """Row numbers: `old[i]` and `new[i]` asked the same; the rest was asked in one of the runs only."""

    old: Codes
    new: Codes
    only_old: Codes
    only_new: Codes


def match_rows(old: pa.Table, new: pa.Table, answers: Sequence[str]) -> Matching:
    """Pair the rows of two tables by their questions.

    A question that was asked several times is paired first with itself answered the same (in the columns `answers`),
    and what is then left in order: so a repeated question counts as changed no more often than it has to.
    """
    asked, answered = _codes(old, new, QUESTION), _codes(old, new, (*QUESTION, *answers))
    cut = old.num_rows
    same_old, same_new = _pairs(answered[:cut], answered[cut:])
    left_old = np.setdiff1d(np.arange(cut), same_old)
    left_new = np.setdiff1d(np.arange(new.num_rows), same_new)
    other_old, other_new = _pairs(asked[:cut][left_old], asked[cut:][left_new])
    pairs_old = np.concatenate([same_old, left_old[other_old]])
    pairs_new = np.concatenate([same_new, left_new[other_new]])
    return Matching(pairs_old, pairs_new, np.delete(left_old, other_old), np.delete(left_new, other_new))


def _codes(old: pa.Table, new: pa.Table, columns: Sequence[str]) -> Codes:
    """One number a row of both tables, the same where the columns are."""
    table = pa.concat_tables([old.select(list(columns)), new.select(list(columns))])
    codes = np.zeros(table.num_rows, np.int64)
    for name in columns:
        column = _column_codes(table[name])
        # Renumbered each time, so that the product never outgrows 64 bits.
        _, codes = np.unique(codes * (_largest(column) + 1) + column, return_inverse=True)
    return codes


def _column_codes(column: pa.ChunkedArray) -> Codes:
    encoded = column.dictionary_encode()
    chunks = [pc.fill_null(chunk.indices, -1).to_numpy(zero_copy_only=False) for chunk in encoded.chunks]
    codes: Codes = np.concatenate([np.empty(0, np.int64), *chunks]).astype(np.int64) + 1
    return codes


def _largest(codes: Codes) -> int:
    return int(np.max(codes)) if len(codes) else 0


def _pairs(old: Codes, new: Codes) -> tuple[Codes, Codes]:
    """Positions of equal codes, the n-th of a code in one with the n-th in the other."""
    ranks_old, ranks_new = _ranks(old), _ranks(new)
    most = max(_largest(ranks_old), _largest(ranks_new)) + 1
    _, at_old, at_new = np.intersect1d(
        old * most + ranks_old, new * most + ranks_new, assume_unique=True, return_indices=True
    )
    return at_old.astype(np.int64), at_new.astype(np.int64)


def _ranks(codes: Codes) -> Codes:
    """How many equal codes stand before each."""
    order = np.argsort(codes, kind="stable")
    inorder = codes[order]
    starts = np.flatnonzero(np.concatenate([[True], inorder[1:] != inorder[:-1]])) if len(codes) else order
    sizes = np.diff(np.append(starts, len(codes)))
    ranks = np.empty(len(codes), np.int64)
    ranks[order] = np.arange(len(codes)) - np.repeat(starts, sizes)
    return ranks
