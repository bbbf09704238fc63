"""Ids of users: the same bytes for the same id, whatever holds it."""

import uuid

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from hushgrid.counting.bounded import rows_in_domain
from hushgrid.counting.by_user.ids import Ids, Users
from hushgrid.counting.opening import open_points
from hushgrid.counting.source import Block
from hushgrid.counting.users import (
    IDS,
    LONGEST_ID,
    canonical_ids,
    ids_of_array,
    ids_of_values,
)
from hushgrid.errors import ArgumentError, InputError
from tests.plain import UNIT_SQUARE

WHOLE = [7, -12, 0, 2**31 - 1, 7]
TEXT = ["ann", "bob", "", "Zoë", "ann"]
UUIDS = [uuid.UUID(int=number << 60 | 5) for number in range(5)]
DIGITS = [b"7", b"-12", b"0", b"2147483647", b"7"]
LETTERS = [b"ann", b"bob", None, "Zoë".encode(), b"ann"]
HEXADECIMAL = [one.hex.encode() for one in UUIDS]

ARROW = {
    "int32": (pa.array(WHOLE, pa.int32()), DIGITS),
    "int64": (pa.array(WHOLE, pa.int64()), DIGITS),
    "text": (pa.array(TEXT), LETTERS),
    "large text": (pa.array(TEXT, pa.large_string()), LETTERS),
    "text views": (pa.array(TEXT, pa.string_view()), LETTERS),
    "a dictionary of text": (pa.array(TEXT).dictionary_encode(), LETTERS),
    "a dictionary of integers": (pa.array(WHOLE).dictionary_encode(), DIGITS),
    "sixteen bytes": (pa.array([one.bytes for one in UUIDS], pa.binary(16)), HEXADECIMAL),
    "UUIDs": (pa.array([one.bytes for one in UUIDS], pa.uuid()), HEXADECIMAL),
    "binary of any length": (pa.array([b"\x00\xff", b"", None, b"a", b"ab"]), [b"00ff", None, None, b"61", b"6162"]),
}
COORDINATES = {"lon": np.linspace(0, 1, 5), "lat": np.linspace(0, 1, 5)}


def ids_read(source):
    """All ids of a source, in order."""
    return [one for part in source.parts() for block in part for one in block.users.to_pylist()]


@pytest.mark.parametrize(("column", "expected"), ARROW.values(), ids=ARROW)
def test_every_declared_type_has_its_text(column, expected):
    """Integers are decimal, text is UTF-8, bytes are hexadecimal; empty ids are none; slices are read as they are."""
    assert canonical_ids(column).to_pylist() == expected
    assert canonical_ids(column[2:]).to_pylist() == expected[2:]


@pytest.mark.parametrize(("column", "expected"), ARROW.values(), ids=ARROW)
def test_a_parquet_file_and_a_table_give_the_same_ids(column, expected, tmp_path):
    """Row groups make no difference."""
    table = pa.table({**COORDINATES, "who": column})
    pq.write_table(table, tmp_path / "points.parquet", row_group_size=2)

    for points in (table, tmp_path / "points.parquet"):
        assert ids_read(open_points(points, crs=UNIT_SQUARE.crs, user="who")) == expected


