"""How slices are described, and what is refused."""

import itertools
import json
from datetime import date

import numpy as np
import pytest

from hushgrid.errors import ArgumentError
from hushgrid.periods import Period
from hushgrid.slices.by import By

KINDS = By("kind", values=["car", "bike"], other=True)
MONTHS = By.time("at", "month", start="2025-11-01", end="2026-02-01", timezone="Europe/Berlin")
HOURS = By.time("at", "hour", format="%d.%m.%Y %H:%M")
SECONDS = By.time("at", "weekday", unit="seconds", start="2026-01-01", end="2026-07-01")


def test_values_are_named_as_listed() -> None:
    assert KINDS.names == ("car", "bike", "other")
    assert By("kind", values=["car", "bike"]).names == ("car", "bike")
    assert KINDS.columns == ("kind",)


def test_numbers_and_booleans_are_their_text() -> None:
    assert By("n", values=[3, -1]) == By("n", values=["3", "-1"])
    assert By("b", values=[True, False]).names == ("true", "false")
    assert By("n", values=np.array([3, -1])) == By("n", values=["3", "-1"])
    assert By("b", values=np.array([True, False])).names == ("true", "false")


def test_names_are_of_any_language() -> None:
    """Joiners are part of a word in Persian and Hindi, and of an emoji; spaces have several widths."""
    for name in (
        "\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645",
        "क्\u200dष",
        "👨\u200d👩\u200d👧",
        "caf\u00e9\u00a0: bar",
        "東京\u3000駅",
    ):
        assert By("kind", values=[name]).names == (name,)


def test_times_are_named_in_order() -> None:
    assert MONTHS.names == ("2025-11", "2025-12", "2026-01")
    assert By.time("at", "weekday").names == ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
    assert By.time("at", "hour").names[:2] == ("00", "01")
    assert len(By.time("at", "hour").names) == 24


@pytest.mark.parametrize(
    ("kind", "start", "end"),
    [
        ("day", "2026-02-27", "2026-03-02"),
        ("week", "2025-12-29", "2026-01-12"),
        ("quarter", "2025-10-01", "2026-04-01"),
        ("year", "2024-01-01", "2026-01-01"),
    ],
)
def test_periods_are_those_of_the_calendar(kind, start, end) -> None:
    names = By.time("at", kind, start=start, end=end).names
    periods = [Period.parse(name) for name in names]
    assert periods[0].start.isoformat() == start
    assert periods[-1].stop.isoformat() == end
    assert all(before.next == after for before, after in itertools.pairwise(periods))


def test_a_product_has_every_pair_and_every_column_once() -> None:
    both = By.product(KINDS, MONTHS)
    assert len(both.names) == 9
    assert both.names[0] == "car / 2025-11"
    assert both.names[4] == "bike / 2025-12"
    assert both.columns == ("kind", "at")
    assert By.product(By.time("at", "weekday"), By.time("at", "hour")).columns == ("at",)
    assert By.of([KINDS, MONTHS]) == both
    assert By.of(KINDS) is KINDS
    assert By.of([KINDS]) is KINDS


@pytest.mark.parametrize("by", [KINDS, MONTHS, HOURS, SECONDS, By.product(KINDS, SECONDS)])
def test_a_description_survives_json(by) -> None:
    again = By.from_dict(json.loads(json.dumps(by.to_dict())))
    assert again == by
    assert again.names == by.names
    assert hash(again) == hash(by)
    assert again.words() == by.words()
    assert by.words().endswith(".")


@pytest.mark.parametrize(
    "fields",
    [
        None,
        {},
        {"axes": []},
        {"axes": [KINDS.to_dict()["axes"][0]] * 3},
        {"axes": [KINDS.to_dict()["axes"][0]], "more": 1},
        {"axes": [{**KINDS.to_dict()["axes"][0], "more": 1}]},
        {"axes": [{**KINDS.to_dict()["axes"][0], "values": [1]}]},
        {"axes": [{**KINDS.to_dict()["axes"][0], "other": 1}]},
        {"axes": [{**KINDS.to_dict()["axes"][0], "column": 1}]},
        {"axes": [{**MONTHS.to_dict()["axes"][0], "time": ["hour"]}]},
        {"axes": [{**MONTHS.to_dict()["axes"][0], "start": 2025}]},
        {"axes": [{**MONTHS.to_dict()["axes"][0], "timezone": None}]},
        {"axes": [{**SECONDS.to_dict()["axes"][0], "unit": {}}]},
        {"axes": [{**HOURS.to_dict()["axes"][0], "format": "%H %H"}]},
    ],
)
def test_a_strange_description_is_refused(fields) -> None:
    with pytest.raises(ArgumentError):
        By.from_dict(fields)


