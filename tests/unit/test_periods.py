"""Periods of the calendar, against the calendar of the standard library."""

from datetime import date, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

import hushgrid as hg
from hushgrid.periods import PATTERNS, Period, run_of

DAYS = st.dates(min_value=date(1000, 1, 1), max_value=date(9000, 1, 1))


def written(day: date, kind: str) -> str:
    """The period of a kind that holds a day, by the standard library's own formats."""
    formats = {"day": "%Y-%m-%d", "week": "%G-W%V", "month": "%Y-%m", "year": "%Y"}
    return f"{day.year}-Q{-(-day.month // 3)}" if kind == "quarter" else day.strftime(formats[kind])


@given(day=DAYS, kind=st.sampled_from(list(PATTERNS)))
def test_the_days_of_a_period_are_those_that_write_it(day, kind):
    """The first and last day write its name, the days around do not; it is read back from its name and others'."""
    name = written(day, kind)
    period = Period.parse(name)

    assert period.start <= day < period.stop
    assert {written(each, kind) for each in (period.start, period.stop - timedelta(days=1))} == {name}
    assert written(period.stop, kind) == period.next.name != name
    assert written(period.start - timedelta(days=1), kind) != name
    assert Period.within(f"trips 7 {name}_final") == period
    assert Period.within(f"2026-01 to {name} epsg-4326") == (period if kind != "year" else Period.parse("2026-01"))


def test_a_run_has_no_gaps():
    """53 weeks are in 2026, and the leap day of 2024 is a day."""
    assert sum(1 for _ in run_of(Period.parse("2026-W01"), Period.parse("2026-W53"))) == 53
    days = [period.name for period in run_of(Period.parse("2024-02-28"), Period.parse("2024-03-01"))]
    assert days == ["2024-02-28", "2024-02-29", "2024-03-01"]


@pytest.mark.parametrize(
    "text", ["", "2026-3", "2026-13", "2026-02-30", "2025-W53", "2026-Q5", "march", "12026", " 2026", "9999-12", "0000"]
)
def test_what_is_no_period_is_refused(text):
    """With examples of how one is written."""
    with pytest.raises(hg.ArgumentError, match="2026-Q1, 2026-03"):
        Period.parse(text)
