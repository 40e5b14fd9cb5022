"""Intervals against published ones, and how proportions are written."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reports.statistics import percent_interval, proportion, wilson


@pytest.mark.parametrize(
    ("count", "total", "written"),
    [
        (61, 541, "61/541 = 11.3 % [8.9, 14.2]"),
        (104, 300, "104/300 = 34.7 % [29.5, 40.2]"),
        (221, 3000, "221/3000 = 7.4 % [6.5, 8.4]"),
        (61, 300, "61/300 = 20.3 % [16.2, 25.2]"),
        (0, 541, "0/541 = 0.0 % [0.0, 0.7]"),
        (0, 0, "0/0"),
    ],
)
def test_published_intervals(count, total, written):
    assert proportion(count, total) == written


def test_nothing_has_no_interval():
    assert wilson(0, 0) is None
    assert percent_interval(0, 0) == "-"


@pytest.mark.parametrize(("count", "total"), [(2, 1), (-1, 3)])
def test_what_is_no_proportion_is_refused(count, total):
    with pytest.raises(ValueError, match="is no proportion"):
        wilson(count, total)


@settings(deadline=None)  # the first call imports statsmodels
@given(st.integers(1, 5000).flatmap(lambda total: st.tuples(st.integers(0, total), st.just(total))))
def test_an_interval_holds_its_proportion_and_mirrors(pair):
    count, total = pair
    low, high = wilson(count, total)
    other = wilson(total - count, total)
    assert 0 <= low <= count / total <= high <= 1
    assert (1 - other.high, 1 - other.low) == pytest.approx((low, high))
