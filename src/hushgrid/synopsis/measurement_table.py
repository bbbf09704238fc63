"""Measurements as Arrow columns, and back.

What comes back is copied: views of Arrow memory are read-only, and kernels would be compiled once more for them.
"""

from fractions import Fraction

import numpy as np
import pyarrow as pa

from hushgrid.errors import SynopsisFileError
from hushgrid.inference.measurements import NOT_MEASURED, Measured, Measurements, Regions
from hushgrid.synopsis.rational import check_common_denominator, parse_rational

RATE = pa.dictionary(pa.int32(), pa.string())
REGION_SCHEMA = pa.schema(
    [
        pa.field("value", pa.int64()),
        pa.field("rate", RATE),
        pa.field("first", pa.int64(), nullable=False),
        pa.field("stop", pa.int64(), nullable=False),
    ]
)

# Rates in this range have variances that doubles can hold and add up.
LOWEST_RATE, HIGHEST_RATE = Fraction(1, 10**150), Fraction(10**300)
MOST_RATES = 2**14


def measured_columns(measured: Measured, first: int = 0, stop: int | None = None) -> tuple[pa.Array, pa.Array]:
    """Values, and rates as a dictionary of texts like 99/200; both null where nothing was measured."""
    values, index = measured.values[first:stop], measured.rate_index[first:stop]
    missing = index == NOT_MEASURED
    rates = pa.array(map(str, measured.rates), pa.string())
    return pa.array(values, mask=missing), pa.DictionaryArray.from_arrays(pa.array(index, mask=missing), rates)


def measured_from(values: pa.Array, rates: pa.Array) -> Measured:
    """What `measured_columns` were made of."""
    if not values.is_null().equals(rates.is_null()):
        msg = "a measured value lacks its rate, or a rate its value."
        raise SynopsisFileError(msg)
    return Measured(
        values=values.fill_null(0).to_numpy().copy(),
        rates=_parse_rates(rates.dictionary),
        rate_index=rates.indices.fill_null(NOT_MEASURED).to_numpy().copy(),
    )


def region_table(measurements: Measurements) -> pa.Table:
    """The measurements that are not of single leaves: value, rate, and the run of leaves it is about."""
    regions = measurements.regions
    columns = [*measured_columns(measurements.region_values), pa.array(regions.first), pa.array(regions.stop)]
    return pa.table(columns, schema=REGION_SCHEMA)


def regions_from(table: pa.Table, *, cells: int) -> tuple[Regions, Measured]:
    """What a `region_table` was made of; every run must lie within the leaves."""
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
    rates = tuple(map(_parse_rate, texts.to_pylist()))
    check_common_denominator(rates)
    return rates


def _parse_rate(text: str | None) -> Fraction:
    rate = None if text is None else parse_rational(text)
    if rate is None or not LOWEST_RATE <= rate <= HIGHEST_RATE:
        msg = f"a rate must be a fraction above zero in lowest terms, such as '99/200', not {str(text)[:40]!r}."
        raise SynopsisFileError(msg)
    return rate
