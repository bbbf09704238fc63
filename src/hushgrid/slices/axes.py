"""One axis of slices: listed values, or local time.

All of it is public and given; nothing here sees a record.
"""

import difflib
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta, timezone
from itertools import islice
from typing import Any, Literal, get_args
from zoneinfo import ZoneInfo, available_timezones

from hushgrid.errors import ArgumentError, quoted
from hushgrid.periods import Period, PeriodKind, run_of
from hushgrid.text import is_shown

MOST_SLICES = 10_000
LONGEST_NAME = 200  # characters
FIRST_YEAR, LAST_YEAR = 1900, 2199  # times outside lie in no slice
OTHER = "other"
OF_ONE_COMPUTER = {"localtime", "posixrules", "posix", "right"}  # zones that are another thing elsewhere, or nothing

TimeKind = Literal["hour", "weekday", "day", "week", "month", "quarter", "year"]
Unit = Literal["seconds", "milliseconds"]

HOURS = tuple(f"{hour:02}" for hour in range(24))
WEEKDAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")


@dataclass(frozen=True)
class ByValues:
    """One slice for each listed value of a column.

    If asked for, one more counts all other values.
    """

    column: str
    values: tuple[str, ...]
    other: bool = False

    def __post_init__(self) -> None:
        _check_column(self.column)
        if not isinstance(self.other, bool):
            msg = f"other must be true or false, got other={quoted(self.other)}."
            raise ArgumentError(msg)
        if not self.values:
            msg = f"by column {quoted(self.column)} needs values: slices are given, never read from the records."
            raise ArgumentError(msg, instead={"values": ["car", "bike", "bus"]})
        for value in self.values:
            _check_name(value)
        check_distinct(self.names)

    @property
    def names(self) -> tuple[str, ...]:
        """The values as listed, then `other`."""
        return (*self.values, OTHER) if self.other else self.values

    def words(self) -> str:
        """What the slices are, without the full stop."""
        rest = "with one slice for every other value" if self.other else "other values are not counted"
        return f"by {self.column} ({_listed(self.values)}; {rest})"

    def to_dict(self) -> dict[str, Any]:
        """All fields, for a file."""
        return {"column": self.column, "values": list(self.values), "other": self.other}


@dataclass(frozen=True)
class ByTime:
    """One slice for each hour of the day, weekday or period.

    Periods are those of a public range. All of it is local time.
    """

    column: str
    kind: TimeKind
    timezone: str = "UTC"
    start: date | None = None
    end: date | None = None
    format: str | None = None
    unit: Unit | None = None

    def __post_init__(self) -> None:
        _check_column(self.column)
        if self.kind not in get_args(TimeKind):
            msg = f"slices of time are {_listed(get_args(TimeKind))}; got {quoted(self.kind)}."
            raise ArgumentError(msg, instead={"slices": "hour"})
        _check_zone(self.timezone)
        _check_range(self)
        if self.unit is not None and self.unit not in get_args(Unit):
            msg = f"whole numbers count {' or '.join(get_args(Unit))} since 1970; got unit={quoted(self.unit)}."
            raise ArgumentError(msg, instead={"unit": "milliseconds" if str(self.unit) == "ms" else "seconds"})
        if self.format is not None:
            _check_format(self.format, self.kind)
            if self.unit is not None:
                msg = "format is for text and unit for whole numbers: give one of the two."
                raise ArgumentError(msg)
        if len(tuple(islice(self._names(), MOST_SLICES + 1))) > MOST_SLICES:
            raise too_many_slices()

    @property
    def names(self) -> tuple[str, ...]:
        """Hours 00 to 23, weekdays Mon to Sun, or periods such as 2026-03."""
        return tuple(self._names())

    @property
    def periods(self) -> tuple[Period, ...]:
        """The periods of the range; none for hours and weekdays."""
        return tuple(self._periods())

    def words(self) -> str:
        """What the slices are, without the full stop."""
        kind = {"hour": "hour of day", "weekday": "day of the week"}.get(self.kind, self.kind)
        within = "" if self.start is None else f", from {self.start} to before {self.end}"
        return f"by {kind} of {self.column} ({self.timezone} time{within})"

    def to_dict(self) -> dict[str, Any]:
        """All fields, for a file."""
        start, end = (None if day is None else day.isoformat() for day in (self.start, self.end))
        return {
            "column": self.column,
            "time": self.kind,
            "timezone": self.timezone,
            "start": start,
            "end": end,
            "format": self.format,
            "unit": self.unit,
        }

    def _names(self) -> Iterator[str]:
        match self.kind:
            case "hour":
                return iter(HOURS)
            case "weekday":
                return iter(WEEKDAYS)
            case _:
                return (period.name for period in self._periods())

    def _periods(self) -> Iterator[Period]:
        if self.kind == "hour" or self.kind == "weekday" or self.start is None or self.end is None:
            return iter(())
        last = Period(self.end, self.kind)
        return (period for period in run_of(Period(self.start, self.kind), last) if period < last)


