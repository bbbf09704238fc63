"""How records are divided into slices: by value, by time or by both.

The list of slices is public and given; nothing here sees a record. Every slice is released, empty or not.
"""

from collections.abc import Iterable, Sequence
from collections.abc import Set as AbstractSet
from contextlib import suppress
from dataclasses import dataclass
from datetime import date
from typing import Any, Self

import numpy as np

from hushgrid.errors import ArgumentError, quoted
from hushgrid.slices.axes import (
    MOST_SLICES,
    Axis,
    ByTime,
    ByValues,
    TimeKind,
    Unit,
    check_distinct,
    day_of,
    read_axis,
    too_many_slices,
)

BETWEEN = " / "  # between the two names of a slice of a product


@dataclass(frozen=True, init=False)
class By:
    """How records are divided into slices.

    A record lies in at most one slice. What lies in none is not counted.

    Parameters
    ----------
    column : str
        Column of the points: text, whole numbers or booleans.
    values : sequence of str, int or bool
        One slice each, in this order. `5` and `"5"` are the same value, so are `True` and `"true"`.
    other : bool
        Count all other values in one more slice, `other`. A missing value still lies in no slice.

    Examples
    --------
    >>> By("kind", values=["car", "bike"], other=True).names
    ('car', 'bike', 'other')
    >>> By.time("started_at", "month", start="2026-01-01", end="2026-04-01").names
    ('2026-01', '2026-02', '2026-03')
    """

    axes: tuple[Axis, ...]

    def __init__(self, column: str, *, values: Sequence[str | int], other: bool = False) -> None:
        if isinstance(values, str | bytes | AbstractSet) or not isinstance(values, Iterable):
            msg = f"values must be a list, in the order of the slices; got values={quoted(values)}."
            raise ArgumentError(msg, instead={"values": [values]} if isinstance(values, str | int) else None)
        axis = ByValues(column, tuple(_value_text(value) for value in values), other)
        object.__setattr__(self, "axes", (axis,))

    @classmethod
    def time(
        cls,
        column: str,
        slices: TimeKind,
        *,
        timezone: str = "UTC",
        start: date | str | None = None,
        end: date | str | None = None,
        format: str | None = None,  # noqa: A002 (the name is fixed)
        unit: Unit | None = None,
    ) -> Self:
        """Slices of time, on the clocks and calendar of a time zone.

        Parameters
        ----------
        column : str
            Column of the points: timestamps, dates, or text in ISO 8601.
        slices : {"hour", "weekday", "day", "week", "month", "quarter", "year"}
            Hour of the day and day of the week, or the days, weeks, … of a range.
        timezone : str
            Such as Europe/Berlin. Times without a zone of their own are read as local times there.
        start, end : date or str, optional
            The first day, and the day after the last one. Days, weeks, … need them.
        format : str, optional
            How times are written, in the codes of Python's `strptime`, if not in ISO 8601.
        unit : {"seconds", "milliseconds"}, optional
            Times are whole numbers, counted from 1970-01-01 00:00 UTC.
        """
        return cls._of((ByTime(column, slices, timezone, day_of("start", start), day_of("end", end), format, unit),))

    @classmethod
    def product(cls, first: "By", second: "By") -> Self:
        """Every slice of one within every slice of another.

        Examples
        --------
        >>> kinds = By("kind", values=["car", "bike"])
        >>> By.product(kinds, By.time("started_at", "weekday")).names[:2]
        ('car / Mon', 'car / Tue')
        """
        axes = (*first.axes, *second.axes)
        if len(axes) != 2:
            msg = "slices can be by one column or by two, not by more."
            raise ArgumentError(msg)
        if len(axes[0].names) * len(axes[1].names) > MOST_SLICES:
            raise too_many_slices()
        by = cls._of(axes)
        check_distinct(by.names)
        return by

    @classmethod
    def of(cls, given: "By | Sequence[By]") -> "By":
        """The slices that `by=` gives: one `By`, or two for their product."""
        match given:
            case By():
                return given
            case [By() as one]:
                return one
            case [By() as first, By() as second]:
                return cls.product(first, second)
        msg = f"by must be hg.By(…), hg.By.time(…), or a list of two of them; got {quoted(given)}."
        raise ArgumentError(msg)

    @property
    def names(self) -> tuple[str, ...]:
        """All slices, in order."""
        if len(self.axes) == 1:
            return self.axes[0].names
        first, second = self.axes
        return tuple(f"{one}{BETWEEN}{two}" for one in first.names for two in second.names)

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that are read, each once."""
        return tuple(dict.fromkeys(axis.column for axis in self.axes))

    def words(self) -> str:
        """What the slices are, in one sentence.

        Examples
        --------
        >>> print(By.time("started_at", "hour", timezone="Europe/Berlin").words())
        By hour of day of started_at (Europe/Berlin time).
        """
        words = " and ".join(axis.words() for axis in self.axes)
        return f"{words[0].upper()}{words[1:]}."

    def to_dict(self) -> dict[str, Any]:
        """All fields, as JSON can hold them.

        Examples
        --------
        >>> By("kind", values=["car"]).to_dict()
        {'axes': [{'column': 'kind', 'values': ['car'], 'other': False}]}
        """
        return {"axes": [axis.to_dict() for axis in self.axes]}

    @classmethod
    def from_dict(cls, fields: object) -> Self:
        """The slices that `to_dict` described; anything else is refused."""
        axes = fields.get("axes") if isinstance(fields, dict) and set(fields) == {"axes"} else None
        if not isinstance(axes, list) or len(axes) not in (1, 2):
            msg = "slices are described by one or two axes."
            raise ArgumentError(msg)
        read = [cls._of((read_axis(axis),)) for axis in axes]
        return read[0] if len(read) == 1 else cls.product(*read)

    @classmethod
    def _of(cls, axes: tuple[Axis, ...]) -> Self:
        by = cls.__new__(cls)
        object.__setattr__(by, "axes", axes)
        return by


def _value_text(value: object) -> str:
    """A listed value as slices are named."""
    match value:
        case bool() | np.bool_():
            return "true" if value else "false"
        case str():
            return str.__str__(value)  # of a member of an enumeration, what records hold
        case np.timedelta64():
            pass  # to numpy it is a whole number
        case int() | np.integer():
            with suppress(ValueError):  # of thousands of digits
                return str(int(value))
    msg = f"values must be text, whole numbers or booleans; got {quoted(value)}."
    raise ArgumentError(msg)
