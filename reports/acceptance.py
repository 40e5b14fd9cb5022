"""How much of a benchmark a fixed response passes: by collection, implementation, probe, level and guard."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

ANY = "any content-free"
"""The pseudo-probe that is accepted where any of the content-free probes is."""

LEVELS = ("instance", "prompt", "template")
GUARDS = ("off", "on")
TEMPLATE_SHARE = 0.9  # a template accepts a probe from here on, as a share of its instances

_MARKS = ("accepted", "crashed", "timed_out", "uncovered")
_GROUP = ["collection", "implementation", "probe"]
# The columns that name one unit of a level.
_UNITS = {"instance": ["prompt", "instance", "template"], "prompt": ["prompt"], "template": ["template"]}


def acceptance(table: pa.Table, content_free: Iterable[str] = ()) -> pa.Table:
    """Counts from rows of check `probe`, one row for each collection, implementation, probe, level and guard.

    A prompt is accepted where all its instances are, a template where at least 90 % of its instances are. Guard `off`
    is the verdict as recorded; `on` is what a caller gets that rejects a blank response without asking. A crash or a
    timeout is not accepted, and counted apart. A unit with an instance that has no verdict is no part of `total`: it
    was `unsupported` or `not_run`, or only other implementations were asked. `uncovered` says how many there are.
    The probe `ANY` stands for all of `content_free`.
    """
    rows = _marked(table.filter(pc.equal(table["check"], "probe")))
    results = []
    for guard in GUARDS:
        guarded = _guarded(rows) if guard == "on" else rows
        for level in LEVELS:
            units = _units(guarded, level)
            both = pa.concat_tables([units, _any_of(units, level, content_free)])
            results.append(_counted(both, level, guard))
    return pa.concat_tables(results).sort_by([(name, "ascending") for name in (*_GROUP, "level", "guard")])


def is_blank(response: pa.ChunkedArray) -> pa.ChunkedArray:
    """Whether each response is empty or white space alone, in Python's sense; an unknown one is not."""
    encoded = response.combine_chunks().dictionary_encode()
    blank = pa.array([not text.strip() for text in encoded.dictionary.to_pylist()], pa.bool_())
    return pc.fill_null(blank.take(encoded.indices), False)


def _marked(rows: pa.Table) -> pa.Table:
    """The rows with marks of 0 or 1; a row is exactly one of accepted, rejected, crashed, timed out, uncovered."""
    verdict = rows["verdict"]
    marks = {
        "accepted": pc.equal(verdict, "accept"),
        "crashed": pc.equal(verdict, "crash"),
        "timed_out": pc.equal(verdict, "timeout"),
        "uncovered": pc.is_in(verdict, pa.array(["unsupported", "not_run"])),
    }
    names = ["collection", "implementation", "response_id", "prompt", "instance", "template"]
    columns = {name: rows[name] for name in names} | {name: pc.cast(mark, pa.int64()) for name, mark in marks.items()}
    # Grouping by codes is several times faster than by text.
    for name in ("collection", "implementation", "response_id", "prompt", "template"):
        columns[name] = _codes(columns[name])
    columns["instances"] = _instances(columns)
    columns["blank"] = is_blank(rows["response"])
    columns["probe"] = columns.pop("response_id")
    return pa.table(columns)


def _instances(columns: Mapping[str, pa.Array]) -> pa.Array:
    """For each row, how many instances its prompt has, as far as any implementation or probe tells."""
    prompt, instance = columns["prompt"], pc.fill_null(columns["instance"], 0).to_numpy()
    codes = [pc.fill_null(columns[name].indices, 0).to_numpy() for name in ("collection", "prompt")]
    place = codes[0].astype(np.int64) * (len(prompt.dictionary) + 1) + codes[1]
    last = np.zeros(int(place.max(initial=0)) + 1, dtype=np.int64)
    np.maximum.at(last, place, instance)
    return pa.array(last[place] + 1)


def _codes(column: pa.ChunkedArray) -> pa.ChunkedArray:
    return column.combine_chunks().dictionary_encode()


def _guarded(rows: pa.Table) -> pa.Table:
    """The rows as a caller sees them that answers `reject` for a blank response itself."""
    covered = pc.equal(rows["uncovered"], 0)
    asked = pc.cast(pc.invert(pc.and_(rows["blank"], covered)), pa.int64())
    for name in ("accepted", "crashed", "timed_out"):
        rows = rows.set_column(rows.schema.get_field_index(name), name, pc.multiply(rows[name], asked))
    return rows


def _units(rows: pa.Table, level: str) -> pa.Table:
    """One row a unit of the level and probe, with marks of 0 or 1."""
    by = [*_GROUP, *_UNITS[level]]
    share = "mean" if level == "template" else "min"
    sums = [("accepted", share), *((name, "max") for name in _MARKS[1:])]
    if level == "prompt":
        sums += [("instance", "count_distinct"), ("instances", "max")]
    grouped = rows.group_by(by, use_threads=False).aggregate(sums)
    accepted = pc.cast(pc.greater_equal(grouped[f"accepted_{share}"], TEMPLATE_SHARE), pa.int64())
    uncovered = grouped["uncovered_max"]
    if level == "prompt":
        # A part of a prompt (an implementation without one of its templates) must not pass for the whole.
        partial = pc.less(grouped["instance_count_distinct"], grouped["instances_max"])
        uncovered = pc.max_element_wise(uncovered, pc.cast(partial, pa.int64()))
    marks = [accepted, grouped["crashed_max"], grouped["timed_out_max"], uncovered]
    return pa.table([*(grouped[name] for name in by), *marks], names=[*by, *_MARKS])


def _any_of(units: pa.Table, level: str, content_free: Iterable[str]) -> pa.Table:
    """The units again, accepted where any of the probes is."""
    chosen = units.filter(pc.is_in(pc.cast(units["probe"], pa.string()), pa.array(list(content_free), pa.string())))
    by = ["collection", "implementation", *_UNITS[level]]
    grouped = chosen.group_by(by, use_threads=False).aggregate([(name, "max") for name in _MARKS])
    probe = pa.repeat(ANY, grouped.num_rows).dictionary_encode()
    columns = {name: grouped[name] for name in by} | {name: grouped[f"{name}_max"] for name in _MARKS}
    return pa.table({**columns, "probe": probe}).select(units.column_names)


def _counted(units: pa.Table, level: str, guard: str) -> pa.Table:
    """Sums over the covered units, and how many units of the collection are not covered."""
    covered = pc.subtract(1, units["uncovered"])
    sums = {name: pc.multiply(units[name], covered) for name in _MARKS[:3]} | {"total": covered}
    names = {name: pc.cast(units[name], pa.string()) for name in _GROUP}
    counted = pa.table(names | sums).group_by(_GROUP, use_threads=False).aggregate([(name, "sum") for name in sums])
    columns = {name: counted[name] for name in _GROUP} | {name: counted[f"{name}_sum"] for name in sums}
    known = _known(units, level)
    sizes = pa.array([known[name] for name in counted["collection"].to_pylist()], pa.int64())
    columns["uncovered"] = pc.subtract(sizes, columns["total"])
    length = counted.num_rows
    return pa.table({**columns, "level": pa.repeat(level, length), "guard": pa.repeat(guard, length)})


def _known(units: pa.Table, level: str) -> dict[str, int]:
    """How many units of the level any implementation was asked about, by collection."""
    distinct = units.group_by(["collection", *_UNITS[level]]).aggregate([])
    counts = pc.value_counts(pc.cast(distinct["collection"], pa.string())).to_pylist()
    return {count["values"]: count["counts"] for count in counts}