Axis = ByValues | ByTime


def read_axis(fields: object) -> Axis:
    """One axis of `to_dict`, strictly."""
    if isinstance(fields, Mapping):
        given = dict(fields)
        if set(given) == {"column", "values", "other"}:
            values = given["values"]
            if isinstance(values, list) and all(isinstance(value, str) for value in values):
                return ByValues(given["column"], tuple(values), given["other"])
        if set(given) == {"column", "time", "timezone", "start", "end", "format", "unit"}:
            texts = (given["start"], given["end"], given["format"])
            if all(text is None or isinstance(text, str) for text in texts):
                start, end = day_of("start", given["start"]), day_of("end", given["end"])
                return ByTime(
                    given["column"], given["time"], given["timezone"], start, end, given["format"], given["unit"]
                )
    msg = "an axis of slices has a column with values and other, or a column with the fields of a time."
    raise ArgumentError(msg)


def day_of(name: str, given: date | str | None) -> date | None:
    """A day given as a date or as text."""
    if given is None or (isinstance(given, date) and not isinstance(given, datetime)):
        return given
    try:
        if isinstance(given, str) and len(given) == len("2026-01-31"):
            return date.fromisoformat(given)
    except ValueError:
        pass
    msg = f"{name} must be a day such as 2026-01-31, got {name}={quoted(given)}."
    raise ArgumentError(msg, instead={name: "2027-01-01" if name == "end" else "2026-01-01"})


def _check_column(column: object) -> None:
    if not isinstance(column, str) or not column or not is_shown("".join(column.split())):
        msg = f"slices need the name of a column, in printable text; got {quoted(column)}."
        raise ArgumentError(msg)


def _check_name(name: str) -> None:
    if not name or not is_shown(name) or name != name.strip() or len(name) > LONGEST_NAME:
        msg = (
            f"a value must be printable text of 1 to {LONGEST_NAME} characters, without spaces around it; "
            f"got {quoted(name)}. Records without a value lie in no slice."
        )
        raise ArgumentError(msg)


def check_distinct(names: Sequence[str]) -> None:
    """Refuse a slice that is listed twice, and too many of them."""
    if len(names) > MOST_SLICES:
        raise too_many_slices()
    seen: set[str] = set()
    for name in names:
        if name in seen:
            hint = " other=True (--other) adds this slice by itself." if name == OTHER else ""
            msg = f"slice {quoted(name)} is listed twice: list every value once.{hint}"
            raise ArgumentError(msg)
        seen.add(name)


def _check_zone(name: object) -> None:
    try:
        if isinstance(name, str) and name and name.partition("/")[0] not in OF_ONE_COMPUTER:
            ZoneInfo(name)
            return
    except (KeyError, ValueError, OSError):  # not found; not a name; a folder of zones
        pass
    known = sorted(available_timezones() - OF_ONE_COMPUTER)
    if not known:
        msg = "this computer has no table of time zones: install the package tzdata."
        raise ArgumentError(msg)
    asked = str(name)[:LONGEST_NAME]
    same = [zone for zone in known if zone.lower() == asked.lower()]
    # Of zones that are called by letters and numbers, the nearest name is hours away.
    cities = [zone for zone in known if "/" in zone and not zone.startswith("Etc/")]
    close = same or difflib.get_close_matches(asked, cities, n=1, cutoff=0.5)
    msg = f"there is no time zone {quoted(name)}."
    raise ArgumentError(msg, instead={"timezone": close[0] if close else "Europe/Berlin"})


