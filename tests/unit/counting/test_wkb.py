"""Points in well-known binary, and what is not one."""

import struct

import numpy as np
import pyarrow as pa
import pytest

from hushgrid.counting.arrow import WkbColumn
from tests.unit.counting.tables import wkb

POINT = (12.5, -3.25)
Z, M, SRID = 0x80000000, 0x40000000, 0x20000000

VARIANTS = {
    "plain": {},
    "ISO Z": {"kind": 1001, "more": (7.0,)},
    "ISO M": {"kind": 2001, "more": (8.0,)},
    "ISO ZM": {"kind": 3001, "more": (7.0, 8.0)},
    "EWKB Z": {"kind": 1 | Z, "more": (7.0,)},
    "EWKB M": {"kind": 1 | M, "more": (8.0,)},
    "EWKB ZM": {"kind": 1 | Z | M, "more": (7.0, 8.0)},
    "EWKB with a reference system": {"kind": 1 | SRID, "srid": 4326},
    "EWKB Z with a reference system": {"kind": 1 | Z | SRID, "srid": 4326, "more": (7.0,)},
}

NO_POINTS = {
    "null": None,
    "nothing": b"",
    "one byte": b"\x01",
    "head only": wkb(*POINT)[:5],
    "one byte short": wkb(*POINT)[:-1],
    "one byte long": wkb(*POINT) + b"\0",
    "no byte order": b"\x02" + wkb(*POINT)[1:],
    "line": struct.pack("<BII4d", 1, 2, 2, 0, 0, 1, 1),
    "multipoint of one": struct.pack("<BII", 1, 4, 1) + wkb(*POINT),
    "polygon type on the bytes of a point": wkb(*POINT, kind=3),
    "type 4001": wkb(*POINT, kind=4001),
    "Z announced, not there": wkb(*POINT, kind=1001),
    "Z there, not announced": wkb(*POINT, more=(7.0,)),
    "reference system announced, not there": wkb(*POINT, kind=1 | SRID),
    "empty point": wkb(np.nan, np.nan),
    "text": b"POINT (12.5 -3.25)",
    "wrong order of bytes": b"\x00" + wkb(*POINT)[1:],
    "all ones": b"\xff" * 21,
}


def read(values, kind="binary"):
    """Points of a column of geometries, as an array of shape (rows, 2)."""
    batch = pa.record_batch({"geometry": pa.array(values, getattr(pa, kind)())})
    return np.stack(WkbColumn("geometry").points(batch), axis=1)


@pytest.mark.parametrize("order", ["<", ">"], ids=["little endian", "big endian"])
@pytest.mark.parametrize("variant", VARIANTS.values(), ids=VARIANTS)
def test_every_variant_of_a_point_is_read(variant, order):
    """ISO and EWKB points with and without Z, M and reference system give their first two numbers."""
    np.testing.assert_array_equal(read([wkb(*POINT, order=order, **variant)]), [POINT])


@pytest.mark.parametrize("value", NO_POINTS.values(), ids=NO_POINTS)
def test_what_is_no_point_is_nan_and_leaves_its_neighbours_alone(value):
    """A row that is no point changes nothing about the rows before and after."""
    points = read([wkb(*POINT), value, wkb(1.0, 2.0)])

    assert np.isnan(points[1]).any()
    np.testing.assert_array_equal(points[[0, 2]], [POINT, (1.0, 2.0)])


@pytest.mark.parametrize("kind", ["binary", "large_binary", "binary_view"])
def test_every_binary_type_is_read_sliced_too(kind):
    """Offsets of both widths, views, and a slice that begins inside the buffers give the same points."""
    values = [wkb(i, -i) for i in range(5)]
    batch = pa.record_batch({"geometry": pa.array(values, getattr(pa, kind)())})

    sliced = np.stack(WkbColumn("geometry").points(batch.slice(2, 2)), axis=1)

    np.testing.assert_array_equal(sliced, [(2, -2), (3, -3)])
    assert read([], kind).shape == (0, 2)


def test_binary_of_fixed_size_is_read():
    """Points of 21 bytes each may be declared so."""
    batch = pa.record_batch({"geometry": pa.array([wkb(*POINT), None], pa.binary(21))})

    points = np.stack(WkbColumn("geometry").points(batch), axis=1)

    np.testing.assert_array_equal(points, [POINT, (np.nan, np.nan)])


def test_random_bytes_raise_nothing():
    """Any bytes at all are read without an error."""
    rng = np.random.default_rng(0)

    assert read([rng.bytes(int(size)) for size in rng.integers(0, 60, 3000)]).shape == (3000, 2)
