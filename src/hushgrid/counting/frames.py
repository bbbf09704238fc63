"""Frames of pandas, polars and whatever else narwhals holds in memory, as Arrow tables."""

from typing import Any

import narwhals as nw
import pyarrow as pa
from narwhals.exceptions import NarwhalsError

from hushgrid.counting.arrow import not_a_number, not_points
from hushgrid.counting.columns import find_columns
from hushgrid.counting.users import check_user_name, ids_of_values, no_ids
from hushgrid.errors import InputError


def arrow_table(
    frame: Any, *, lon: str | None, lat: str | None, geometry: str | None, user: str | None = None, where: str
) -> pa.Table:
    """The columns of coordinates and users of a frame as an Arrow table, without a copy where none is needed.

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
    chosen = find_columns([str(name) for name in columns.columns], lon=lon, lat=lat, geometry=geometry, where=where)
    for name in chosen:
        _check_declared(columns[name], name, is_geometry=len(chosen) == 1, where=where)
    # Column by column: an index of pandas, whose type may depend on its values, stays out of it.
    table = {name: columns[name].to_arrow() for name in chosen}
    if user is not None:
        check_user_name(user, [str(name) for name in columns.columns], coordinates=chosen, where=where)
        table[user] = _user_ids(columns[user], user, where)
    return pa.table(table)


def _check_declared(series: nw.Series[Any], name: str, *, is_geometry: bool, where: str) -> None:
    """Refuse a column before it becomes Arrow: what an object column turns into depends on its values."""
    native = series.to_native().dtype
    if is_geometry and series.dtype not in (nw.Binary, nw.Struct):
        raise not_points(name, native, where)
    if not is_geometry and not series.dtype.is_numeric():
        raise not_a_number(name, native, where)


def _user_ids(series: nw.Series[Any], name: str, where: str) -> Any:
    """Ids as Arrow has them: integers as they are, else texts, since objects of pandas may hold anything."""
    if series.dtype.is_integer():
        return series.to_arrow()
    if series.dtype not in (nw.String, nw.Binary, nw.Categorical, nw.Enum, nw.Object):
        raise no_ids(name, series.to_native().dtype, where)
    # Canonical bytes are text, which stays as it is when it becomes canonical once more.
    return ids_of_values(series.to_list()).cast(pa.large_string(), safe=False)
