"""Reads coordinates from Arrow: numbers, WKB, structs.

Nothing else is read. The boxes and geometry types that are there too were taken from the rows by whoever wrote the
file; no decision may rest on them.

What is done with a column depends on its declared type alone. Nothing here can fail on a value.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from hushgrid.compiled import compiled
from hushgrid.counting.columns import PointSchema, columns_by_meaning, find_columns
from hushgrid.errors import InputError
from hushgrid.files.footer import RELEASE
from hushgrid.geometry.domain import GEOGRAPHIC

NOT_A_NUMBER = np.float64(np.nan).view(np.uint64)

# Flags of EWKB in the high bits of the type; ISO adds 1000 for Z, 2000 for M, 3000 for both.
HAS_Z = np.uint32(0x8000_0000)
HAS_M = np.uint32(0x4000_0000)
HAS_SRID = np.uint32(0x2000_0000)
CODE = np.uint32(0x1FFF_FFFF)
POINT = 1


@compiled
def _unsigned(data: NDArray[np.uint8], first: int, size: int, little_endian: bool) -> np.uint64:
    value = np.uint64(0)
    for i in range(size):
        place = size - 1 - i if little_endian else i
        value = (value << np.uint64(8)) | np.uint64(data[first + place])
    return value


@compiled
def _ordinates(kind: np.uint32) -> int:
    """How many numbers a WKB point holds.

    0 if the type is not one of points.
    """
    code = kind & CODE
    if code % 1000 != POINT or code > 3000 + POINT:
        return 0
    iso = code // 1000
    has_z = iso == 1 or iso == 3 or (kind & HAS_Z) != 0
    has_m = iso == 2 or iso == 3 or (kind & HAS_M) != 0
    return 2 + int(has_z) + int(has_m)


@compiled
def read_points(
    data: NDArray[np.uint8],
    offsets: NDArray[np.int32] | NDArray[np.int64],
    longitude_bits: NDArray[np.uint64],
    latitude_bits: NDArray[np.uint64],
) -> None:
    """Write the coordinates of every WKB point.

    They are written as the bits of float64, NaN for whatever is not a point. Reads ISO WKB and EWKB of both byte
    orders. A row must be a point from its first byte to its last.

    Parameters
    ----------
    data, offsets : array
        Row i is the bytes from ``offsets[i]`` to ``offsets[i + 1]``.
    longitude_bits, latitude_bits : array of uint64, shape (offsets.size - 1,)
    """
    for i in range(offsets.size - 1):
        longitude_bits[i] = latitude_bits[i] = NOT_A_NUMBER
        first, stop = int(offsets[i]), int(offsets[i + 1])
        if stop - first < 5 or data[first] > 1:
            continue
        little_endian = data[first] == 1
        kind = np.uint32(_unsigned(data, first + 1, 4, little_endian))
        ordinates = _ordinates(kind)
        head = 9 if kind & HAS_SRID else 5
        if ordinates == 0 or stop - first != head + 8 * ordinates:
            continue
        longitude_bits[i] = _unsigned(data, first + head, 8, little_endian)
        latitude_bits[i] = _unsigned(data, first + head + 8, 8, little_endian)


KEY = b"geo"
LONGEST_WORD = 80  # characters of a name in a message


def primary_geometry(schema: pa.Schema, where: str) -> str | None:
    """Name of the main column of geometries, if any."""
    name = _metadata(schema, where).get("primary_column")
    return name if isinstance(name, str) else None


def check_crs(schema: pa.Schema, column: str, crs: str, where: str) -> None:
    """Refuse geometries that are declared to be in another reference system.

    A column without an entry in the metadata declares nothing, and is taken to be in the system asked for, as columns
    of numbers are.
    """
    columns = _metadata(schema, where).get("columns")
    entry = columns.get(column) if isinstance(columns, dict) else None
    if not isinstance(entry, dict):
        return
    declared = _crs_name(entry)
    if declared != crs.upper() and not {declared, crs.upper()} <= GEOGRAPHIC:
        msg = f"column {column!r} of {where} is in {declared}, and not in {crs}. "
        msg += "Give the system of the points: crs= (--crs)."
        raise InputError(msg, instead={"crs": declared} if ":" in declared else None)


def _metadata(schema: pa.Schema, where: str) -> dict[str, Any]:
    text = (schema.metadata or {}).get(KEY)
    if text is None:
        return {}
    try:
        metadata = json.loads(text)
    except (ValueError, RecursionError):
        metadata = None
    if not isinstance(metadata, dict):
        msg = f"the 'geo' metadata of {where} is damaged. Write the file anew."
        raise InputError(msg)
    return metadata


def _crs_name(entry: dict[str, Any]) -> str:
    """Reference system as messages name it, like EPSG:4326."""
    crs = entry.get("crs", {"id": {"authority": "OGC", "code": "CRS84"}})  # the default of the specification
    if not isinstance(crs, dict):
        return "an unknown reference system"
    identifier = crs.get("id")
    if isinstance(identifier, dict):
        return f"{_word(identifier.get('authority'))}:{_word(identifier.get('code'))}".upper()
    return f"a reference system without a code ({_word(crs.get('name'))})"


def _word(value: object) -> str:
    return str(value)[:LONGEST_WORD] if isinstance(value, str | int) else "?"


Pair = tuple[NDArray[np.generic], NDArray[np.generic]]

EXACT_DIGITS, EXACT_POWER = (
    15,
    22,
)  # whole numbers of 15 digits and powers of ten up to 22 are exact doubles


class PointColumns(Protocol):
    """Columns of points, and how they are read.

    Implemented by `NumberColumns`, `WkbColumn` and `StructColumn`.
    """

    @property
    def names(self) -> list[str]:
        """Columns to read; no other is touched."""

    @property
    def leaves(self) -> list[str]:
        """Names under which a file keeps these columns.

        Parquet keeps the fields of a struct apart.
        """

    def points(self, batch: pa.RecordBatch) -> Pair:
        """Longitudes and latitudes of a batch, NaN where missing."""


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
        """Names under which a file keeps these columns."""
        return self.names

    def points(self, batch: pa.RecordBatch) -> Pair:
        """Longitudes and latitudes of a batch, NaN where missing."""
        return _numbers(batch.column(self.longitude)), _numbers(batch.column(self.latitude))


@dataclass(frozen=True)
class WkbColumn:
    """A column of well-known binary (WKB).

    A value that is not a point is read as NaN, without an error.
    """

    name: str

    @property
    def names(self) -> list[str]:
        """Columns to read."""
        return [self.name]

    @property
    def leaves(self) -> list[str]:
        """Name under which a file keeps the column."""
        return self.names

    def points(self, batch: pa.RecordBatch) -> Pair:
        """Longitudes and latitudes of a batch, NaN where missing."""
        column = _storage(batch.column(self.name))
        if not isinstance(column, pa.DictionaryArray):
            return _points_of_wkb(column)
        values = _points_of_wkb(column.dictionary)
        longitudes, latitudes = (_numbers(pa.array(numbers).take(column.indices)) for numbers in values)
        return longitudes, latitudes


@dataclass(frozen=True)
class StructColumn:
    """A column of structs of x and y.

    So GeoArrow keeps points.
    """

    name: str
    leaves: list[str]

    @property
    def names(self) -> list[str]:
        """Columns to read."""
        return [self.name]

    def points(self, batch: pa.RecordBatch) -> Pair:
        """Longitudes and latitudes of a batch, NaN where missing."""
        column = _storage(batch.column(self.name))
        fields = dict(zip((field.name for field in column.type), column.flatten(), strict=True))
        return _numbers(fields["x"]), _numbers(fields["y"])


def point_columns(
    schema: pa.Schema, *, crs: str, lon: str | None, lat: str | None, geometry: str | None, where: str
) -> PointColumns:
    """The columns of a table that hold points, from its schema alone."""
    if RELEASE in (schema.metadata or {}):
        msg = f"{where} is a release already: it holds cells and noisy counts, not points. "
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
    check_crs(schema, name, crs, where)
    storage = _storage_type(schema.field(name).type)
    if _is_binary(storage):
        return WkbColumn(name)
    if pa.types.is_struct(storage) and {"x", "y"} <= _number_fields(storage):
        # Arrow cannot read single fields of an extension type.
        is_plain = storage == schema.field(name).type
        return StructColumn(name, [f"{name}.x", f"{name}.y"] if is_plain else [name])
    raise not_points(name, storage, where)


def arrow_schema(
    form: str, schema: pa.Schema, columns: PointColumns, *, user: str | None, sliced: Sequence[str] = ()
) -> PointSchema:
    """The columns that are read of an Arrow schema."""
    kinds = {name: schema.field(name).type for name in columns.names}
    ids = {} if user is None else {user: schema.field(user).type}
    slices = {name: schema.field(name).type for name in sliced}
    return PointSchema(form=form, columns=columns_by_meaning(kinds, ids, slices))


def is_number(kind: pa.DataType) -> bool:
    """Whether a declared type is one of numbers.

    Truth values, dates and text are not.
    """
    return bool(pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind))


def not_a_number(name: str, kind: object, where: str) -> InputError:
    """Error for coordinates that are not declared as numbers."""
    msg = f"column {name!r} of {where} has type {kind}; coordinates must be numbers. "
    msg += "Convert the column where the data is written, or name another: lon=, lat= (--lon, --lat). For DuckDB "
    msg += f"(--engine duckdb), points can be a SELECT with TRY_CAST({name} AS DOUBLE) AS {name}."
    return InputError(msg)


def not_points(name: str, kind: object, where: str) -> InputError:
    """Error for geometries that are not declared as points."""
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
    """The double nearest to each decimal.

    Every engine has this one; Arrow's own cast is often an ulp off.
    """
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
