"""Arrays and frames: what is declared, and what is refused."""

import datetime as dt
import re
from decimal import Decimal

import dask.dataframe as dd
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from hushgrid.counting import memory
from hushgrid.counting.counter import PointCounter
from hushgrid.counting.opening import open_points
from hushgrid.errors import ArgumentError, InputError
from hushgrid.geometry.grid import Grid
from hushgrid.slices.by import By
from tests.plain import PlainCounter
from tests.unit.counting.tables import DOMAIN, FORMS, some_points, wkb

GRID = Grid(domain=DOMAIN, rows=5, columns=9)


def counts(points, **columns):
    return PointCounter(DOMAIN, open_points(points, crs=DOMAIN.crs, **columns)).count(GRID)


@pytest.mark.parametrize("part_rows", [1, 7, 100, 10_000])
@pytest.mark.parametrize("form", ["array", "array of long doubles", "masked array", "polars", "Arrow table of WKB"])
def test_parts_may_be_cut_anywhere(part_rows, form, tmp_path, monkeypatch):
    """The counts are those of all rows at once."""
    monkeypatch.setattr(memory, "PART_ROWS", part_rows)
    points = some_points(100)

    counted = counts(FORMS[form](points, tmp_path))

    np.testing.assert_array_equal(counted, PlainCounter(DOMAIN, tuple(points)).count(GRID))


BAD_ARRAYS = {
    "three columns": (np.zeros((777, 3)), "3 columns"),
    "one dimension": (np.zeros(777), "1 dimension"),
    "three dimensions": (np.zeros((777, 2, 2)), "3 dimension"),
    "text": (np.full((777, 2), "1.5"), "dtype <U3"),
    "objects": (np.full((777, 2), None), "dtype object"),
    "truth": (np.zeros((777, 2), bool), "dtype bool"),
    "complex": (np.zeros((777, 2), complex), "dtype complex128"),
    "times": (np.zeros((777, 2), "datetime64[s]"), "dtype datetime64"),
    "two lengths": ((np.zeros(777), np.zeros(776)), "the same length"),
    "a pair of tables": ((np.zeros((777, 2)), np.zeros((777, 2))), "2 dimensions"),
    "a tuple of rows": (((1.0, 2.0),) * 777, "two numpy arrays"),
    "a pair of lists": (([1.0] * 777, [2.0] * 777), "two numpy arrays"),
}


@pytest.mark.parametrize(("points", "message"), BAD_ARRAYS.values(), ids=BAD_ARRAYS)
def test_arrays_of_another_shape_or_type_are_refused_without_their_length(points, message):
    """The number of rows is private, in a message too."""
    with pytest.raises(InputError, match=message) as caught:
        open_points(points, crs=DOMAIN.crs)

    assert "777" not in str(caught.value)
    assert "776" not in str(caught.value)


@pytest.mark.parametrize("columns", [{"lon": "a", "lat": "b"}, {"geometry": "g"}], ids=["lon and lat", "geometry"])
def test_an_array_has_no_columns_to_name(columns):
    """Names of columns beside an array are refused."""
    with pytest.raises(ArgumentError, match="an array has none"):
        open_points(np.zeros((1, 2)), crs=DOMAIN.crs, **columns)


@pytest.mark.parametrize(
    "row", [None, (), (1,), (1, 2, 3), ("a", "b"), (1, None), 7, ([1], [2]), ({}, 1), (10**400, 1), (1j, 2)], ids=str
)
def test_in_a_list_what_is_no_pair_of_numbers_is_no_point(row):
    """A list declares nothing, so no row of it can be an error."""
    points = [(1.0, 2.0), row, (3.0, 4.0)]

    np.testing.assert_array_equal(counts(points), counts(np.array([points[0], points[2]])))


@pytest.mark.parametrize("rows", [1, 2, 3])
def test_a_list_is_rows_however_many_there_are(rows):
    """Two arrays in a list are two rows, as three would be; only a tuple holds columns."""
    points = np.array([(1.0, 2.0), (3.0, 4.0), (5.0, 6.0)])[:rows]

    np.testing.assert_array_equal(counts(list(points)), counts(points))


DECLARED = {
    "pandas objects": (pd.DataFrame({"lon": [1.0, "x"], "lat": [1.0, 2.0]}), "object"),
    "pandas objects that are numbers": (pd.DataFrame({"lon": [1.0, 2.0], "lat": [1.0, 2.0]}, dtype=object), "object"),
    "pandas text": (pd.DataFrame({"lon": ["1", "2"], "lat": [1.0, 2.0]}), "object"),
    "pandas truth": (pd.DataFrame({"lon": [True, False], "lat": [1.0, 2.0]}), "bool"),
    "pandas times": (pd.DataFrame({"lon": pd.to_datetime(["2020-01-01"] * 2), "lat": [1.0, 2.0]}), "datetime64"),
    "pandas categories": (pd.DataFrame({"lon": pd.Categorical([1, 2]), "lat": [1.0, 2.0]}), "category"),
    "polars text": (pl.DataFrame({"lon": ["1", "2"], "lat": [1.0, 2.0]}), "String"),
    "polars dates": (pl.DataFrame({"lon": [dt.date(2020, 1, 1)] * 2, "lat": [1.0, 2.0]}), "Date"),
    "Arrow text": (pa.table({"lon": ["1", "2"], "lat": [1.0, 2.0]}), "string"),
}


