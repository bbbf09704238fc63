"""Parquet and GeoParquet files: declared types, reference systems, damage."""

import decimal
import json

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from hushgrid.counting import parquet as parquet_batches
from hushgrid.counting.counter import PointCounter
from hushgrid.counting.parquet import ParquetPoints
from hushgrid.errors import InputError
from hushgrid.geometry.domain import Domain
from hushgrid.geometry.grid import Grid
from tests.plain import PlainCounter
from tests.unit.counting.tables import DOMAIN, geo_metadata, some_points, wkb

GRID = Grid(domain=DOMAIN, rows=5, columns=9)
POINTS = [(1.5, 2.25), (-10.0, 15.0), (29.0, -4.5)]


def write(folder, columns, metadata=None, **options):
    path = folder / "points.parquet"
    pq.write_table(pa.table(columns).replace_schema_metadata(metadata), path, **options)
    return path


def counts(path, domain=DOMAIN, **columns):
    grid = Grid(domain=domain, rows=5, columns=9)
    return PointCounter(domain, ParquetPoints(path, crs=domain.crs, **columns)).count(grid)


def plain(points):
    return PlainCounter(DOMAIN, tuple(points)).count(GRID)


@pytest.mark.parametrize("batch_rows", [1, 7, 64, 1000])
@pytest.mark.parametrize("row_group_size", [1, 13, 1000])
def test_row_groups_and_batches_may_be_cut_anywhere(batch_rows, row_group_size, tmp_path, monkeypatch):
    """The counts are those of all rows at once."""
    monkeypatch.setattr(parquet_batches, "BATCH_ROWS", batch_rows)
    points = some_points(40)

    path = write(tmp_path, {"lon": points[:, 0], "lat": points[:, 1]}, row_group_size=row_group_size)

    np.testing.assert_array_equal(counts(path), plain(points))


NUMBERS = {
    "float16": pa.float16(),
    "float32": pa.float32(),
    "float64": pa.float64(),
    "int8": pa.int8(),
    "uint32": pa.uint32(),
    "decimal": pa.decimal128(12, 4),
    "wide decimal": pa.decimal256(60, 10),
}


@pytest.mark.parametrize("kind", NUMBERS.values(), ids=NUMBERS)
def test_every_declared_type_of_numbers_is_read(kind, tmp_path):
    """Whole numbers, decimals and floats of any width are coordinates; nulls are none."""
    values = [decimal.Decimal(2)] if pa.types.is_decimal(kind) else [np.float16(2) if kind == pa.float16() else 2]
    path = write(tmp_path, {"lon": pa.array([*values, None], kind), "lat": pa.array([*values, *values], kind)})

    np.testing.assert_array_equal(counts(path), plain([(2.0, 2.0)]))


@pytest.mark.parametrize("extreme", [2**63 - 1, -(2**63), 2**53 + 1])
def test_integers_no_double_can_hold_are_no_error(extreme, tmp_path):
    """A checked conversion would raise, and one record would decide whether there is a release."""
    path = write(tmp_path, {"lon": pa.array([1, extreme]), "lat": pa.array([2, 2])})

    np.testing.assert_array_equal(counts(path), plain([(1.0, 2.0)]))


NOT_NUMBERS = {
    "text": pa.string(),
    "long text": pa.large_string(),
    "truth": pa.bool_(),
    "date": pa.date32(),
    "time": pa.timestamp("us"),
    "list": pa.list_(pa.float64()),
    "nothing": pa.null(),
}


@pytest.mark.parametrize("kind", NOT_NUMBERS.values(), ids=NOT_NUMBERS)
@pytest.mark.parametrize("rows", [0, 2])
def test_a_declared_type_that_is_no_number_is_an_error_with_or_without_rows(kind, rows, tmp_path):
    """The message says column and type; rows are not looked at."""
    path = write(tmp_path, {"lon": pa.nulls(rows, kind), "lat": pa.nulls(rows, pa.float64())})

    with pytest.raises(InputError, match=r"column 'lon' of .* has type .*; coordinates must be numbers"):
        ParquetPoints(path, crs=DOMAIN.crs)


