"""The slice of each record, against plain Python one value at a time."""

from datetime import UTC, date, datetime, timedelta, timezone, tzinfo
from decimal import Decimal
from enum import Enum
from zoneinfo import ZoneInfo

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hushgrid.counting.by_slice.slicing import slice_columns, slice_numbers, slice_texts
from hushgrid.errors import ArgumentError, InputError
from hushgrid.periods import Period
from hushgrid.slices.by import By

ZONES = ["UTC", "Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "Asia/Kolkata", "America/Sao_Paulo"]
RANGES = {"day": ("2026-03-01", "2026-04-15"), "week": ("2025-12-29", "2026-04-06")}
RANGES |= dict.fromkeys(("month", "quarter", "year"), ("2025-01-01", "2027-01-01"))
KINDS = ["hour", "weekday", *RANGES]
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
INDIA = timezone(timedelta(hours=5, minutes=30))


def by_time(kind: str, zone: str, **more) -> By:
    start, end = RANGES.get(kind, (None, None))
    return By.time("at", kind, timezone=zone, start=start, end=end, **more)


def plain_slice(by: By, local: datetime) -> int:
    """The slice of a time on local clocks, by name."""
    (axis,) = by.axes
    match axis.kind:
        case "hour":
            name = f"{local.hour:02}"
        case "weekday":
            name = local.strftime("%a")
        case "week":
            name = "{:04}-W{:02}".format(*local.isocalendar()[:2])
        case "quarter":
            name = f"{local.year:04}-Q{(local.month + 2) // 3}"
        case kind:
            name = local.strftime({"day": "%Y-%m-%d", "month": "%Y-%m", "year": "%Y"}[kind])
    return by.names.index(name) if name in by.names else -1


# Around changes of clocks in spring and autumn, and anywhere in the years that are sliced.
NEAR_CHANGES = st.builds(
    lambda day, seconds: datetime.fromisoformat(day).replace(tzinfo=UTC) + timedelta(seconds=seconds),
    st.sampled_from(["2026-03-29", "2026-10-25", "2026-03-08", "2026-11-01", "2026-04-04", "2017-10-15", "1947-05-11"]),
    st.integers(-86_400, 2 * 86_400),
)
ANYWHERE = st.datetimes(datetime(1900, 1, 3), datetime(2199, 12, 29), timezones=st.just(UTC))  # noqa: DTZ001


@settings(deadline=None)  # the changes of clocks in a year are found once
@given(st.lists(NEAR_CHANGES | ANYWHERE, max_size=20), st.sampled_from(KINDS), st.sampled_from(ZONES))
def test_instants_lie_where_local_clocks_say(instants, kind, zone) -> None:
    by = by_time(kind, zone)
    expected = [plain_slice(by, instant.astimezone(ZoneInfo(zone))) for instant in instants]
    column = pa.array(instants, pa.timestamp("us", tz="Asia/Tokyo"))
    assert slice_numbers(by, {"at": column}).tolist() == expected
    texts = pa.array([instant.astimezone(INDIA).isoformat() for instant in instants], pa.string())
    assert slice_numbers(by, {"at": texts}).tolist() == expected
    as_databases = pa.array([f"{instant:%Y-%m-%d %H:%M:%S} UTC" for instant in instants], pa.string())
    assert slice_numbers(by, {"at": as_databases}).tolist() == expected
    seconds = [(instant - EPOCH) // timedelta(seconds=1) for instant in instants]
    by = by_time(kind, zone, unit="seconds")
    assert slice_numbers(by, {"at": pa.array(seconds, pa.int64())}).tolist() == expected
    assert slice_numbers(by, {"at": pa.array([f" {each}" for each in seconds], pa.string())}).tolist() == expected
    by = by_time(kind, zone, unit="milliseconds")
    assert slice_numbers(by, {"at": pa.array([1000 * each + 999 for each in seconds], pa.int64())}).tolist() == expected


@given(st.lists(st.datetimes(datetime(1900, 1, 1), datetime(2199, 12, 31)), max_size=20), st.sampled_from(KINDS))  # noqa: DTZ001
def test_times_without_a_zone_are_what_clocks_show(times, kind) -> None:
    by = by_time(kind, "Europe/Berlin")
    expected = [plain_slice(by, time) for time in times]
    for unit in ("s", "ms", "us"):
        column = pa.array([time.replace(microsecond=0) for time in times], pa.timestamp(unit))
        assert slice_numbers(by, {"at": column}).tolist() == expected
    assert slice_numbers(by, {"at": pa.array([str(time) for time in times], pa.string())}).tolist() == expected
    by = by_time(kind, "Europe/Berlin", format="%d/%m/%Y %H.%M")
    written = pa.array([time.strftime("%d/%m/%Y %H.%M") for time in times], pa.string())
    assert slice_numbers(by, {"at": written}).tolist() == expected


def test_a_format_may_have_an_offset() -> None:
    """As logs of web servers have; such a time is an instant."""
    by = By.time("at", "hour", timezone="Asia/Kathmandu", format="%d/%b/%Y:%H:%M:%S %z")
    times = ["01/Jul/2026:10:30:00 +0200", "01/Jul/2026:10:30:00 -0030", "01/Jul/2026:10:30:00"]
    assert slice_numbers(by, {"at": pa.array(times)}).tolist() == [14, 16, -1]


def test_blanks_around_a_format_mean_nothing() -> None:
    """As those around a time do."""
    for format_ in ("%H:%M", " %H:%M", "%H:%M ", "\t%H:%M\n"):
        by = By.time("at", "hour", format=format_)
        assert slice_numbers(by, {"at": pa.array(["10:30", " 11:30", "12:30 ", "1 3:30"])}).tolist() == [10, 11, 12, -1]


def test_hours_when_clocks_change() -> None:
    by = By.time("at", "hour", timezone="America/New_York")
    instants = ["2026-03-08T06:59:59Z", "2026-03-08T07:00:00Z", "2026-11-01T05:30:00Z", "2026-11-01T06:30:00Z"]
    assert slice_numbers(by, {"at": pa.array(instants)}).tolist() == [1, 3, 1, 1]
    on_clocks = ["2026-03-08 02:30", "2026-11-01 01:30"]  # one that never was, one that was twice
    assert slice_numbers(by, {"at": pa.array(on_clocks)}).tolist() == [2, 1]


@given(st.lists(st.dates(date(1890, 1, 1), date(2210, 1, 1)), max_size=20))
def test_dates_are_days_of_the_calendar(days) -> None:
    by = By.time("at", "weekday")
    expected = [day.weekday() if 1900 <= day.year <= 2199 else -1 for day in days]
    for kind in (pa.date32(), pa.date64()):
        assert slice_numbers(by, {"at": pa.array(days, kind)}).tolist() == expected
    assert slice_numbers(by, {"at": pa.array([day.isoformat() for day in days], pa.string())}).tolist() == expected


def test_slices_follow_the_calendar_without_gaps() -> None:
    by = By.time("at", "quarter", start="2025-01-01", end="2027-01-01")
    days = np.arange("2024-12-25", "2027-01-10", dtype="datetime64[D]")
    names = ["" if n < 0 else by.names[n] for n in slice_numbers(by, {"at": pa.array(days)})]
    for day, name in zip(days.tolist(), names, strict=True):
        if name:
            assert Period.parse(name).start <= day < Period.parse(name).stop
        else:
            assert not date(2025, 1, 1) <= day < date(2027, 1, 1)


ODD = [
    "",
    " ",
    "now",
    "2026-",
    "2026-1-1",
    "2026-02-30",
    "2026-00-01",
    "2026-13-01",
    "2026-01-01T24:00",
    "2026-01-01T1:00",
]
ODD += ["2026-01-01T10:60", "2026-01-01T10:00:60", "2026-01-01T10:00+24:00", "2026-01-01T10:00+1", "0000-01-01T10:00"]
ODD += [
    "9999-12-31T23:59:59",
    "20260101T100000",
    "2026-01-01T10:00:00Z junk",
    "2026-01-01T10",
    "\u0662\u0660\u0662\u0666-01-01",
    "9" * 99,
]


@pytest.mark.parametrize("more", [{}, {"unit": "seconds"}, {"unit": "milliseconds"}, {"format": "%Y-%m-%d %H"}])
@pytest.mark.parametrize("odd", ODD)
def test_a_strange_time_lies_in_no_slice_and_touches_no_other(odd, more) -> None:
    good = {"seconds": "36000", "milliseconds": "36000000"}.get(more.get("unit", ""), "1970-01-01 10")
    good = good if more else "1970-01-01T10:00"
    by = By.time("at", "hour", **more)
    assert slice_numbers(by, {"at": pa.array([good, odd, None, good])}).tolist() == [10, -1, -1, 10]


@given(
    st.lists(st.binary(max_size=30) | st.none(), max_size=20),
    st.sampled_from([{}, {"unit": "seconds"}, {"format": "%H"}]),
)
def test_bytes_that_are_no_text_raise_nothing(values, more) -> None:
    raw = pa.array(values, pa.large_binary())
    column = pa.Array.from_buffers(pa.large_string(), len(raw), raw.buffers())
    assert len(slice_numbers(By.time("at", "hour", **more), {"at": column})) == len(values)
    by = By("kind", values=["0"], other=True)
    expected = [-1 if not value else 0 if value == b"0" else 1 for value in values]
    assert slice_numbers(by, {"kind": column}).tolist() == expected


@settings(deadline=None)  # the changes of clocks in a year are found once
@given(st.lists(st.integers(-(2**63), 2**63 - 1) | st.none(), max_size=20))
def test_any_whole_number_may_be_a_time(values) -> None:
    for unit in ("seconds", "milliseconds"):
        numbers = slice_numbers(By.time("at", "hour", unit=unit), {"at": pa.array(values, pa.int64())})
        assert ((numbers >= -1) & (numbers < 24)).all()
    positive = [None if value is None else value % 2**64 for value in values]
    slice_numbers(By.time("at", "hour", unit="seconds"), {"at": pa.array(positive, pa.uint64())})
    for unit in ("s", "ms", "us", "ns"):
        slice_numbers(By.time("at", "hour"), {"at": pa.array(values, pa.int64()).cast(pa.timestamp(unit))})


@pytest.mark.parametrize("other", [False, True])
def test_values_of_every_type(other) -> None:
    rest = 2 if other else -1
    by = By("kind", values=["3", "-1"], other=other)
    expected = [0, 1, rest, -1]
    for column in (
        pa.array(["3", "-1", "5", None]),
        pa.array(["3", "-1", "5", ""]),
        pa.array([3, -1, 5, None], pa.int8()),
        pa.array([3, -1, 5, None], pa.int64()),
        pa.array(["3", "-1", "5", None]).dictionary_encode(),
        pa.array([3, -1, 5, None], pa.int32()).dictionary_encode(),
        pa.array(["3", "-1", "5", None], pa.string_view()),
        pa.array(["x", "3", "-1", "5", None]).slice(1),
    ):
        assert slice_numbers(by, {"kind": column}).tolist() == expected
    flags = By("kind", values=[False], other=other)
    assert slice_numbers(flags, {"kind": pa.array([True, False, None])}).tolist() == [1 if other else -1, 0, -1]


class Nowhere(tzinfo):
    """A zone that cannot be told."""

    def utcoffset(self, _when):
        """Fail, as code of anybody may."""
        raise RuntimeError


class Wheels(int, Enum):
    """Whole numbers with names."""

    TWO = 2


class Kind(str, Enum):  # noqa: UP042  # as people write it
    """Texts with names."""

    CAR = "car"


def test_objects_of_python_tell_slices_by_their_own_type() -> None:
    """Missing values and spans of time tell none, and none is an error."""
    odd = [pd.NaT, pd.NA, np.datetime64("NaT"), np.timedelta64("NaT"), np.timedelta64(2, "s"), float("nan"), 2.0]
    odd += [datetime(2026, 1, 1, tzinfo=Nowhere()), datetime(1, 1, 1, tzinfo=INDIA), Decimal(2), 2**130]
    by = By("kind", values=list(Kind) + list(Wheels) + ["2026-01-01"], other=True)
    assert by.names == ("car", "2", "2026-01-01", "other")
    values = [Kind.CAR, Wheels.TWO, date(2026, 1, 1), "\ud800", *odd]
    assert slice_numbers(by, {"kind": slice_texts(values)}).tolist() == [0, 1, 2, 3] + [-1] * len(odd)


def test_objects_of_python_are_instants_if_they_have_a_zone() -> None:
    """Offsets had seconds once, which text in ISO 8601 has not; a clock that is set back shows an hour twice."""
    zones = ("Europe/Amsterdam", "Asia/Kolkata", "America/New_York", "Australia/Lord_Howe")
    clocks = [datetime(1935, 7, 1, 12), datetime(2026, 11, 1, 1, 30), datetime(2026, 11, 1, 1, 30, fold=1)]  # noqa: DTZ001
    times = [clock.replace(tzinfo=ZoneInfo(zone)) for clock in clocks for zone in zones]
    by = By.time("at", "hour", timezone="UTC")
    expected = [plain_slice(by, time.astimezone(UTC)) for time in times]
    assert slice_numbers(by, {"at": slice_texts(times)}).tolist() == expected
    assert slice_numbers(by, {"at": slice_texts(clocks)}).tolist() == [12, 1, 1]


def test_a_product_is_in_no_slice_where_either_is_not() -> None:
    by = By.product(By("kind", values=["a", "b"]), By.time("at", "weekday"))
    kinds = pa.array(["a", "b", "b", "c", None])
    days = pa.array(["2026-01-05", "2026-01-06", None, "2026-01-06", "2026-01-06"])
    numbers = slice_numbers(by, {"kind": kinds, "at": days})
    assert numbers.tolist() == [by.names.index("a / Mon"), by.names.index("b / Tue"), -1, -1, -1]


MONTHS = pa.array(pd.period_range("2026-01", periods=3, freq="M"))  # to Arrow whole numbers, of months since 1970

REFUSED = [
    (By("at", values=["a"]), pa.float64(), "need text, whole numbers or booleans"),
    (By("at", values=["a"]), pa.timestamp("s"), "need text, whole numbers or booleans"),
    (By("at", values=["a"]), pa.int32(), "'a' cannot be one of its values"),
    (By("at", values=["01"]), pa.int32(), "'01' cannot be one"),
    (By("at", values=["yes"]), pa.bool_(), "'yes' cannot be one of its values. List true and false"),
    (By("at", values=["5.0"]), pa.int8(), "'5.0' cannot be one of its values. List whole numbers, such as 5"),
    (By("at", values=["5"]), MONTHS.type, "has type extension<pandas.period"),
    (By.time("at", "hour", unit="seconds"), MONTHS.type, "has type extension<pandas.period"),
    (By.time("at", "hour"), pa.float64(), "need timestamps"),
    (By.time("at", "hour"), pa.int64(), "unit='seconds'"),
    (By.time("at", "hour"), pa.date32(), "have no hour"),
    (By.time("at", "hour", unit="seconds"), pa.timestamp("s"), "no format and no unit"),
    (By.time("at", "hour", format="%H"), pa.int64(), "unit='seconds'"),
]


@pytest.mark.parametrize(("by", "kind", "words"), REFUSED)
def test_a_column_of_another_type_is_refused_by_its_schema(by, kind, words) -> None:
    schema = pa.schema({"lon": pa.float64(), "lat": pa.float64(), "at": kind})
    with pytest.raises(InputError, match=words):
        slice_columns(schema, by, coordinates=["lon", "lat"], user=None, where="trips")


def test_a_column_that_is_not_there_is_refused() -> None:
    schema = pa.schema({"lon": pa.float64(), "lat": pa.float64(), "kind": pa.string()})
    with pytest.raises(InputError, match="Did you mean 'kind'"):
        slice_columns(schema, By("kinds", values=["a"]), coordinates=["lon", "lat"], user=None, where="trips")
    with pytest.raises(ArgumentError, match="column of coordinates"):
        slice_columns(schema, By("lon", values=["a"]), coordinates=["lon", "lat"], user=None, where="trips")
    with pytest.raises(ArgumentError, match="column of user ids"):
        slice_columns(schema, By("kind", values=["a"]), coordinates=["lon", "lat"], user="kind", where="trips")
