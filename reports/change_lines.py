"""What changed between two runs, as lines of text for a person who updates a pin."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from .changes import Change, Changes, Example
from .layout import cut

WIDTH = 100
_MOST_NAMES, _MOST_CHANGES = 20, 50


def change_lines(found: Changes) -> list[str]:
    """Everything that changed, with one example for each kind of change; one line where nothing did."""
    if not found.any:
        return [f"nothing changed in {found.rows['both']:,} rows", *_pins(found)]
    rows = found.rows
    lines = [f"{rows['old']:,} rows before, {rows['new']:,} now, {rows['both']:,} asked the same"]
    lines += _pins(found)
    lines += _answers("verdicts", found.verdicts)
    lines += _answers("answers to witnesses", found.witnesses)
    if found.figures:
        lines.append(f"{len(found.figures):,} published figures changed")
        lines += [
            f"  {name}: {old or 'not there'} -> {new or 'not there'}" for name, (old, new) in found.figures.items()
        ]
    for told, names in (("new", found.appeared), ("gone", found.gone)):
        for kind, of_kind in names.items():
            lines += _names(f"{told} {kind}s", of_kind)
    return lines


def _pins(found: Changes) -> Iterator[str]:
    for key, (old, new) in found.pins.items():
        yield f"pin {key}: {old or 'not there'} -> {new or 'not there'}"


def _answers(what: str, changes: Sequence[Change]) -> Iterator[str]:
    if changes:
        yield f"{sum(change.count for change in changes):,} {what} changed"
    for change in changes[:_MOST_CHANGES]:
        kinds = ", ".join(f"{count:,} {kind}" for kind, count in change.kinds.items())
        check = "" if change.check == "witness" else f" {change.check}"
        yield f"  {_name(change)} {change.template}{check}: {change.count:,} of {change.asked:,}: {kinds}"
        shown: set[str] = set()
        for example in change.examples:
            if example.kind not in shown:
                shown.add(example.kind)
                yield from _example(example)
    if len(changes) > _MOST_CHANGES:
        yield f"  {len(changes) - _MOST_CHANGES:,} more templates of implementations: --json tells all"


def _name(change: Change) -> str:
    """`lm_eval@0.4.12 -> 0.4.13`."""
    versions = [version for version in dict.fromkeys(change.versions) if version is not None]
    return (change.implementation or "-") + (f"@{' -> '.join(versions)}" if versions else "")


def _example(example: Example) -> Iterator[str]:
    yield cut(f"    {example.params or '{}'} {example.response or ''!a}", WIDTH)
    yield cut(f"      {ascii(example.old)[1:-1]} -> {ascii(example.new)[1:-1]}", WIDTH)


def _names(title: str, names: Iterable[str]) -> Iterator[str]:
    names = list(names)
    if names:
        more = f" and {len(names) - _MOST_NAMES:,} more" if len(names) > _MOST_NAMES else ""
        yield f"{len(names):,} {title}: {', '.join(names[:_MOST_NAMES])}{more}"
