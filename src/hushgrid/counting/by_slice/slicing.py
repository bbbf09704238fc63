"""The slice of each record, from the columns that tell it.

What is done with a column depends on its declared type and on the list of slices alone. Nothing here can fail on a
value: a record whose value is missing, unreadable or not listed lies in no slice, and changes nothing for others.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from hushgrid.counting.by_slice.times import DAY, HOUR, MISSING, local_seconds
from hushgrid.counting.columns import is_text, listing, nearest_name, plain_type
from hushgrid.errors import ArgumentError, InputError, quoted
from hushgrid.slices.axes import Axis, ByTime, ByValues
from hushgrid.slices.by import By

NO_SLICE = -1
THURSDAY = 3  # the first day of 1970
Numbers = NDArray[np.int32]


@dataclass(frozen=True)
class SliceColumns:
    """The columns that tell the slice of a record."""

    by: By

    @property
    def names(self) -> list[str]:
        """Columns to read."""
        return list(self.by.columns)

    def numbers(self, batch: pa.RecordBatch) -> Numbers:
        """Slices of a batch, -1 where a record lies in none."""
        return slice_numbers(self.by, {name: batch.column(name) for name in self.by.columns})


def slice_columns(
    schema: pa.Schema, by: By | None, *, coordinates: Sequence[str], user: str | None, where: str
) -> SliceColumns | None:
    """The columns of slices, by the schema alone.

    None where there are no slices.
    """
    if by is None:
        return None
    check_slice_names(by, schema.names, coordinates=coordinates, user=user, where=where)
    for axis in by.axes:
        kind = schema.field(axis.column).type
        if isinstance(kind, pa.BaseExtensionType) and pa.types.is_integer(kind.storage_type):
            raise not_sliceable(axis, kind, where)  # such as periods of pandas, whose numbers count months, say
        check_slice_type(axis, plain_type(kind), where)
    return SliceColumns(by)


def check_slice_names(
    by: By,
    names: Sequence[str],
    *,
    coordinates: Sequence[str],
    user: str | None,
    where: str,
    unlisted: str | None = None,
) -> None:
    """Refuse names that cannot be columns of slices.

    Each must be there once, and hold neither coordinates nor users. `unlisted` is as for `find_columns`.
    """
    for name in by.columns:
        if name in coordinates or name == user:
            what = "user ids" if name == user else "coordinates"
            msg = f"slices and periods cannot be by {name!r}, which is the column of {what}. Name another, or copy it."
            raise ArgumentError(msg)
        if name not in names:
            near = nearest_name(name, [known for known in names if known not in coordinates])
            hint = "" if near is None else f" Did you mean {near!r}?"
            msg = f"{where} has no column {name!r}.{hint} "
            raise InputError(msg + (listing(names) if unlisted is None else unlisted))
        if list(names).count(name) > 1:
            msg = f"{where} has more than one column {name!r}. Rename all but one."
            raise InputError(msg)


def check_slice_type(axis: Axis, kind: pa.DataType, where: str) -> None:
    """Refuse a column of another type than its slices need."""
    if isinstance(axis, ByValues):
        _check_type_of_values(axis, kind, where)
    else:
        _check_type_of_times(axis, kind, where)


def _check_type_of_values(axis: ByValues, kind: pa.DataType, where: str) -> None:
    if is_text(kind):
        return
    if not (pa.types.is_integer(kind) or pa.types.is_boolean(kind)):
        raise not_sliceable(axis, kind, where)
    for value in axis.values:
        if not (_is_whole(value) if pa.types.is_integer(kind) else value in ("true", "false")):
            msg = f"column {axis.column!r} of {where} has type {kind}, so that {quoted(value)} cannot be one of its "
            msg += f"values. List {'whole numbers, such as 5' if pa.types.is_integer(kind) else 'true and false'}."
            raise InputError(msg)


def _check_type_of_times(axis: ByTime, kind: pa.DataType, where: str) -> None:
    if pa.types.is_timestamp(kind) or pa.types.is_date(kind):
        if axis.unit is not None or axis.format is not None:
            msg = f"column {axis.column!r} of {where} has type {kind}: its times need no format and no unit. Leave "
            msg += "them out."
            raise InputError(msg)
        if axis.kind == "hour" and pa.types.is_date(kind):
            msg = f"column {axis.column!r} of {where} holds dates, which have no hour. Name a column of times, or "
            msg += "take slices by weekday, day, week, month, quarter or year."
            raise InputError(msg)
    elif pa.types.is_integer(kind):
        if axis.unit is None:
            msg = f"column {axis.column!r} of {where} has type {kind}. For slices, say what it counts since 1970: "
            msg += "unit='seconds' or 'milliseconds' (--time-unit s or ms). To choose a period, write its times as "
            msg += "timestamps, dates or text in ISO 8601."
            may_be_a_period = axis.start is not None and len(axis.periods) == 1  # which takes no unit
            raise InputError(msg, instead={} if may_be_a_period else {"unit": "seconds"})
    elif not is_text(kind):
        raise not_sliceable(axis, kind, where)


def not_sliceable(axis: Axis, kind: object, where: str) -> InputError:
    """Error for a column whose declared type cannot tell a slice."""
    wanted = "text, whole numbers or booleans"
    if isinstance(axis, ByTime):
        wanted = "timestamps, dates, text in ISO 8601 or in a given format, or whole numbers with a unit"
    msg = f"column {axis.column!r} of {where} has type {kind}; slices by {axis.column} need {wanted}. Convert the "
    msg += "column where the data is written; pandas keeps whole numbers with gaps as 'Int64'."
    return InputError(msg)


def slice_numbers(by: By, columns: Mapping[str, pa.Array]) -> Numbers:
    """Number of the slice of each record, -1 for none.

    Numbers are places in ``by.names``.

    Parameters
    ----------
    columns : mapping of str to Array
        The columns of `by`, all of one length.

    Examples
    --------
    >>> by = By("kind", values=["car", "bike"], other=True)
    >>> slice_numbers(by, {"kind": pa.array(["bike", "bus", None, "car"])})
    array([ 1,  2, -1,  0], dtype=int32)
    """
    first, *rest = (_axis_numbers(axis, columns[axis.column]) for axis in by.axes)
    for axis, numbers in zip(by.axes[1:], rest, strict=True):
        inner = len(axis.names)
        first = np.where((first >= 0) & (numbers >= 0), first * np.int32(inner) + numbers, np.int32(NO_SLICE))
    return first


def _axis_numbers(axis: Axis, column: pa.Array) -> Numbers:
    if isinstance(column, pa.ExtensionArray):
        column = column.storage
    numbers: Callable[[pa.Array], Numbers]
    numbers = _numbers_of_values(axis) if isinstance(axis, ByValues) else _numbers_of_times(axis)
    if not isinstance(column, pa.DictionaryArray):
        return numbers(column)
    of_values = np.append(_axis_numbers(axis, column.dictionary), np.int32(NO_SLICE))
    places = column.indices.cast(pa.int64()).fill_null(len(column.dictionary))
    return np.asarray(of_values[places.to_numpy(zero_copy_only=False)], np.int32)


def _numbers_of_values(axis: ByValues) -> Callable[[pa.Array], Numbers]:
    listed = pa.array([value.encode() for value in axis.values], pa.large_binary())

    def numbers(column: pa.Array) -> Numbers:
        if not is_text(column.type):
            column = column.cast(pa.large_string())  # whole numbers and booleans, as they are listed
        texts = column.cast(pa.large_binary())  # bytes, because nobody has looked whether they are text
        found = pc.index_in(texts, value_set=listed)
        if axis.other:
            has_value = pc.greater(pc.binary_length(texts), 0)  # null where the value is
            unlisted = pa.scalar(len(axis.values), pa.int32())
            found = pc.if_else(pc.fill_null(has_value, False), pc.fill_null(found, unlisted), NO_SLICE)
        return np.asarray(pc.fill_null(found, NO_SLICE).to_numpy(zero_copy_only=False), np.int32)

    return numbers


def _numbers_of_times(axis: ByTime) -> Callable[[pa.Array], Numbers]:
    starts = np.array([period.start for period in axis.periods], "datetime64[D]").astype(np.int64)

    def numbers(column: pa.Array) -> Numbers:
        seconds = local_seconds(axis, column)
        days = seconds // DAY
        match axis.kind:
            case "hour":
                found = seconds // HOUR % 24
            case "weekday":
                found = (days + THURSDAY) % 7
            case _:
                found = np.searchsorted(starts, days, side="right") - 1
        inside = seconds != MISSING
        if axis.start is not None and axis.end is not None:
            low, high = np.array([axis.start, axis.end], "datetime64[D]").astype(np.int64)
            inside &= (days >= low) & (days < high)
        return np.where(inside, found, NO_SLICE).astype(np.int32)

    return numbers


def slice_texts(values: Iterable[Any]) -> pa.LargeStringArray:
    """Objects of Python as text, each by its own type; null where one cannot tell a slice.

    Examples
    --------
    >>> slice_texts(["car", True, 5, 1.5, b"car", date(2026, 3, 31)]).to_pylist()
    ['car', 'true', '5', None, None, '2026-03-31']
    """
    return pa.array([_slice_text(value) for value in values], pa.large_string())


def _slice_text(value: Any) -> str | None:
    match value:
        case bool() | np.bool_():
            return "true" if value else "false"
        case str():
            return value.encode(errors="replace").decode()  # half a surrogate pair is no text of Arrow
        case np.timedelta64():
            return None  # to numpy it is a whole number
        case int() | np.integer():
            return str(int(value)) if abs(int(value)) < 2**127 else None
        case date():
            return _time_text(value)
        case _:
            return None


def _time_text(time: date) -> str | None:
    """A date or time in ISO 8601.

    An instant is in UTC, because offsets of old clocks have seconds. None for the missing time of pandas, and for one
    that cannot be told: a zone may be any object of Python.
    """
    try:
        if time != time:  # as the missing one is
            return None
        if isinstance(time, datetime) and time.utcoffset() is not None:
            time = time.astimezone(UTC)
        return time.isoformat()
    except Exception:  # noqa: BLE001  # of that object
        return None


def _is_whole(value: str) -> bool:
    digits = value.removeprefix("-")
    return digits.isascii() and digits.isdigit() and (digits == "0" or not digits.startswith("0")) and value != "-0"