def _check_range(by: ByTime) -> None:
    """A range has two ends in order, and holds whole periods."""
    if by.start is None or by.end is None:
        if by.kind in get_args(PeriodKind) or by.start is not by.end:
            msg = f"slices by {by.kind} need a public range: start=, its first day, and end=, the day after its last "
            msg += "one (--from, --to)."
            raise ArgumentError(msg, instead=_some_range(by))
        return
    if by.end <= by.start:
        msg = f"end must be later than start, got start={by.start} and end={by.end}. The range stops before end."
        turned = {"start": by.end.isoformat(), "end": by.start.isoformat()}
        raise ArgumentError(msg, instead=turned if by.end < by.start else None)
    if by.start.year < FIRST_YEAR or by.end > date(LAST_YEAR + 1, 1, 1):
        msg = f"times are sliced in the years {FIRST_YEAR} to {LAST_YEAR}, got start={by.start} and end={by.end}."
        raise ArgumentError(msg)
    if by.kind != "hour" and by.kind != "weekday":
        _check_whole_periods(by.kind, by.start, by.end)


def _check_whole_periods(kind: PeriodKind, start: date, end: date) -> None:
    """Both ends of a range are first days of periods.

    The range that is tried instead has all of its days.
    """
    first, last = (Period(_begin(kind, day), kind) for day in (start, end))
    given = {"start": start, "end": end}
    whole = {"start": first.start, "end": end if last.start == end else last.stop}
    wrong = [name for name in given if given[name] != whole[name]]
    if wrong:
        name = wrong[0]
        msg = f"{name} must be the first day of a {kind}, got {name}={given[name]}."
        if name == "end":
            msg += " The range stops before that day."
        raise ArgumentError(msg, instead={name: whole[name].isoformat() for name in wrong})


def _some_range(by: ByTime) -> dict[str, object]:
    """A range to try, with the end of it that was given."""
    year = 2026 if by.end is None else max(by.end.year - 1, FIRST_YEAR)
    start = by.start or date(year, 1, 1)
    end = by.end or date(min(start.year, LAST_YEAR) + 1, 1, 1)
    return {"start": _begin(by.kind, start).isoformat(), "end": _begin(by.kind, end).isoformat()}


def _begin(kind: TimeKind, day: date) -> date:
    """The first day of the period a day lies in."""
    match kind:
        case "week":
            return date.fromordinal(day.toordinal() - day.weekday())
        case "month":
            return day.replace(day=1)
        case "quarter":
            return date(day.year, 3 * ((day.month - 1) // 3) + 1, 1)
        case "year":
            return date(day.year, 1, 1)
        case _:
            return day


def _check_format(format_: object, kind: TimeKind) -> None:
    """A format is one of `strptime` that says what the slices need.

    Names of zones (%Z) are not read: to `strptime` only those of this computer are any, and it does not say which.
    """
    example = datetime(2026, 11, 23, 14, 35, 56, tzinfo=timezone(timedelta(0), "?"))
    try:
        written = example.strftime(format_)  # type: ignore[arg-type]
        back = datetime.strptime(written, format_)  # type: ignore[arg-type]  # noqa: DTZ007 (some have no zone)
    except (ValueError, TypeError, re.error):
        msg = f"a format has the codes of Python's strptime, each once and no %Z, got format={quoted(format_)}."
        raise ArgumentError(msg, instead={"format": "%d.%m.%Y %H:%M"}) from None
    if kind == "hour" and back.hour != example.hour:
        msg = f"slices by hour need the hour in the format, got format={quoted(format_)}."
        raise ArgumentError(msg, instead={"format": "%d.%m.%Y %H:%M"})
    if kind == "hour" and back.tzinfo is not None and back.date() != example.date():
        msg = f"an offset (%z) needs the date in the format, for clocks change; got format={quoted(format_)}."
        raise ArgumentError(msg, instead={"format": "%Y-%m-%d %H:%M %z"})
    if kind != "hour" and _begin(kind, back.date()) != _begin(kind, example.date()):
        msg = f"slices by {kind} need the date in the format, got format={quoted(format_)}."
        raise ArgumentError(msg, instead={"format": "%d.%m.%Y"})


def too_many_slices() -> ArgumentError:
    """What to say of more slices than a release may have."""
    msg = f"there are more than {MOST_SLICES:,} slices: take coarser slices, a shorter range or fewer values."
    return ArgumentError(msg)


def _listed(names: Sequence[str]) -> str:
    """Names for a sentence; of many, the first ones.

    Examples
    --------
    >>> _listed(["car", "bike", "bus"])
    'car, bike and bus'
    """
    if len(names) > 8:
        return f"{', '.join(names[:6])} and {len(names) - 6:,} more"
    *first, last = names
    return f"{', '.join(first)} and {last}" if first else last