FRAMES = {
    "pandas integers": (lambda: pd.DataFrame({**COORDINATES, "who": WHOLE}), DIGITS),
    "pandas nullable integers": (
        lambda: pd.DataFrame({**COORDINATES, "who": pd.array([7, None, 0, 1, 7], dtype="Int64")}),
        [b"7", None, b"0", b"1", b"7"],
    ),
    "pandas objects": (lambda: pd.DataFrame({**COORDINATES, "who": TEXT}), LETTERS),
    "pandas objects of every kind": (
        lambda: pd.DataFrame({**COORDINATES, "who": pd.Series(["7", 7, None, 7.0, UUIDS[1]], dtype=object)}),
        [b"7", b"7", None, None, HEXADECIMAL[1]],
    ),
    "pandas text": (lambda: pd.DataFrame({**COORDINATES, "who": pd.array(TEXT, dtype="string")}), LETTERS),
    "pandas categories": (lambda: pd.DataFrame({**COORDINATES, "who": pd.Categorical(TEXT)}), LETTERS),
    "half a surrogate": (
        lambda: pd.DataFrame({**COORDINATES, "who": ["\ud800", "a", "a", "a", "a"]}),
        [b"\xed\xa0\x80", b"a", b"a", b"a", b"a"],
    ),
    "polars integers": (lambda: pl.DataFrame({**COORDINATES, "who": WHOLE}), DIGITS),
    "polars integers of 128 bits": (
        lambda: pl.DataFrame({**COORDINATES, "who": pl.Series(WHOLE, dtype=pl.Int128)}),
        DIGITS,
    ),
    "polars integers beyond 64 bits": (
        lambda: pl.DataFrame({**COORDINATES, "who": pl.Series([2**100, None, -(2**90), 0, 7], dtype=pl.Int128)}),
        [b"%d" % (2**100), None, b"%d" % -(2**90), b"0", b"7"],
    ),
    "polars text": (lambda: pl.DataFrame({**COORDINATES, "who": TEXT}), LETTERS),
    "polars categories": (
        lambda: pl.DataFrame({**COORDINATES, "who": pl.Series(TEXT, dtype=pl.Categorical)}),
        LETTERS,
    ),
}


@pytest.mark.parametrize(("frame", "expected"), FRAMES.values(), ids=FRAMES)
def test_frames_give_the_same_ids(frame, expected):
    """Whatever a frame keeps them as."""
    assert ids_read(open_points(frame(), crs=UNIT_SQUARE.crs, user="who")) == expected


def test_ids_may_stand_beside_an_array_of_points():
    """Ids may be an array of integers or text, or a list of anything."""
    points = np.column_stack(list(COORDINATES.values()))

    for ids, expected in ((np.array(WHOLE), DIGITS), (np.array(TEXT), LETTERS), (UUIDS, HEXADECIMAL)):
        assert ids_read(open_points(points, crs=UNIT_SQUARE.crs, user=ids)) == expected
        assert ids_read(open_points(points.tolist(), crs=UNIT_SQUARE.crs, user=ids)) == expected


def test_masked_and_enormous_integers():
    """A masked id is none, and so is one of more digits than Python writes."""
    assert ids_of_array(np.ma.array([1, 2], mask=[False, True])).to_pylist() == [b"1", None]
    assert ids_of_values([10**5000, True, np.int8(3), np.timedelta64("NaT")]).to_pylist() == [None, None, b"3", None]


CSV_LINES = {
    "plain": (b"ann,0.5,0.5", b"ann"),
    "blanks at the ends": (b"  ann \t,0.5,0.5", b"ann"),
    "quoted": (b'"ann, the second",0.5,0.5', b"ann, the second"),
    "quotes inside quotes": (b'"ann ""the"" """"",0.5,0.5', b'ann "the" ""'),
    "quotes without quotes": (b'ann ""the,0.5,0.5', b'ann ""the'),
    "quotes alone": (b'"""",0.5,0.5', b'"'),
    "nothing in quotes": (b'"",0.5,0.5', None),
    "empty": (b",0.5,0.5", None),
    "only blanks": (b"  ,0.5,0.5", None),
    "a quote never closed": (b'"ann,0.5,0.5', None),
    "bytes that are no text": (b"\xff\xfe,0.5,0.5", b"\xff\xfe"),
    "leading zeros": (b"007,0.5,0.5", b"007"),
    "a blank inside": (b"ann b,0.5,0.5", b"ann b"),
}


