"""What a run says of each verifier: its class by the findings of its alarms, and whether content matters."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from specs.findings import Finding

from .acceptance import TEMPLATE_SHARE
from .layout import Columns, grouped
from .row import SIBLINGS

CLASSES = ("defective", "ambiguous", "narrow_by_design", "sound", "unaudited")
"""In the order in which one outweighs another."""

_OF_FINDING = {"defect": "defective", "ambiguity": "ambiguous", "by_design": "narrow_by_design"}
_VERDICTS = ("accept", "reject", "crash", "timeout")


def classes(table: pa.Table, findings: Mapping[str, Finding], content_free: Sequence[str]) -> list[dict[str, Any]]:
    """One record for each template and implementation that gave a verdict.

    `class` is the weightiest that a finding of its alarms gives. Without one it is `sound` where an oracle was asked
    and nothing alarmed, else `unaudited`: no alarm is no proof. An alarm without a finding leaves it unaudited, too.
    `content_free` is the probe that the largest share of its instances accepts, where that is 90 % or more, or None.
    """
    # A row about a caller or a data file has no template, and one about a split no implementation.
    named = pc.and_(pc.is_valid(table["template"]), pc.not_equal(table["implementation"], SIBLINGS))
    asked = table.filter(pc.and_(named, pc.is_in(table["verdict"], pa.array(_VERDICTS))))
    probes = _content_free(asked, content_free)
    told: dict[tuple[str, str], dict[str, Any]] = {}
    columns = ["template", "implementation", "finding", "alarm", "oracle"]
    for row in asked.group_by(columns).aggregate([]).to_pylist():
        key = (row["template"], row["implementation"])
        seen = told.setdefault(key, {"findings": set(), "open": False, "judged": False})
        seen["findings"] |= {row["finding"]} - {None}
        seen["open"] |= row["alarm"] is not None and row["finding"] is None
        seen["judged"] |= row["oracle"] is not None
    return [
        {
            "template": template,
            "implementation": implementation,
            "class": _class(seen, findings),
            "content_free": probes.get((template, implementation)),
            "findings": sorted(seen["findings"]),
        }
        for (template, implementation), seen in sorted(told.items())
    ]


def _class(seen: Mapping[str, Any], findings: Mapping[str, Finding]) -> str:
    kinds = {_OF_FINDING.get(findings[name].kind) for name in seen["findings"] if name in findings}
    for word in CLASSES[:3]:
        if word in kinds:
            return word
    return "sound" if seen["judged"] and not seen["open"] and not seen["findings"] else "unaudited"


def _content_free(asked: pa.Table, probes: Sequence[str]) -> dict[tuple[str, str], str]:
    chosen = asked.filter(
        pc.and_(pc.equal(asked["check"], "probe"), pc.is_in(asked["response_id"], pa.array(list(probes), pa.string())))
    )
    counts: dict[tuple[str, str, str], Counter[str]] = {}
    grouped = chosen.group_by(["template", "implementation", "response_id", "verdict"]).aggregate([([], "count_all")])
    for row in grouped.to_pylist():
        count = counts.setdefault((row["template"], row["implementation"], row["response_id"]), Counter())
        count.update({"all": row["count_all"], "accept": row["count_all"] * (row["verdict"] == "accept")})
    best: dict[tuple[str, str], tuple[float, str]] = {}
    for (template, implementation, probe), count in sorted(counts.items()):
        share = count["accept"] / count["all"]
        if share >= TEMPLATE_SHARE and share > best.get((template, implementation), (0.0, ""))[0]:
            best[template, implementation] = share, probe
    return {key: probe for key, (_, probe) in best.items()}


def class_lines(records: Sequence[Mapping[str, Any]], width: int) -> list[str]:
    """A table of counts, and below it what is known of each verifier that is not just unaudited."""
    lines = []
    for collection, counts in class_counts(records).items():
        blocks = grouped({name: [str(count or ".") for count in row.values()] for name, row in counts.items()})
        columns = Columns((*CLASSES, "content-free", "templates"), blocks, width)
        lines += [columns.head(collection).text, *(line.text for line in columns.block(blocks, len(blocks)))]
    known: dict[tuple[str, str], list[str]] = {}
    for record in records:
        told = [record["class"]] if record["class"] != "unaudited" else []
        told += [f"accepts the probe {record['content_free']}"] if record["content_free"] else []
        told += [f"({', '.join(record['findings'])})"] if record["findings"] else []
        if told:
            known.setdefault((record["template"], " ".join(told)), []).append(record["implementation"])
    return lines + [f"{template}: {told}: {', '.join(keys)}" for (template, told), keys in known.items()]


def class_counts(records: Sequence[Mapping[str, Any]]) -> dict[str, dict[str, dict[str, int]]]:
    """By collection and implementation: templates in each class, how many are content-free, and how many there are."""
    counts: dict[str, dict[str, dict[str, int]]] = {}
    for record in records:
        collection = record["template"].partition("/")[0]
        blank = dict.fromkeys((*CLASSES, "content_free", "templates"), 0)
        count = counts.setdefault(collection, {}).setdefault(record["implementation"], blank)
        count[record["class"]] += 1
        count["content_free"] += record["content_free"] is not None
        count["templates"] += 1
    return counts
