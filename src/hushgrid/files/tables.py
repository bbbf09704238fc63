"""Measurements as Arrow tables, packed as text into a Parquet footer.

What comes back is copied: views of Arrow memory are read-only, and kernels would be compiled once more for them.
"""

import base64
import struct
from collections.abc import Mapping
from fractions import Fraction
from types import MappingProxyType
from typing import Any

import numpy as np
import pyarrow as pa

from hushgrid.errors import ArgumentError, SynopsisFileError
from hushgrid.files.strict_json import JsonObject, check_common_denominator, parse_rational
from hushgrid.geometry.grid import CELL_LIMIT
from hushgrid.inference.measurements import NOT_MEASURED, Measurements, NoisyValues, Regions, Wavelet

BYTES_PER_ROW = 64  # more than a row of any table kept here takes
BYTES_BESIDE_ROWS = 2**24  # for headers, padding, and the dictionary of rates


def pack(table: pa.Table) -> bytes:
    """A table as text."""
    sink = pa.BufferOutputStream()
    with pa.CompressedOutputStream(sink, "zstd") as compressed, pa.ipc.new_stream(compressed, table.schema) as stream:
        stream.write_table(table)
    return base64.b64encode(sink.getvalue())


def unpack(packed: bytes, *, schema: pa.Schema, rows: int, name: str) -> pa.Table:
    """The table a text holds.

    Parameters
    ----------
    packed : bytes
        What `pack` made, or somebody else.
    schema : pyarrow.Schema
        The columns it must have.
    rows : int
        How many rows it must have. Memory is bounded by this number, whatever the text expands to.
    name : str
        What to call it in errors.
    """
    try:
        stream = _decompress(packed, limit=rows * BYTES_PER_ROW + BYTES_BESIDE_ROWS)
        with pa.ipc.open_stream(stream) as reader:
            if not reader.schema.equals(schema):
                msg = f"the {name} in its footer does not have the columns {', '.join(schema.names)}."
                raise SynopsisFileError(msg)
            table = reader.read_all()
        table.validate(full=True)
    except (pa.ArrowException, OSError, ValueError, IndexError, struct.error) as error:
        msg = f"the {name} in its footer cannot be decoded."
        raise SynopsisFileError(msg) from error
    if table.num_rows != rows:
        msg = f"the {name} in its footer has {table.num_rows:,} rows where {rows:,} are declared."
        raise SynopsisFileError(msg)
    return table.combine_chunks()


def _decompress(packed: bytes, *, limit: int) -> pa.Buffer:
    source = pa.BufferReader(base64.b64decode(packed, validate=True))
    stream = pa.CompressedInputStream(source, "zstd").read_buffer(limit + 1)
    if stream.size > limit:
        msg = "more data than its rows can hold"
        raise ValueError(msg)
    for message in pa.ipc.MessageReader.open_stream(stream):
        if _is_compressed(message.metadata.to_pybytes()):
            msg = "compressed twice"
            raise ValueError(msg)
    return stream


# Position of the record batch among the fields of a message's header (Arrow's Message.fbs), by type of header.
DICTIONARY_BATCH, RECORD_BATCH = 2, 3
PATHS_TO_BATCH: Mapping[int, tuple[int, ...]] = MappingProxyType({DICTIONARY_BATCH: (2, 1), RECORD_BATCH: (2,)})


def _is_compressed(message: bytes) -> bool:
    # Buffers inside a stream may be compressed once more, and would then expand past any limit on the stream. Arrow
    # decompresses before it can be asked, so the one field that says so is looked up in the message's flatbuffer.
    table = _follow(message, 0)
    header_type = _field(message, table, 1)
    path = PATHS_TO_BATCH.get(message[header_type]) if header_type else None
    for index in path or ():
        table = _follow(message, _field(message, table, index))
    return path is not None and _field(message, table, 3) != 0


def _follow(message: bytes, position: int) -> int:
    (offset,) = struct.unpack_from("<I", message, position)
    return position + int(offset)


def _field(message: bytes, table: int, index: int) -> int:
    """Position of a flatbuffer field, or 0 if absent."""
    (back,) = struct.unpack_from("<i", message, table)
    vtable = table - back
    (size,) = struct.unpack_from("<H", message, vtable)
    if 4 + 2 * index >= size:
        return 0
    (offset,) = struct.unpack_from("<H", message, vtable + 4 + 2 * index)
    return table + int(offset) if offset else 0


RUNS, WAVELET = "runs", "wavelet"  # kinds: values of contiguous runs of leaves, Haar coefficients of a grid
RATE = pa.dictionary(pa.int32(), pa.string())
REGION_SCHEMA = pa.schema(
    [
        pa.field("value", pa.int64()),
        pa.field("rate", RATE),
        pa.field("first", pa.int64(), nullable=False),
        pa.field("stop", pa.int64(), nullable=False),
    ]
)
WAVELET_SCHEMA = pa.schema([pa.field("value", pa.int64(), nullable=False)])

# Rates in this range have variances that doubles can hold and add up.
LOWEST_RATE, HIGHEST_RATE = Fraction(1, 10**150), Fraction(10**300)
MOST_RATES = 2**14

