r"""Reads times of any type as local time.

Text is read as a dialect of ISO 8601: ``2026-03-29``, or that and ``T`` or a blank and ``14:05``, ``14:05:30`` or
``14:05:30.25``, and then perhaps a zone: ``Z``, ``UTC``, ``+02``, ``+0200`` or ``+02:00``. A date alone is its
midnight. Another way of writing has to be declared. What cannot be read, and what lies outside the years of
`hushgrid.slices.axes`, is missing; nothing here can fail on a value, and no value changes how another is read.

Slices go by the clocks and the calendar of one time zone. A time with a zone of its own is an instant, and is moved
there; one without is what a clock there showed. So a clock that shows an hour twice, in autumn, has both in one slice.
"""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from zoneinfo import ZoneInfo

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from hushgrid.arrays import Indices
from hushgrid.counting.users import IDS
from hushgrid.slices.axes import FIRST_YEAR, LAST_YEAR, ByTime

MISSING = np.iinfo(np.int64).min
DAY, HOUR = 86_400, 3_600  # seconds
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
UNITS = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}
PER_SECOND = {"seconds": 1, "milliseconds": 10**3}
LONGEST_TIME = 200  # bytes of a time in text

ISO = (
    r"^[ \t]*(?P<year>\d{4})-(?P<month>\d{2})-(?P<day>\d{2})"
    r"(?:[Tt ](?P<hour>\d{2}):(?P<minute>\d{2})(?::(?P<second>\d{2})(?:[.,]\d+)?)?"
    r" ?(?P<zone>[Zz]|UTC|(?P<sign>[+-])(?P<off_hour>\d{2}):?(?P<off_minute>\d{2})?)?)?[ \t\r]*$"
)
WHOLE = r"^[ \t]*(?P<number>-?\d{1,18})[ \t\r]*$"


def local_seconds(axis: ByTime, column: pa.Array) -> Indices:
    """Seconds since 1970 on local clocks, `MISSING` where there is no time.

    Examples
    --------
    >>> berlin = ByTime("at", "hour", "Europe/Berlin")
    >>> seconds = local_seconds(berlin, pa.array(["1970-01-01", "1970-01-01 00:00Z", "soon", None]))
    >>> seconds[:2], (seconds == MISSING).tolist()
    (array([   0, 3600]), [False, False, True, True])
    """
    seconds, is_instant = _read(axis, column)
    early, late = _year_start(FIRST_YEAR), _year_start(LAST_YEAR + 1)
    seconds = np.where((seconds >= early - 2 * DAY) & (seconds < late + 2 * DAY), seconds, MISSING)
    moved = is_instant & (seconds != MISSING)
    seconds[moved] = _on_clocks(seconds[moved], axis.timezone)
    return np.where((seconds >= early) & (seconds < late), seconds, MISSING)


def _read(axis: ByTime, column: pa.Array) -> tuple[Indices, NDArray[np.bool_]]:
    """Seconds of each value, and whether it is an instant."""
    kind, none = column.type, np.zeros(len(column), bool)
    if pa.types.is_timestamp(kind):
        return _floored(column.view(pa.int64()), UNITS[kind.unit]), none | (kind.tz is not None)
    if pa.types.is_date32(kind):
        days = _integers(column.view(pa.int32()).cast(pa.int64()))
        return np.where(days == MISSING, days, days * DAY), none
    if pa.types.is_date64(kind):
        return _floored(column.view(pa.int64()), 1000 * DAY, times=DAY), none
    if axis.unit is not None:
        return _floored(_whole_numbers(column), PER_SECOND[axis.unit]), ~none
    texts = _short_texts(column)
    return _in_iso(texts) if axis.format is None else _in_format(texts, axis.format)


def _short_texts(column: pa.Array) -> pa.Array:
    """Texts as bytes, long ones as null.

    Nobody has looked whether the bytes are text.
    """
    texts = column.cast(IDS)
    return pc.if_else(pc.less_equal(pc.binary_length(texts), LONGEST_TIME), texts, pa.scalar(None, IDS))


def _integers(column: pa.Array) -> Indices:
    return np.asarray(column.fill_null(MISSING).to_numpy(zero_copy_only=False), np.int64)


