"""Coordinates out of Arrow data: two columns of numbers, WKB points, or points as a struct of x and y.

What is done with a column depends on its declared type alone. Nothing here can fail on a value.
"""

from dataclasses import dataclass
from typing import Protocol

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from hushgrid.counting.columns import find_columns
from hushgrid.counting.geoparquet import check_crs, primary_geometry
from hushgrid.errors import InputError
from hushgrid.files.footer import RELEASE
from hushgrid.geometry.domain import Domain
from hushgrid.kernels.wkb import read_points

Pair = tuple[NDArray[np.generic], NDArray[np.generic]]

EXACT_DIGITS, EXACT_POWER = 15, 22  # of whole numbers, and of ten, that every double of that size holds exactly


class PointColumns(Protocol):
    """The columns that hold the points of a table, and how they are read.

    Implemented by `NumberColumns`, `WkbColumn` and `StructColumn`.
    """

    @property
    def names(self) -> list[str]:
        """Columns to read; no other is touched."""

    @property
    def leaves(self) -> list[str]:
        """What of these columns is read from a file that keeps the fields of a struct apart."""

    def points(self, batch: pa.RecordBatch) -> Pair:
        """Longitudes and latitudes of the rows of a batch, NaN where a row has none."""


@dataclass(frozen=True)
class NumberColumns:
    """A column of longitudes and one of latitudes."""

    longitude: str
    latitude: str

    @property
    def names(self) -> list[str]:
        """Columns to read."""
        return [self.longitude, self.latitude]

    @property
    def leaves(self) -> list[str]:
        """What of them is read from a file."""
        return self.names

    def points(self, batch: pa.RecordBatch) -> Pair:
        """Longitudes and latitudes of the rows of a batch, NaN where a row has none."""
        return _numbers(batch.column(self.longitude)), _numbers(batch.column(self.latitude))


@dataclass(frozen=True)
class WkbColumn:
    """A column of well-known binary. What is not a point is no point, and that is all."""

    name: str

    @property
    def names(self) -> list[str]:
        """Columns to read."""
        return [self.name]

    @property
    def leaves(self) -> list[str]:
        """What of it is read from a file."""
        return self.names

    def points(self, batch: pa.RecordBatch) -> Pair:
        """Longitudes and latitudes of the rows of a batch, NaN where a row has none."""
        column = _storage(batch.column(self.name))
        if not isinstance(column, pa.DictionaryArray):
            return _points_of_wkb(column)
        values = _points_of_wkb(column.dictionary)
        longitudes, latitudes = (_numbers(pa.array(numbers).take(column.indices)) for numbers in values)
        return longitudes, latitudes


@dataclass(frozen=True)
class StructColumn:
    """A column of points as GeoArrow has them: a struct of x and y."""

    name: str
    leaves: list[str]

    @property
    def names(self) -> list[str]:
        """Columns to read."""
        return [self.name]

    def points(self, batch: pa.RecordBatch) -> Pair:
        """Longitudes and latitudes of the rows of a batch, NaN where a row has none."""
        column = _storage(batch.column(self.name))
        fields = dict(zip((field.name for field in column.type), column.flatten(), strict=True))
        return _numbers(fields["x"]), _numbers(fields["y"])


def point_columns(
    schema: pa.Schema, *, domain: Domain, lon: str | None, lat: str | None, geometry: str | None, where: str
) -> PointColumns:
    """The columns of a table that hold points of the domain's reference system, from its schema alone."""
    if RELEASE in (schema.metadata or {}):
        msg = f"{where} is a release already: it holds cells and noisy counts, no points. "
        msg += f"Ask it: hushgrid query {where} --rect W,S,E,N"
        raise InputError(msg)
    chosen = find_columns(
        schema.names, lon=lon, lat=lat, geometry=geometry, primary_geometry=primary_geometry(schema, where), where=where
    )
    if len(chosen) == 2:
        for name in chosen:
            if not is_number(schema.field(name).type):
                raise not_a_number(name, schema.field(name).type, where)
        return NumberColumns(*chosen)
    (name,) = chosen
    check_crs(schema, name, domain, where)
    storage = _storage_type(schema.field(name).type)
    if _is_binary(storage):
        return WkbColumn(name)
    if pa.types.is_struct(storage) and {"x", "y"} <= _number_fields(storage):
        # Arrow makes no extension of a part of its fields.
        is_plain = storage == schema.field(name).type
        return StructColumn(name, [f"{name}.x", f"{name}.y"] if is_plain else [name])
    raise not_points(name, storage, where)