@pytest.mark.parametrize(("frame", "declared"), DECLARED.values(), ids=DECLARED)
def test_a_declared_type_that_is_no_number_is_an_error_whatever_the_rows(frame, declared):
    """The message with rows is the one without them."""
    messages = []
    for rows in (frame, frame[:0]):
        with pytest.raises(InputError, match=f"column 'lon' of the frame has type {declared}") as caught:
            open_points(rows, crs=DOMAIN.crs)
        messages.append(str(caught.value))

    assert messages[0] == messages[1]


NUMBERS = [1, 2, None, 3, 3]
DECIMALS = [None if number is None else Decimal(number) for number in NUMBERS]
HALVES = pa.array([None if number is None else np.float16(number) for number in NUMBERS], pa.float16())
OF_POLARS = ["Int8", "Int16", "Int32", "Int64", "Int128", "UInt8", "UInt16", "UInt32", "UInt64", "UInt128", "Float16"]
COLUMNS_OF_NUMBERS = {
    **{f"polars {name}": pl.Series(NUMBERS).cast(getattr(pl, name)) for name in OF_POLARS if hasattr(pl, name)},
    "polars decimals": pl.Series(NUMBERS).cast(pl.Decimal(20, 3)),
    "polars whole numbers beyond 64 bits": pl.Series([1, 2, 2**100, 3, 3], dtype=pl.Int128),
    **{f"pandas {name}": pd.array(NUMBERS, name) for name in ("Int8", "UInt64", "Float32", "Float64")},
    "pandas of Arrow": pd.array(NUMBERS, pd.ArrowDtype(pa.decimal128(20, 3))),
    "pandas of Arrow, halves": pd.arrays.ArrowExtensionArray(pa.chunked_array([HALVES])),
    "Arrow halves": HALVES,
    "Arrow decimals": pa.array(DECIMALS, pa.decimal256(60, 3)),
    "Arrow decimals of hundreds": pa.array([1, 2, Decimal(300), 3, 3]).cast(pa.decimal128(30, 0)),
}


def framed(**columns):
    """A frame of whichever library the first column belongs to."""
    first = next(iter(columns.values()))
    make = {"polars": pl.DataFrame, "pandas": pd.DataFrame, "pyarrow": pa.table}
    return make[type(first).__module__.partition(".")[0]](columns)


@pytest.mark.parametrize("column", COLUMNS_OF_NUMBERS.values(), ids=COLUMNS_OF_NUMBERS)
def test_numbers_of_every_type_are_counted(column):
    """Every type counts as the plain numbers it stands for; what is missing or too large is not a point."""
    plain = np.array([(1.0, 1.0), (2.0, 2.0), (3.0, 3.0), (3.0, 3.0)])

    np.testing.assert_array_equal(counts(framed(lon=column, lat=column)), counts(plain))


TEXT = ["1", "2", None, "3", "3"]
OTHER_COLUMNS = {
    "polars enum": pl.Series(TEXT, dtype=pl.Enum(["1", "2", "3"])),
    "polars categories": pl.Series(TEXT, dtype=pl.Categorical),
    "polars durations": pl.Series(NUMBERS).cast(pl.Duration),
    "polars objects": pl.Series([1, "x", None, object(), 2.0], dtype=pl.Object),
    "polars nulls": pl.Series([None] * 5),
    "polars lists": pl.Series([[1]] * 5),
    "polars struct": pl.Series([{"a": 1}] * 5),
    "pandas objects of many types": pd.array([1, "x", None, Decimal(3), 2.0], dtype=object),
    "pandas decimals": pd.array(DECIMALS, dtype=object),
    "pandas of Arrow, text": pd.array(TEXT, pd.ArrowDtype(pa.large_string())),
    "pandas sparse": pd.arrays.SparseArray([1.0, 2.0, 3.0]),
    "Arrow dictionary": pa.array(NUMBERS).dictionary_encode(),
    "Arrow run ends": pa.RunEndEncodedArray.from_arrays([2, 5], [1.0, 2.0]),
    "Arrow lists": pa.array([[1]] * 5),
    "Arrow struct": pa.array([{"x": 1.0, "y": 2.0}] * 5),
    "Arrow views of text": pa.array(TEXT, pa.string_view()),
    "Arrow union": pa.UnionArray.from_dense(pa.array([0], pa.int8()), pa.array([0], pa.int32()), [pa.array([1.0])]),
    "Arrow extension": pa.ExtensionArray.from_storage(pa.uuid(), pa.array([b"0123456789abcdef"] * 5, pa.binary(16))),
}