# Memory follows the number of rows of a file, not what else it claims.
REGIONS_PER_CELL = 2  # the nodes of a tree are fewer
COEFFICIENTS_PER_CELL = 4  # both sides of a grid are padded to powers of two


def measured_columns(measured: NoisyValues, first: int = 0, stop: int | None = None) -> tuple[pa.Array, pa.Array]:
    """Columns of measured values and their rates.

    Rates are texts like 99/200; both are null where nothing was measured.
    """
    values, index = measured.values[first:stop], measured.rate_index[first:stop]
    missing = index == NOT_MEASURED
    rates = pa.array(map(str, measured.rates), pa.string())
    return pa.array(values, mask=missing), pa.DictionaryArray.from_arrays(pa.array(index, mask=missing), rates)


def measured_from(values: pa.Array, rates: pa.Array) -> NoisyValues:
    """What `measured_columns` were made of."""
    if not values.is_null().equals(rates.is_null()):
        msg = "a measured value lacks its rate, or a rate its value."
        raise SynopsisFileError(msg)
    return NoisyValues(
        values=values.fill_null(0).to_numpy().copy(),
        rates=_parse_rates(rates.dictionary),
        rate_index=rates.indices.fill_null(NOT_MEASURED).to_numpy().copy(),
    )


def measurement_json(measurements: Measurements) -> dict[str, Any]:
    """Kind and sizes of the measurements that are not of single leaves."""
    wavelet = measurements.wavelet
    if wavelet is None:
        return {"kind": RUNS, "regions": len(measurements.region_values.values)}
    return {"kind": WAVELET, "rows": wavelet.rows, "columns": wavelet.columns, "rate": str(wavelet.rate)}


def measurement_table(measurements: Measurements) -> pa.Table:
    """Table of the measurements of regions, or of the coefficients of a wavelet."""
    if measurements.wavelet is not None:
        return pa.table([measurements.wavelet.coefficients.values], schema=WAVELET_SCHEMA)
    regions = measurements.regions
    columns = [*measured_columns(measurements.region_values), pa.array(regions.first), pa.array(regions.stop)]
    return pa.table(columns, schema=REGION_SCHEMA)


def parse_measurements(
    fields: JsonObject, *, packed: bytes | None, cells: int
) -> tuple[Regions, NoisyValues, Wavelet | None]:
    """Read measurements from their JSON and table.

    Sizes are checked before anything is built.
    """
    if fields.text("kind", among=(RUNS, WAVELET)) == WAVELET:
        return Regions.nothing(), NoisyValues.nothing(), _parse_wavelet(fields, packed, cells)
    fields.only("kind", "regions")
    count = fields.whole("regions", low=0, high=min(REGIONS_PER_CELL * cells, CELL_LIMIT))
    if (packed is None) != (count == 0):
        msg = f"it declares {count:,} measurements of regions, which are {'missing' if count else 'there'}."
        raise SynopsisFileError(msg)
    if packed is None:
        return Regions.nothing(), NoisyValues.nothing(), None
    table = unpack(packed, schema=REGION_SCHEMA, rows=count, name="list of measurements")
    return *regions_from(table, cells=cells), None


def _parse_wavelet(fields: JsonObject, packed: bytes | None, cells: int) -> Wavelet:
    fields.only("kind", "rows", "columns", "rate")
    rows, columns = (fields.whole(name, low=1, high=CELL_LIMIT) for name in ("rows", "columns"))
    if packed is None or rows * columns > min(COEFFICIENTS_PER_CELL * cells, CELL_LIMIT):
        msg = f"its {rows:,} by {columns:,} wavelet coefficients are missing or over the limit."
        raise SynopsisFileError(msg)
    table = unpack(packed, schema=WAVELET_SCHEMA, rows=rows * columns, name="list of coefficients")
    coefficients = NoisyValues.at_one_rate(np.array(table["value"]), parse_rate(fields.text("rate")))
    try:
        return Wavelet(rows=rows, columns=columns, coefficients=coefficients)
    except ArgumentError as error:
        raise SynopsisFileError(str(error)) from error


def regions_from(table: pa.Table, *, cells: int) -> tuple[Regions, NoisyValues]:
    """Regions and their values; every run must lie within the leaves."""
    first, stop = (table[name].to_numpy().copy() for name in ("first", "stop"))
    if not np.all((first >= 0) & (first < stop) & (stop <= cells)):
        msg = "a measurement is about leaves that do not exist."
        raise SynopsisFileError(msg)
    value, rate = (table[name].combine_chunks() for name in ("value", "rate"))
    return Regions(first=first, stop=stop), measured_from(value, rate)


def _parse_rates(texts: pa.Array) -> tuple[Fraction, ...]:
    if len(texts) > MOST_RATES:
        msg = f"it has more than {MOST_RATES:,} distinct rates."
        raise SynopsisFileError(msg)
    rates = tuple(map(parse_rate, texts.to_pylist()))
    check_common_denominator(rates)
    return rates


def parse_rate(text: str | None) -> Fraction:
    """The rate of a noise, if doubles can hold its variance."""
    rate = None if text is None else parse_rational(text)
    if rate is None or not LOWEST_RATE <= rate <= HIGHEST_RATE:
        msg = f"a rate must be a fraction above zero in lowest terms, such as '99/200', not {str(text)[:40]!r}."
        raise SynopsisFileError(msg)
    return rate