@pytest.mark.parametrize(("line", "expected"), CSV_LINES.values(), ids=CSV_LINES)
@pytest.mark.parametrize("last", [False, True], ids=["id first", "id last"])
def test_ids_in_csv_are_text(line, expected, last, tmp_path):
    """An id is the text of its field, without quotes and blanks around it; nothing is decoded."""
    who, point = line[: -len(b",0.5,0.5")], b"0.5,0.5"
    header, row = (b"lon,lat,who", point + b"," + who) if last else (b"who,lon,lat", who + b"," + point)
    path = tmp_path / "points.csv"
    path.write_bytes(header + b"\n" + row + b"\n" + (b"0.1,0.1,x" if last else b"x,0.1,0.1") + b"\n")

    assert ids_read(open_points(path, crs=UNIT_SQUARE.crs, user="who")) == [expected, b"x"]


REFUSED = {
    "floats": pa.array([1.0, 2.0, 3.0, 4.0, 5.0]),
    "truth values": pa.array([True] * 5),
    "dates": pa.array([0] * 5, pa.date32()),
    "lists": pa.array([[1]] * 5),
    "decimals": pa.array([1] * 5, pa.decimal128(5, 0)),
    "nothing at all": pa.nulls(5),
}


@pytest.mark.parametrize("column", REFUSED.values(), ids=REFUSED)
def test_other_types_are_refused_by_their_declaration(column, tmp_path):
    """Other types are refused before a row is read, with the way out."""
    table = pa.table({**COORDINATES, "who": column})
    pq.write_table(table, tmp_path / "points.parquet")

    for points in (table, tmp_path / "points.parquet"):
        with pytest.raises(InputError, match="user ids are integers, text, UUIDs or binary"):
            open_points(points, crs=UNIT_SQUARE.crs, user="who")


def test_float_ids_of_frames_and_arrays_are_refused():
    """A frame says how to keep integers with gaps."""
    with pytest.raises(InputError, match="Int64"):
        open_points(pd.DataFrame({**COORDINATES, "who": [1.0] * 5}), crs=UNIT_SQUARE.crs, user="who")
    with pytest.raises(ArgumentError, match="float64"):
        open_points(np.zeros((2, 2)), crs=UNIT_SQUARE.crs, user=np.zeros(2))


def test_wrong_names_are_refused():
    """A column that is not there, one that holds coordinates, a name beside an array, ids beside a table."""
    table = pa.table({**COORDINATES, "who": WHOLE})

    with pytest.raises(InputError, match="'nobody'"):
        open_points(table, crs=UNIT_SQUARE.crs, user="nobody")
    with pytest.raises(ArgumentError, match="column of coordinates"):
        open_points(table, crs=UNIT_SQUARE.crs, user="lon")
    with pytest.raises(ArgumentError, match="no columns"):
        open_points(np.zeros((2, 2)), crs=UNIT_SQUARE.crs, user="who")
    with pytest.raises(ArgumentError, match="name of a column"):
        open_points(table, crs=UNIT_SQUARE.crs, user=WHOLE)
    with pytest.raises(InputError, match="one id for each point"):
        open_points(np.zeros((2, 2)), crs=UNIT_SQUARE.crs, user=[1, 2, 3])


def test_a_dictionary_that_names_a_user_twice_has_one_user():
    """Values of a dictionary may repeat, be null, or belong to no row: ids are compared in full."""
    ids = pa.DictionaryArray.from_arrays([3, 0, 1, 3, None], pa.array(["ann", "", "x", "ann"]))
    both = Ids.joined([Ids.of(canonical_ids(ids)), Ids.of(canonical_ids(pa.array(["ann", None])))])

    assert Users.of(both).numbers[both.numbers].tolist() == [0, 0, -1, 0, -1, 0, -1]


@pytest.mark.parametrize("missing", ["drop", "own"])
def test_a_row_with_too_long_an_id_is_no_record(missing):
    """It is dropped even where rows without an id are users of their own, because its user may have more."""
    ids = pa.array(["ü".encode() * LONGEST_ID, b"x" * (LONGEST_ID + 1), None], IDS)

    for form in (ids, ids.dictionary_encode()):
        block = Block.of(np.full(3, 0.5), np.full(3, 0.5), 1, form)
        kept = rows_in_domain(block, UNIT_SQUARE, missing).ids.array().to_pylist()
        assert kept == ["ü".encode() * LONGEST_ID, *([b""] if missing == "own" else [])]