@pytest.mark.parametrize("column", OTHER_COLUMNS.values(), ids=OTHER_COLUMNS)
def test_columns_of_no_numbers_are_refused_by_their_type(column):
    """The message is the same with rows and without, and holds no value of them."""
    frame = framed(lon=column, lat=column)
    messages = set()
    for rows in (frame, frame[:0]):
        with pytest.raises(
            InputError, match=r"column 'lon' of the frame has type .*; coordinates must be numbers"
        ) as caught:
            open_points(rows, crs=DOMAIN.crs)
        messages.add(str(caught.value))

    assert len(messages) == 1


def test_the_categories_of_a_type_are_not_shown():
    """They are values, though the schema holds them."""
    frame = pl.DataFrame({"lon": pl.Series(["ann"], dtype=pl.Enum(["ann", "bob"])), "lat": [1.0]})

    with pytest.raises(InputError, match="has type Enum;") as caught:
        open_points(frame, crs=DOMAIN.crs)
    assert "bob" not in str(caught.value)


def test_points_that_arrow_cannot_hold_are_refused_by_their_type():
    """A struct of whole numbers of 128 bits."""
    points = pl.DataFrame({"x": [1], "y": [2]}).cast(pl.Int128).to_struct("geometry")

    with pytest.raises(InputError, match="column 'geometry' of the frame has type Struct"):
        open_points(pl.DataFrame({"geometry": points}), crs=DOMAIN.crs, geometry="geometry")


def test_an_index_of_mixed_types_does_not_matter():
    """Arrow cannot convert it; it is not asked to."""
    frame = pd.DataFrame({"lon": [1.0, 2.0], "lat": [2.0, 3.0]}, index=pd.Index(["a", 1], name="id"))

    np.testing.assert_array_equal(counts(frame), counts(frame.to_numpy()))


def test_pandas_integers_with_missing_values_are_read():
    """A nullable column is one of numbers."""
    frame = pd.DataFrame({"x": pd.array([1, None, 2**62], "Int64"), "y": pd.array([2, 3, 4], "Int64")})

    np.testing.assert_array_equal(counts(frame), counts(np.array([(1, 2)])))


def test_a_geometry_column_of_a_frame_is_read():
    """WKB in polars and in Arrow-backed pandas, and structs."""
    table = pa.table({"shape": pa.array([wkb(1, 2), None, b"?"], pa.binary())})
    structs = pl.DataFrame({"shape": [{"x": 1.0, "y": 2.0}, None]})

    for frame in (pl.from_arrow(table), table.to_pandas(types_mapper=pd.ArrowDtype), structs):
        np.testing.assert_array_equal(counts(frame, geometry="shape"), counts(np.array([(1, 2)])))


@pytest.mark.parametrize("column", ["lon", "name"])
def test_a_geometry_column_of_another_type_is_an_error(column):
    """Numbers and text are no points."""
    frame = pl.DataFrame({"lon": [1.0], "name": ["POINT (1 2)"]})

    with pytest.raises(InputError, match="points are WKB"):
        open_points(frame, crs=DOMAIN.crs, geometry=column)


UNSUPPORTED = {
    "number": 5,
    "nothing": None,
    "dictionary": {"lon": [1.0], "lat": [2.0]},
    "series": pd.Series([1.0]),
}


@pytest.mark.parametrize("points", UNSUPPORTED.values(), ids=UNSUPPORTED)
def test_what_cannot_be_read_is_named_by_its_type(points):
    """The message says what can be given instead."""
    with pytest.raises(InputError, match="Give a path"):
        open_points(points, crs=DOMAIN.crs)


def test_names_of_columns_need_not_be_text():
    """As pandas calls those of a file without a header; a message lists them as they are asked for."""
    frame = pd.DataFrame({0: [0.5], 1: [0.25], 2: ["ann"], 3: ["car"]})
    by = By("3", values=["bike", "car"])
    ((block,),) = memory.TablePoints.of_frame(frame, crs="OGC:CRS84", lon="0", lat="1", user="2", by=by).parts()
    assert (block.longitudes.tolist(), block.latitudes.tolist()) == ([0.5], [0.25])
    assert (block.users.to_pylist(), block.slices.tolist()) == ([b"ann"], [1])
    for points in (frame.assign(**{"0": 0.5}), dd.from_pandas(frame, npartitions=1)):
        with pytest.raises(InputError, match=r"more than one column '0'|names are not text"):
            open_points(points, lon="0", lat="1")


def test_two_columns_of_one_name_are_an_error():
    """Frames that allow it are refused."""
    with pytest.raises(InputError, match="one column of each name"):
        open_points(pd.DataFrame([[1.0, 2.0, 3.0]], columns=["lon", "lat", "lat"]), crs=DOMAIN.crs)


@pytest.mark.parametrize("form", FORMS)
def test_no_text_of_a_source_holds_anything_of_it(form, tmp_path):
    """Neither repr nor str of a source, of its parts or of a counter says how many rows there are, or which."""
    source = open_points(FORMS[form](np.full((4321, 2), 7.654321), tmp_path), crs=DOMAIN.crs)
    counting = PointCounter(DOMAIN, source)
    counting.rows()

    blocks = [block for part in source.parts() for block in part]
    text = re.sub("0x[0-9a-f]+", "", repr((source, counting, source.parts(), blocks)))

    assert "4321" not in text.replace(str(tmp_path), "")
    assert "7.65" not in text
