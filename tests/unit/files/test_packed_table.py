"""Tables in a footer, and what hostile ones may cost."""

import base64

import numpy as np
import pyarrow as pa
import pytest

from hushgrid.errors import SynopsisFileError
from hushgrid.files.tables import REGION_SCHEMA, pack, unpack
from tests.tampering import packed

ROWS = 1000
RATES = pa.DictionaryArray.from_arrays(np.zeros(ROWS, np.int32), ["1/2"])
TABLE = pa.table([np.arange(ROWS), RATES, np.arange(ROWS), np.arange(ROWS) + 1], schema=REGION_SCHEMA)


def unpacked(text, *, rows=ROWS, schema=REGION_SCHEMA):
    """The table in a text."""
    return unpack(text, schema=schema, rows=rows, name="table")


def test_unpack_undoes_pack():
    """What comes back is what went in."""
    assert unpacked(pack(TABLE)).equals(TABLE)


def test_anybody_can_read_it():
    """A packed table is base64 of zstd of an Arrow stream, as the documentation says."""
    stream = pa.input_stream(pa.py_buffer(base64.b64decode(pack(TABLE))), compression="zstd")

    assert pa.ipc.open_stream(stream).read_all().equals(TABLE)


@pytest.mark.parametrize(
    "text",
    [
        b"",
        b"no base64!",
        base64.b64encode(b"no zstd"),
        base64.b64encode(pa.compress(b"no Arrow", "zstd", asbytes=True)),
    ],
    ids=["empty", "no-base64", "no-zstd", "no-arrow"],
)
def test_nonsense_is_refused(text):
    """Each layer may be missing."""
    with pytest.raises(SynopsisFileError, match="cannot be decoded"):
        unpacked(text)


@pytest.mark.parametrize("rows", [ROWS - 1, ROWS + 1])
def test_the_number_of_rows_must_be_the_declared_one(rows):
    """Fewer rows than declared are refused, and so are more."""
    with pytest.raises(SynopsisFileError, match="1,000 rows where"):
        unpacked(pack(TABLE), rows=rows)


def test_other_columns_are_refused():
    """A table of something else is not read as this one."""
    with pytest.raises(SynopsisFileError, match="does not have the columns value, rate, first, stop"):
        unpacked(pack(TABLE.drop(["rate"])))


def test_a_bomb_is_not_unpacked():
    """A gigabyte of zeros in a short text costs no gigabyte."""
    chunk = pa.table([pa.chunked_array([np.zeros(2**20, np.int64)] * 128)], schema=pa.schema([("side", pa.int64())]))
    before = pa.default_memory_pool().max_memory()

    with pytest.raises(SynopsisFileError, match="cannot be decoded"):
        unpacked(pack(chunk), rows=4, schema=chunk.schema)
    assert pa.default_memory_pool().max_memory() - before < 2**28


@pytest.mark.parametrize("codec", ["zstd", "lz4"])
def test_a_bomb_inside_the_bomb_is_not_unpacked(codec):
    """Buffers compressed inside the stream could expand past its limit, so they are refused however small."""
    with pytest.raises(SynopsisFileError, match="cannot be decoded") as caught:
        unpacked(packed(TABLE, inside=codec))

    assert "compressed twice" in str(caught.value.__cause__)


def test_the_refusal_is_not_of_everything():
    """Control: the same table without inner compression is read."""
    assert unpacked(packed(TABLE)).equals(TABLE)
