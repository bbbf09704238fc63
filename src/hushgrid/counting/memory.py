"""Points in arrays and frames in memory.

They are used as they are, without a copy: data that is changed while it is being published breaks the rule that every
pass reads the same rows.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from hushgrid.counting.arrow import PointColumns, arrow_schema, point_columns
from hushgrid.counting.by_slice.slicing import SliceColumns, slice_columns
from hushgrid.counting.columns import PointSchema
from hushgrid.counting.source import Block, rows_state
from hushgrid.counting.users import UserColumn, user_column
from hushgrid.errors import InputError
from hushgrid.slices.by import By

PART_ROWS = 2**20
FRAME = "the frame"


class ArrayPoints:
    """Points in one numpy array or in two.

    An array of shape (n, 2) holds longitude and latitude; a tuple holds two 1-D arrays.

    Examples
    --------
    >>> ArrayPoints(np.array([[-73.9, 40.7], [-74.0, 40.6]])).rows()
    2
    """

    def __init__(
        self,
        points: NDArray[np.generic] | tuple[NDArray[np.generic], ...],
        *,
        users: pa.LargeBinaryArray | None = None,
        slices: NDArray[np.int32] | None = None,
    ) -> None:
        columns = _split(points) if isinstance(points, np.ndarray) else _check_pair(points)
        self._longitudes, self._latitudes = (_check_column(column) for column in columns)
        if self._longitudes.size != self._latitudes.size:
            msg = "the arrays of longitudes and latitudes must have the same length."
            raise InputError(msg)
        if users is not None and len(users) != self._longitudes.size:
            msg = "user must hold one id for each point, but its length is another."
            raise InputError(msg)
        self._users = users
        self._slices = slices

    @classmethod
    def of_rows(cls, points: Sequence[Any], *, users: pa.LargeBinaryArray | None = None) -> Self:
        """Points in a list of pairs.

        A list declares no type, so whatever is not a pair of numbers is not a point.

        Examples
        --------
        >>> ArrayPoints.of_rows([(-73.9, 40.7), None, (-74.0,)]).rows()
        3
        """
        return cls(np.array([_pair(row) for row in points], np.float64).reshape(-1, 2), users=users)

    @property
    def schema(self) -> PointSchema:
        """Arrays have no columns with names."""
        return PointSchema(form="arrays in memory")

    def rows(self) -> int:
        """Number of rows."""
        return self._longitudes.size

    def parts(self) -> Sequence["ArraySlice"]:
        """Slices of the arrays."""
        return [
            ArraySlice(self._longitudes, self._latitudes, first, self._users, self._slices)
            for first in range(0, self.rows(), PART_ROWS)
        ]

    def check_unchanged(self) -> None:
        """Accept arrays as they are."""

    def state(self) -> bytes:
        """Digest of every point and id."""
        return rows_state(self.parts())


@dataclass(frozen=True, repr=False, eq=False)
class ArraySlice:
    """A few rows of two arrays."""

    longitudes: NDArray[np.generic]
    latitudes: NDArray[np.generic]
    first: int
    users: pa.LargeBinaryArray | None
    slices: NDArray[np.int32] | None

    def __iter__(self) -> Iterator[Block]:
        rows = slice(self.first, self.first + PART_ROWS)
        longitudes, latitudes = _unmasked(self.longitudes[rows]), _unmasked(self.latitudes[rows])
        users = None if self.users is None else self.users.slice(self.first, PART_ROWS)
        slices = None if self.slices is None else self.slices[rows]
        yield Block.of(longitudes, latitudes, longitudes.size / self.longitudes.size, users, slices)


class TablePoints:
    """Points, users and slices in an Arrow table."""

    def __init__(
        self,
        table: pa.Table,
        columns: PointColumns,
        user: UserColumn | None = None,
        slices: SliceColumns | None = None,
    ) -> None:
        ids = [] if user is None else [user.name]
        self._table = table.select([*columns.names, *ids, *(() if slices is None else slices.names)])
        self._columns = columns
        self._user = user
        self._slices = slices

    @classmethod
    def of_frame(
        cls,
        frame: Any,
        *,
        crs: str,
        lon: str | None = None,
        lat: str | None = None,
        geometry: str | None = None,
        user: str | None = None,
        by: By | None = None,
    ) -> Self:
        """Points in a frame of pandas, polars or Arrow."""
        if isinstance(frame, pa.Table):
            table = frame
        else:
            from hushgrid.counting.frames import arrow_table  # narwhals is slow to import

            table = arrow_table(frame, lon=lon, lat=lat, geometry=geometry, user=user, by=by, where=FRAME)
        columns = point_columns(table.schema, crs=crs, lon=lon, lat=lat, geometry=geometry, where=FRAME)
        ids = None if user is None else user_column(table.schema, user, coordinates=columns.names, where=FRAME)
        slices = slice_columns(table.schema, by, coordinates=columns.names, user=user, where=FRAME)
        return cls(table, columns, ids, slices)

    @property
    def schema(self) -> PointSchema:
        """The columns that are read of the table."""
        user = None if self._user is None else self._user.name
        sliced = () if self._slices is None else self._slices.by.columns
        return arrow_schema("a table in memory", self._table.schema, self._columns, user=user, sliced=sliced)

    def rows(self) -> int:
        """Number of rows."""
        return int(self._table.num_rows)

    def parts(self) -> Sequence["TableSlice"]:
        """Slices of the table."""
        return [
            TableSlice(self._table, self._columns, first, self._user, self._slices)
            for first in range(0, self.rows(), PART_ROWS)
        ]

    def check_unchanged(self) -> None:
        """Accept frames as they are."""

    def state(self) -> bytes:
        """Digest of every point and id."""
        return rows_state(self.parts())


@dataclass(frozen=True, repr=False, eq=False)
class TableSlice:
    """A few rows of a table."""

    table: pa.Table
    columns: PointColumns
    first: int
    user: UserColumn | None
    slices: SliceColumns | None

    def __iter__(self) -> Iterator[Block]:
        for batch in self.table.slice(self.first, PART_ROWS).to_batches():
            users = None if self.user is None else self.user.ids(batch)
            slices = None if self.slices is None else self.slices.numbers(batch)
            yield Block.of(*self.columns.points(batch), batch.num_rows / self.table.num_rows, users, slices)


def _pair(row: Any) -> tuple[float, float]:
    try:
        longitude, latitude = row
        return float(longitude), float(latitude)
    except Exception:  # noqa: BLE001  # an object that cannot give two numbers is not a point
        return np.nan, np.nan


def _split(points: NDArray[np.generic]) -> tuple[NDArray[np.generic], ...]:
    if points.ndim != 2 or points.shape[1] != 2:
        # The other length is the number of records, which is private.
        shape = f"{points.shape[1]} columns" if points.ndim == 2 else f"{points.ndim} dimension(s)"
        msg = f"an array of points must have shape (n, 2): longitude, latitude; got {shape}."
        raise InputError(msg)
    return points[:, 0], points[:, 1]


def _check_pair(points: tuple[NDArray[np.generic], ...]) -> tuple[NDArray[np.generic], ...]:
    if len(points) != 2 or not all(isinstance(column, np.ndarray) for column in points):
        msg = "a tuple of points must hold two numpy arrays, longitudes and latitudes. Give rows as a list or an array."
        raise InputError(msg)
    return points


def _check_column(column: NDArray[np.generic]) -> NDArray[np.generic]:
    if column.ndim != 1:
        msg = f"a tuple of points must hold two 1-D arrays, longitudes and latitudes; got {column.ndim} dimensions."
        raise InputError(msg)
    if column.dtype.kind not in "fiu":
        msg = f"an array of points must hold numbers, got dtype {column.dtype}. Convert it: points.astype(float)."
        raise InputError(msg)
    return column


def _unmasked(column: NDArray[np.generic]) -> NDArray[np.generic]:
    # A masked value is missing, though the array below the mask still holds something.
    return np.where(np.ma.getmaskarray(column), np.nan, column) if isinstance(column, np.ma.MaskedArray) else column