def _floored(column: pa.Array, size: int, *, times: int = 1) -> Indices:
    whole = _integers(column)
    return np.where(whole == MISSING, MISSING, whole // size * times)


def _whole_numbers(column: pa.Array) -> pa.Array:
    """Whole numbers, of a column of these or of text; others are null."""
    if pa.types.is_integer(column.type):
        if pa.types.is_uint64(column.type):
            column = pc.if_else(pc.less(column, pa.scalar(2**62, pa.uint64())), column, pa.scalar(None, pa.uint64()))
        return column.cast(pa.int64())
    found = pc.extract_regex(_short_texts(column), pattern=WHOLE)
    return pc.struct_field(found, "number").cast(pa.large_string()).cast(pa.int64())


def _in_iso(texts: pa.Array) -> tuple[Indices, NDArray[np.bool_]]:
    """Times in ISO 8601."""
    found = pc.extract_regex(texts, pattern=ISO)
    part = _parts(found)
    month, valid = part("month"), ~found.is_null().to_numpy(zero_copy_only=False)
    valid &= (month >= 1) & (month <= 12)
    months = 12 * (part("year") - 1970) + np.where(valid, month, 1) - 1
    first, after = (_month_start(number) for number in (months, months + 1))
    day, hour, minute, second = (part(name) for name in ("day", "hour", "minute", "second"))
    off_hour, off_minute = part("off_hour"), part("off_minute")
    valid &= (day >= 1) & (day <= after - first) & (hour < 24) & (minute < 60) & (second < 60)
    valid &= (off_hour < 24) & (off_minute < 60)
    seconds = (first + day - 1) * DAY + hour * HOUR + 60 * minute + second
    west = _texts(found, "sign") == b"-"
    offset = np.where(west, -1, 1) * (off_hour * HOUR + off_minute * 60)
    return np.where(valid, seconds - offset, MISSING), _texts(found, "zone") != b""


def _parts(found: pa.Array) -> Callable[[str], Indices]:
    def part(name: str) -> Indices:
        digits = pc.struct_field(found, name)
        digits = pc.if_else(pc.equal(pc.binary_length(digits), 0), pa.scalar(b"0", IDS), digits)
        return np.asarray(digits.cast(pa.large_string()).cast(pa.int64()).fill_null(0).to_numpy(zero_copy_only=False))

    return part


def _texts(found: pa.Array, name: str) -> NDArray[np.bytes_]:
    texts: NDArray[np.bytes_] = pc.struct_field(found, name).fill_null(b"").to_numpy(zero_copy_only=False).astype("S6")
    return texts


def _month_start(months: Indices) -> Indices:
    """First day of each month, in days since 1970.

    Months are counted from January 1970.
    """
    return months.astype("datetime64[M]").astype("datetime64[D]").astype(np.int64)


def _in_format(texts: pa.Array, format_: str) -> tuple[Indices, NDArray[np.bool_]]:
    """Times in a declared format, each different one read once."""
    encoded = texts.dictionary_encode()
    read = [_by_strptime(text, format_) for text in encoded.dictionary.to_pylist()]
    seconds = np.array([*(second for second, _ in read), MISSING], np.int64)
    is_instant = np.array([*(instant for _, instant in read), False], bool)
    places = encoded.indices.fill_null(len(read)).to_numpy(zero_copy_only=False)
    return seconds[places], is_instant[places]


def _by_strptime(text: bytes, format_: str) -> tuple[int, bool]:
    try:
        time = datetime.strptime(text.decode().strip(), format_.strip())  # noqa: DTZ007 (some formats have no zone)
        if time.tzinfo is not None:
            return (time - EPOCH) // timedelta(seconds=1), True
        return (time.replace(tzinfo=UTC) - EPOCH) // timedelta(seconds=1), False
    except (ValueError, OverflowError):
        return MISSING, False


def _on_clocks(instants: Indices, timezone: str) -> Indices:
    """What clocks of a zone show at instants, as seconds since 1970."""
    years = np.unique(instants.astype("datetime64[s]").astype("datetime64[Y]").astype(np.int64)) + 1970
    changes = [change for year in years.tolist() for change in _changes(timezone, year)]
    if not changes:
        return instants
    starts, offsets = np.array(changes, np.int64).T
    return np.asarray(instants + offsets[np.searchsorted(starts, instants, side="right") - 1])


@lru_cache(maxsize=2048)
def _changes(timezone: str, year: int) -> tuple[tuple[int, int], ...]:
    """When clocks of a zone change in a year of UTC.

    Each change is an instant, and the seconds that clocks are ahead from there on.
    """
    zone, first, stop = ZoneInfo(timezone), _year_start(year), _year_start(year + 1)

    def ahead(instant: int) -> int:
        offset = (EPOCH + timedelta(seconds=instant)).astimezone(zone).utcoffset()
        assert offset is not None
        return offset // timedelta(seconds=1)

    changes, last = [(first, ahead(first))], ahead(first)
    for hour in range(first, stop, HOUR):
        after = ahead(min(hour + HOUR, stop - 1))
        if after != last:
            low, high = hour, min(hour + HOUR, stop - 1)  # the change comes after the one, and not after the other
            while high - low > 1:
                middle = (low + high) // 2
                low, high = (middle, high) if ahead(middle) == last else (low, middle)
            changes.append((high, after))
            last = after
    return tuple(changes)


def _year_start(year: int) -> int:
    return (datetime(year, 1, 1, tzinfo=UTC) - EPOCH) // timedelta(seconds=1)