@pytest.mark.parametrize("kind", [pa.string(), pa.float64(), pa.struct({"x": pa.float64()})], ids=str)
def test_a_geometry_of_another_type_is_an_error(kind, tmp_path):
    """Points are WKB or a struct of x and y."""
    path = write(tmp_path, {"shape": pa.nulls(2, kind)})

    with pytest.raises(InputError, match=r"column 'shape' of .* has type .*; points are WKB"):
        ParquetPoints(path, crs=DOMAIN.crs, geometry="shape")


def test_structs_that_are_null_are_no_points(tmp_path):
    """A null point is not counted, nor is a point with a null coordinate."""
    kind = pa.struct({"x": pa.float64(), "y": pa.float64(), "z": pa.float64()})
    rows = [{"x": 1.0, "y": 2.0, "z": 3.0}, None, {"x": None, "y": 2.0, "z": 0.0}, {"x": 1.0, "y": None, "z": 0.0}]
    path = write(tmp_path, {"geometry": pa.array(rows, kind)}, geo_metadata(encoding="point"))

    np.testing.assert_array_equal(counts(path), plain([(1.0, 2.0)]))


def test_a_geometry_named_by_the_caller_needs_no_metadata(tmp_path):
    """A plain binary column is WKB in the domain's reference system."""
    path = write(tmp_path, {"shape": pa.array([wkb(*point) for point in POINTS])})

    np.testing.assert_array_equal(counts(path, geometry="shape"), plain(POINTS))


def projjson(authority, code):
    return {"type": "GeographicCRS", "name": "some name", "id": {"authority": authority, "code": code}}


ACCEPTED = {
    "none declared": ({}, "OGC:CRS84"),
    "CRS84": ({"crs": projjson("OGC", "CRS84")}, "OGC:CRS84"),
    "EPSG:4326 for CRS84": ({"crs": projjson("EPSG", 4326)}, "OGC:CRS84"),
    "none declared for EPSG:4326": ({}, "EPSG:4326"),
    "projected": ({"crs": projjson("EPSG", 32633)}, "EPSG:32633"),
    "projected, lower case": ({"crs": projjson("EPSG", 32633)}, "epsg:32633"),
}


@pytest.mark.parametrize(("entry", "crs"), ACCEPTED.values(), ids=ACCEPTED)
def test_points_in_the_domains_reference_system_are_read(entry, crs, tmp_path):
    """Longitude and latitude go by two names; anything else must be named alike."""
    path = write(tmp_path, {"geometry": pa.array([wkb(*point) for point in POINTS])}, geo_metadata(**entry))
    domain = Domain(west=-10, south=-5, east=30, north=15, crs=crs)

    np.testing.assert_array_equal(counts(path, domain), plain(POINTS))


REFUSED = {
    "projected": ({"crs": projjson("EPSG", 32633)}, "OGC:CRS84", "EPSG:32633"),
    "none declared for a projected domain": ({}, "EPSG:32633", "OGC:CRS84"),
    "unknown": ({"crs": None}, "OGC:CRS84", "an unknown reference system"),
    "without a code": ({"crs": {"name": "My Grid"}}, "OGC:CRS84", "My Grid"),
}


@pytest.mark.parametrize(("entry", "crs", "named"), REFUSED.values(), ids=REFUSED)
def test_another_reference_system_is_an_error_that_names_both(entry, crs, named, tmp_path):
    """The error comes before any row is read."""
    path = write(tmp_path, {"geometry": pa.array([b""])}, geo_metadata(**entry))

    with pytest.raises(InputError) as caught:
        ParquetPoints(path, crs=crs)

    assert named in str(caught.value)
    assert crs in str(caught.value)


