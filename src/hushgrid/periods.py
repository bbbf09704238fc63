"""Periods of the calendar: years, quarters, months, weeks and days."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import MAXYEAR, date, timedelta
from typing import Any, Literal, Self

from hushgrid.errors import ArgumentError, quoted

PeriodKind = Literal["year", "quarter", "month", "week", "day"]

# How each kind is written; of two that fit, the longer one is meant.
PATTERNS: dict[PeriodKind, str] = {
    "day": r"(\d{4})-(\d{2})-(\d{2})",
    "week": r"(\d{4})-W(\d{2})",
    "quarter": r"(\d{4})-Q([1-4])",
    "month": r"(\d{4})-(\d{2})",
    "year": r"(\d{4})",
}
ANY = "|".join(rf"(?<![0-9]){pattern}(?![0-9])" for pattern in PATTERNS.values())
EXAMPLES = "2026, 2026-Q1, 2026-03, 2026-W09 or 2026-03-31"


@dataclass(frozen=True, order=True)
class Period:
    """A year, quarter, month, week or day.

    Weeks begin on Monday and are numbered as in ISO 8601.

    Examples
    --------
    >>> march = Period.parse("2026-03")
    >>> march.start, march.stop, march.next
    (datetime.date(2026, 3, 1), datetime.date(2026, 4, 1), Period('2026-04'))
    """

    start: date
    kind: PeriodKind

    @classmethod
    def parse(cls, text: str) -> Self:
        """The period that a text names."""
        found = cls.within(text)
        if found is None or found.name != text:
            msg = f"a period is a year, quarter, month, week or day of the calendar, written as {EXAMPLES}; got "
            msg += f"{quoted(text)}."
            raise ArgumentError(msg)
        return found

    @classmethod
    def within(cls, text: str) -> Self | None:
        """The last period in a text, such as the name of a file.

        Four digits alone are a year only where nothing else is a period: they may be the code of a reference system.

        Examples
        --------
        >>> Period.within("trips-2026-Q1"), Period.within("trips of 2026-13"), Period.within("2026-03-epsg4326")
        (Period('2026-Q1'), None, Period('2026-03'))
        """
        last_first = [match[0] for match in re.finditer(ANY, text)][::-1]
        for written in sorted(last_first, key=str.isdigit):
            for kind, pattern in PATTERNS.items():
                match = re.fullmatch(pattern, written)
                start = _start(kind, [int(number) for number in match.groups()]) if match else None
                if start is not None:
                    return cls(start, kind)
        return None

    def __repr__(self) -> str:
        return f"Period({self.name!r})"

    @property
    def name(self) -> str:
        """How it is written, such as 2026-Q1."""
        start = self.start
        match self.kind:
            case "year":
                return f"{start.year:04}"
            case "quarter":
                return f"{start.year:04}-Q{(start.month + 2) // 3}"
            case "month":
                return f"{start.year:04}-{start.month:02}"
            case "week":
                year, week, _ = start.isocalendar()
                return f"{year:04}-W{week:02}"
            case "day":
                return start.isoformat()

    @property
    def stop(self) -> date:
        """The first day after it."""
        start = self.start
        match self.kind:
            case "day" | "week":
                return start + timedelta(days=1 if self.kind == "day" else 7)
            case kind:
                months = {"month": 1, "quarter": 3, "year": 12}[kind]
                later = start.month - 1 + months
                return date(start.year + later // 12, later % 12 + 1, 1)

    @property
    def next(self) -> "Period":
        """The period after it."""
        return Period(self.stop, self.kind)


@dataclass(frozen=True, kw_only=True)
class PeriodRule:
    """Which records are of a period: by which column, and where.

    Parameters
    ----------
    period : Period
    time : str
        The column of times.
    timezone : str
        Where its days begin and end, such as ``"Europe/Paris"``; UTC if not given.

    Examples
    --------
    >>> PeriodRule.of("2026-03", time="started_at", timezone="Europe/Paris").period.stop
    datetime.date(2026, 4, 1)
    """

    period: Period
    time: str
    timezone: str

    @classmethod
    def of(cls, period: Any, *, time: Any, timezone: Any) -> Self | None:
        """Check the arguments of `hushgrid.publish`; None where there is no period."""
        if period is None:
            for name in (name for name, given in {"time": time, "timezone": timezone}.items() if given is not None):
                msg = f"{name} says which records are of a period, and there is no period."
                raise ArgumentError(msg, instead={"period": "2026-03"})
            return None
        if not isinstance(period, str):
            msg = f"period must be a text such as {EXAMPLES}, got {type(period).__name__}."
            raise ArgumentError(msg)
        found = Period.parse(period)
        if time is None:
            msg = f"period={found.name!r} needs time: the column that says when each record was made."
            raise ArgumentError(msg, instead={"time": "COLUMN"})
        return cls(period=found, time=time, timezone="UTC" if timezone is None else timezone)


def _start(kind: PeriodKind, numbers: list[int]) -> date | None:
    """The first day, or None if there is no such period."""
    year, *rest = numbers
    if year == MAXYEAR:  # its last day has no next one
        return None
    try:
        match kind:
            case "week":
                return date.fromisocalendar(year, rest[0], 1)
            case "quarter":
                return date(year, 3 * rest[0] - 2, 1)
            case _:
                return date(year, *[*rest, 1, 1][:2])
    except ValueError:
        return None


def run_of(first: Period, last: Period) -> Iterator[Period]:
    """All periods from one to another of its kind.

    Examples
    --------
    >>> [period.name for period in run_of(Period.parse("2025-12"), Period.parse("2026-02"))]
    ['2025-12', '2026-01', '2026-02']
    """
    period = first
    while period <= last:
        yield period
        period = period.next
