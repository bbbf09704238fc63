"""Turns frames in memory into Arrow tables.

Frames of pandas, polars and whatever else narwhals reads.
"""

from typing import Any

import narwhals as nw
import pyarrow as pa
from narwhals.exceptions import NarwhalsError

from hushgrid.counting.arrow import not_a_number, not_points
from hushgrid.counting.by_slice.slicing import check_slice_names, not_sliceable, slice_texts
from hushgrid.counting.columns import find_columns
from hushgrid.counting.users import check_user_name, id_texts, no_ids
from hushgrid.errors import InputError
from hushgrid.slices.axes import Axis
from hushgrid.slices.by import By

BEYOND_ARROW = (nw.Int128, nw.UInt128)  # whole numbers of polars that Arrow lacks


def arrow_table(
    frame: Any,
    *,
    lon: str | None,
    lat: str | None,
    geometry: str | None,
    user: str | None = None,
    by: By | None = None,
    where: str,
) -> pa.Table:
    """The coordinates, users and slices of a frame, in Arrow.

    Nothing is copied that need not be.

    Examples
    --------
    >>> import polars
    >>> frame = polars.DataFrame({"id": ["a"], "lon": [-73.9], "lat": [40.7]})
    >>> arrow_table(frame, lon=None, lat=None, geometry=None, where="the frame").column_names
    ['lon', 'lat']
    """
    try:
        columns = nw.from_native(frame, eager_only=True)
    except (TypeError, NarwhalsError):
        msg = f"points of type {type(frame).__name__} cannot be read. Give a path, an (n, 2) array, a tuple of "
        msg += "two 1-D arrays, a list of pairs, or a frame of pandas, polars or Arrow with one column of each name."
        raise InputError(msg) from None
    named = {str(name): columns.get_column(name) for name in columns.columns}  # pandas may call a column 0
    names = [str(name) for name in columns.columns]
    chosen = find_columns(names, lon=lon, lat=lat, geometry=geometry, where=where)
    for name in chosen:
        _check_declared(named[name], name, is_geometry=len(chosen) == 1, where=where)
    # Column by column: an index of pandas, whose type may depend on its values, stays out of it.
    refuse = not_points if len(chosen) == 1 else not_a_number
    table = {name: _arrow_column(named[name], refuse(name, _kind(named[name]), where)) for name in chosen}
    if user is not None:
        check_user_name(user, names, coordinates=chosen, where=where)
        table[user] = _user_ids(named[user], user, where)
    if by is not None:
        check_slice_names(by, names, coordinates=chosen, user=user, where=where)
        table |= {axis.column: _slice_values(named[axis.column], axis, where) for axis in by.axes}
    return pa.table(table)


def _check_declared(series: nw.Series[Any], name: str, *, is_geometry: bool, where: str) -> None:
    """Refuse a column by its declared type.

    Before it becomes Arrow: what an object column turns into depends on its values.
    """
    if is_geometry and series.dtype not in (nw.Binary, nw.Struct):
        raise not_points(name, _kind(series), where)
    if not is_geometry and not series.dtype.is_numeric():
        raise not_a_number(name, _kind(series), where)


def _arrow_column(series: nw.Series[Any], refusal: InputError) -> Any:
    """Convert a column to Arrow.

    A type that Arrow lacks is refused, whatever the values.
    """
    if series.dtype in BEYOND_ARROW:
        series = series.cast(nw.Float64)
    try:
        return series.to_arrow()
    except (pa.ArrowException, NotImplementedError):
        raise refusal from None


def _kind(series: nw.Series[Any]) -> object:
    """The declared type as messages show it.

    An enum goes without its categories, which are values.
    """
    return "Enum" if series.dtype == nw.Enum else series.to_native().dtype


def _user_ids(series: nw.Series[Any], name: str, where: str) -> Any:
    """Convert user ids to integers or texts.

    Objects of pandas may hold anything, so they become texts.
    """
    refusal = no_ids(name, _kind(series), where)
    if series.dtype.is_integer():
        # The text of a whole number is its canonical id.
        return _arrow_column(series.cast(nw.String) if series.dtype in BEYOND_ARROW else series, refusal)
    if series.dtype not in (nw.String, nw.Binary, nw.Categorical, nw.Enum, nw.Object):
        raise refusal
    return id_texts(series.to_list())


def _slice_values(series: nw.Series[Any], axis: Axis, where: str) -> Any:
    """Convert a column that tells slices.

    Objects of pandas may hold anything, so they become texts.
    """
    kinds = (nw.String, nw.Categorical, nw.Enum, nw.Object)
    if series.dtype not in kinds and series.dtype not in BEYOND_ARROW:
        return _arrow_column(series, not_sliceable(axis, _kind(series), where))
    return slice_texts(series.to_list())