def is_number(kind: pa.DataType) -> bool:
    """Whether a declared type is one of numbers; truth values, dates and text are not."""
    return bool(pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind))


def not_a_number(name: str, kind: object, where: str) -> InputError:
    """The error for a coordinate column whose declared type is not one of numbers."""
    msg = f"column {name!r} of {where} has type {kind}; coordinates must be numbers. "
    msg += "Convert the column where the data is written, or name another: lon=, lat= (--lon, --lat). For DuckDB "
    msg += f"(--engine duckdb), points can be a SELECT with TRY_CAST({name} AS DOUBLE) AS {name}."
    return InputError(msg)


def not_points(name: str, kind: object, where: str) -> InputError:
    """The error for a geometry column whose declared type is not one of points."""
    msg = f"column {name!r} of {where} has type {kind}; points are WKB (binary) or a struct of numbers x and y. "
    msg += "Name another column, or two of numbers: lon=, lat=."
    return InputError(msg)


def _points_of_wkb(column: pa.Array) -> Pair:
    if not pa.types.is_large_binary(column.type):
        column = column.cast(pa.large_binary())
    column = column.fill_null(b"")
    _, offsets, data = column.buffers()
    edges = np.frombuffer(offsets, np.int64)[column.offset : column.offset + len(column) + 1]
    longitudes, latitudes = np.empty(len(column), np.uint64), np.empty(len(column), np.uint64)
    content = np.frombuffer(data or b"", np.uint8)
    read_points(content, edges, longitudes, latitudes)
    return longitudes.view(np.float64), latitudes.view(np.float64)


def _numbers(column: pa.Array) -> NDArray[np.generic]:
    if pa.types.is_decimal(column.type):
        column = _doubles(column)
    elif not (pa.types.is_float32(column.type) or pa.types.is_float64(column.type)):
        # A checked cast raises on an integer beyond 2**53: one record would be an error.
        column = column.cast(pa.float64(), safe=False)
    if column.null_count:
        column = column.fill_null(pa.scalar(np.nan, column.type))
    numbers: NDArray[np.generic] = column.to_numpy()
    return numbers


def _doubles(column: pa.Array) -> pa.DoubleArray:
    """The double nearest to each decimal, as every engine has it; Arrow's own cast is often an ulp off."""
    kind = column.type
    if kind.precision > EXACT_DIGITS or not 0 <= kind.scale <= EXACT_POWER:
        return column.cast(pa.string()).cast(pa.float64())  # too large becomes infinite, too small zero
    # Both are exact as doubles, and one division rounds once.
    whole = column.cast(pa.decimal128(kind.precision, kind.scale))
    low_words = np.frombuffer(whole.buffers()[1] or b"", np.int64)[::2][whole.offset : whole.offset + len(whole)]
    mask = None if not column.null_count else column.is_null().to_numpy(zero_copy_only=False)
    return pa.array(low_words / 10.0**kind.scale, pa.float64(), mask=mask)


def _storage(column: pa.Array) -> pa.Array:
    return column.storage if isinstance(column, pa.ExtensionArray) else column


def _storage_type(kind: pa.DataType) -> pa.DataType:
    return kind.storage_type if isinstance(kind, pa.BaseExtensionType) else kind


def _is_binary(kind: pa.DataType) -> bool:
    types = pa.types
    return bool(
        types.is_binary(kind)
        or types.is_large_binary(kind)
        or types.is_binary_view(kind)
        or types.is_fixed_size_binary(kind)
    )


def _number_fields(struct: pa.StructType) -> set[str]:
    return {field.name for field in struct if is_number(field.type)}
