"""Proportions with their uncertainty, and how they are written."""

from __future__ import annotations

from functools import cache
from typing import NamedTuple


class Interval(NamedTuple):
    """A confidence interval for a proportion, both ends within 0 and 1."""

    low: float
    high: float


@cache
def wilson(count: int, total: int) -> Interval | None:
    """The 95 % Wilson score interval (Wilson 1927) of count/total; None of nothing.

    Wilson's and not Wald's, because counts near 0 and near the total are the rule here.
    """
    if not 0 <= count <= total:
        raise ValueError(f"{count} of {total} is no proportion")
    if total == 0:
        return None
    # Imported here because it takes a second and most sessions never need it.
    from statsmodels.stats.proportion import proportion_confint

    low, high = proportion_confint(count, total, alpha=0.05, method="wilson")
    # Rounding can put an end that is exactly 0 or 1 on the wrong side of the share.
    share = count / total
    return Interval(min(max(0.0, float(low)), share), max(min(1.0, float(high)), share))


def percent(count: int, total: int) -> str:
    """`11.3`, or `-` of nothing."""
    return f"{100 * count / total:.1f}" if total else "-"


def percent_interval(count: int, total: int) -> str:
    """`11.3 [8.9, 14.2]`, or `-` of nothing."""
    interval = wilson(count, total)
    if interval is None:
        return "-"
    return f"{percent(count, total)} [{100 * interval.low:.1f}, {100 * interval.high:.1f}]"


def proportion(count: int, total: int) -> str:
    """`61/541 = 11.3 % [8.9, 14.2]`, or `0/0` of nothing."""
    interval = wilson(count, total)
    if interval is None:
        return f"{count}/{total}"
    return f"{count}/{total} = {percent(count, total)} % [{100 * interval.low:.1f}, {100 * interval.high:.1f}]"