REFUSED = [
    (lambda: By("kind", values=[]), "needs values"),
    (lambda: By("kind", values="car"), "must be a list"),
    (lambda: By("kind", values={"car", "bike"}), "in the order of the slices"),
    (lambda: By("kind", values=5), "values=[5]"),
    (lambda: By("kind", values=None), "must be a list"),
    (lambda: By("kind", values=["car", "car"]), "'car' is listed twice"),
    (lambda: By("kind", values=["5", 5]), "'5' is listed twice"),
    (lambda: By("kind", values=["car", "other"], other=True), "adds this slice by itself"),
    (lambda: By("kind", values=["car", ""]), "lie in no slice"),
    (lambda: By("kind", values=["a\nb"]), "printable"),
    (lambda: By("kind", values=[1.5]), "text, whole numbers or booleans"),
    (lambda: By("kind", values=np.array([1, 2], np.longdouble)), "text, whole numbers or booleans"),
    (lambda: By("kind", values=np.array(["2026-01-01"], "datetime64[ns]")), "text, whole numbers or booleans"),
    (lambda: By("kind", values=np.array([5], "timedelta64[s]")), "text, whole numbers or booleans"),
    (lambda: By("kind", values=[10**5000]), "text, whole numbers or booleans"),
    (lambda: By("", values=["a"]), "name of a column"),
    (lambda: By("\ud800", values=["a"]), "in printable text"),
    (lambda: By("kind", values=range(10_001)), "more than 10,000 slices"),
    (lambda: By.time("at", "minute"), "hour, weekday"),
    (lambda: By.time("at", "month"), "public range"),
    (lambda: By.time("at", "hour", start="2026-01-01"), "public range"),
    (lambda: By.time("at", "day", start="2026-01-01", end="2026-01-01"), "end must be later"),
    (lambda: By.time("at", "day", start="2026-01-02", end="2026-01-01"), "end must be later"),
    (lambda: By.time("at", "day", start="1970-01-01", end="2026-01-01"), "more than 10,000 slices"),
    (lambda: By.time("at", "day", start="0001-01-01", end="0002-01-01"), "years 1900 to 2199"),
    (lambda: By.time("at", "month", start="2026-01-02", end="2026-03-01"), "start='2026-01-01'"),
    (lambda: By.time("at", "week", start="2026-01-05", end="2026-01-13"), "end='2026-01-19'"),
    (lambda: By.time("at", "month", start="2026-01-01", end="2026-12-31"), "Try end='2027-01-01'"),
    (lambda: By.time("at", "month", start="2026-01-05", end="2026-01-31"), "start='2026-01-01', end='2026-02-01'"),
    (lambda: By.time("at", "year", start="2026-01-01", end="2026-06-30"), "The range stops before that day"),
    (lambda: By.time("at", "day", start="2026-01-01", end="31.12.2026"), "Try end='2027-01-01'"),
    (lambda: By.time("at", "hour", timezone="europe/berlin"), "timezone='Europe/Berlin'"),
    (lambda: By.time("at", "hour", timezone="Kathmandu"), "timezone='Asia/Kathmandu'"),
    (lambda: By.time("at", "day", start="1.1.2026", end="2026-03-01"), "start must be a day"),
    (lambda: By.time("at", "hour", timezone="Europe/Berlín"), "timezone='Europe/Berlin'"),
    (lambda: By.time("at", "hour", timezone="America"), "no time zone"),
    (lambda: By.time("at", "hour", timezone="../etc/passwd"), "no time zone"),
    (lambda: By.time("at", "hour", unit="days"), "unit='seconds'"),
    (lambda: By.time("at", "hour", unit="ms"), "unit='milliseconds'"),
    (lambda: By.time("at", "hour", unit="seconds", format="%H"), "one of the two"),
    (lambda: By.time("at", "hour", format="%d.%m.%Y"), "need the hour"),
    (lambda: By.time("at", "weekday", format="%H:%M"), "need the date"),
    (lambda: By.time("at", "hour", format="%H:%M %z"), "needs the date"),
    (lambda: By.time("at", "hour", format="%"), "codes of Python's strptime"),
    (lambda: By.time("at", "hour", format="%H %H"), "each once"),
    (lambda: By.time("at", "hour", format="%Y-%m-%d %H:%M %Z"), "no %Z"),
    (lambda: By.time("at", "hour", timezone="localtime"), "no time zone 'localtime'"),
    (lambda: By.time("at", "hour", timezone="right/Europe/Berlin"), "timezone='Europe/Berlin'"),
    (lambda: By.product(By.product(KINDS, MONTHS), HOURS), "not by more"),
    (lambda: By.product(By("a", values=range(101)), By("b", values=range(100))), "more than 10,000"),
    (lambda: By.product(By("a", values=["x", "x / y"]), By("b", values=["y / z", "z"])), "listed twice"),
    (lambda: By.of("kind"), "hg.By"),
    (lambda: By.of([KINDS, "kind"]), "hg.By"),
]


@pytest.mark.parametrize(("make", "words"), REFUSED, ids=[words for _, words in REFUSED])
def test_what_is_refused_says_why(make, words) -> None:
    with pytest.raises(ArgumentError) as refusal:
        make()
    assert words in str(refusal.value)


@pytest.mark.parametrize("zone", ["PST", "BST", "GMT+2", "UTC+02:00", "+0200", "UT+5"])
def test_a_zone_that_is_hours_away_is_not_tried(zone) -> None:
    """Names of letters and numbers are near each other, and the zones are not."""
    with pytest.raises(ArgumentError) as refusal:
        By.time("at", "hour", timezone=zone)
    assert "/" in refusal.value.instead["timezone"]
    assert not refusal.value.instead["timezone"].startswith("Etc/")


RANGES = [("2026-01-05", "2026-03-14"), (None, None), ("2030-05-05", None), (None, "1950-01-01"), ("2199-12-29", None)]


@pytest.mark.parametrize("kind", ["day", "week", "month", "quarter", "year"])
@pytest.mark.parametrize(("start", "end"), RANGES)
def test_a_range_that_is_tried_is_taken(kind, start, end) -> None:
    """With every day of the one that was given, whole periods and both ends."""
    try:
        By.time("at", kind, start=start, end=end)
    except ArgumentError as refusal:
        tried = {"start": start, "end": end, **refusal.instead}
        By.time("at", kind, **tried)
        if start and end:
            assert tried["start"] <= start
            assert tried["end"] >= end


def test_days_are_dates_too() -> None:
    by = By.time("at", "day", start=date(2026, 1, 1), end=date(2026, 1, 3))
    assert by == By.time("at", "day", start="2026-01-01", end="2026-01-03")