def test_boxes_and_types_in_the_metadata_are_not_believed(tmp_path):
    """Metadata that says there are polygons far away changes nothing."""
    entry = {"bbox": [100, 50, 101, 51], "geometry_types": ["Polygon"]}
    path = write(tmp_path, {"geometry": pa.array([wkb(*point) for point in POINTS])}, geo_metadata() | {})
    expected = counts(path)
    metadata = json.loads(geo_metadata()["geo"])
    metadata["columns"]["geometry"] |= entry
    path = write(tmp_path, {"geometry": pa.array([wkb(*point) for point in POINTS])}, {"geo": json.dumps(metadata)})

    np.testing.assert_array_equal(counts(path), expected)


@pytest.mark.parametrize("text", ["{", "[]", "\xff"], ids=["not JSON", "a list", "not ASCII"])
def test_damaged_metadata_is_an_error(text, tmp_path):
    """The schema cannot be told."""
    path = write(tmp_path, {"geometry": pa.array([b""])}, {"geo": text})

    with pytest.raises(InputError, match="'geo' metadata"):
        ParquetPoints(path, crs=DOMAIN.crs)


DAMAGES = {"nothing": b"", "text": b"lon,lat\n1,2\n", "zeros": bytes(1000), "magic only": b"PAR1" * 3}


@pytest.mark.parametrize("content", DAMAGES.values(), ids=DAMAGES)
def test_what_is_no_parquet_file_is_an_error(content, tmp_path):
    """The message names the file, and quotes neither it nor Arrow."""
    path = tmp_path / "points.parquet"
    path.write_bytes(content)

    with pytest.raises(InputError, match="damaged, or not a Parquet file") as caught:
        ParquetPoints(path, crs=DOMAIN.crs)

    assert caught.value.__cause__ is None


@pytest.mark.parametrize("threads", ["1", "2"])
def test_a_damaged_page_is_an_error_without_a_word_about_it(threads, tmp_path, monkeypatch):
    """Damage found only while rows are read ends in our own message, on any thread."""
    monkeypatch.setenv("HUSHGRID_THREADS", threads)
    points = some_points(500)
    path = write(tmp_path, {"lon": points[:, 0], "lat": points[:, 1]}, row_group_size=100, compression="zstd")
    content = bytearray(path.read_bytes())
    content[600:900] = bytes(300)
    path.write_bytes(content)

    with pytest.raises(InputError, match="damaged, or not a Parquet file") as caught:
        counts(path)

    assert caught.value.__suppress_context__


def test_a_column_with_a_dot_in_its_name_is_read(tmp_path):
    """A name is a name, not a path into a struct."""
    columns = {"p.lon": [1.0], "p.lat": [2.0], "p": pa.array([{"lon": 9.0, "lat": 9.0}])}
    path = write(tmp_path, columns)

    np.testing.assert_array_equal(counts(path, lon="p.lon", lat="p.lat"), plain([(1.0, 2.0)]))


@pytest.mark.parametrize("batch_bytes", [2**25, 1, 100 * 2**17], ids=["as it is", "one row at once", "100 bytes a row"])
def test_values_may_stay_in_their_dictionary(batch_bytes, tmp_path, monkeypatch):
    """Ids and WKB that repeat, long ones and nulls among them, give the same points and ids as read row by row."""
    monkeypatch.setattr(parquet_batches, "BATCH_BYTES", batch_bytes)
    shapes = [wkb(1.5, 2.25), b"x" * 500, None, wkb(-10.0, 15.0), b""]
    names = ["ann", "x" * 500, None, "", "bob", "ann"]
    table = pa.table({"shape": pa.array(shapes * 30, pa.binary()), "who": pa.array(names * 25)})
    pq.write_table(table, tmp_path / "long.parquet", row_group_size=40, dictionary_pagesize_limit=600)

    blocks = [
        block
        for part in ParquetPoints(tmp_path / "long.parquet", crs=DOMAIN.crs, geometry="shape", user="who").parts()
        for block in part
    ]

    longitudes = np.concatenate([block.longitudes for block in blocks])
    np.testing.assert_array_equal(longitudes, [1.5, np.nan, np.nan, -10.0, np.nan] * 30)
    assert [one for block in blocks for one in block.users.to_pylist()] == [
        name.encode() if name else None for name in names * 25
    ]
