"""Points files, arrays and frames: rows that are no points change nothing, files that are none are refused."""

import gzip
import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hushgrid.counting.counter import PointCounter
from hushgrid.counting.opening import open_points
from hushgrid.geometry.domain import Domain
from hushgrid.geometry.grid import Grid
from tests.hostile.conftest import Tried
from tests.hostile.outcomes import command, mutants, peak_of, read_or_refused, strange_paths
from tests.unit.counting.tables import geo_metadata, wkb

DOMAIN = Domain(west=0, south=0, east=2, north=1)
GRID = Grid(domain=DOMAIN, rows=2, columns=2)
GOOD = [(0.5, 0.25), (1.5, 0.75), (2.0, 1.0)]
MANY = settings(max_examples=150, deadline=None, suppress_health_check=list(HealthCheck))
ASK = ["--domain", "0,0,2,1", "--epsilon", "1", "--overwrite", "-o"]


def counted(points: Any, **names: str) -> list[int]:
    """Points in each cell; every row is also counted as one."""
    counter = PointCounter(DOMAIN, open_points(points, crs=DOMAIN.crs, **names))
    assert counter.rows() >= 0
    return counter.count(GRID).ravel().tolist()


def written(path: Path, content: bytes) -> Path:
    """A file, compressed where its name says so."""
    path.write_bytes(gzip.compress(content, 1) if path.suffix == ".gz" else content)
    return path


@pytest.mark.parametrize("name", ["x.csv", "x.csv.gz"])
@MANY
@given(lines=st.lists(st.binary(max_size=60), max_size=8), spot=st.integers(0, 3))
def test_lines_of_anything(
    name: str, lines: list[bytes], spot: int, tmp_path_factory: pytest.TempPathFactory, tried: Tried
) -> None:
    """Lines of any bytes between good ones, quotes and null characters too: the good ones are all counted."""
    good = [f"{longitude},{latitude}".encode() for longitude, latitude in GOOD]
    # In its first field is no number: such a line is no point, whatever follows.
    bad = [b"x" + line.replace(b"\n", b"") for line in lines]
    text = b"\n".join([b"lon,lat", *good[:spot], *bad, *good[spot:], b""])
    with tried.one():
        assert counted(written(tmp_path_factory.mktemp("x") / name, text)) == counted(np.array(GOOD))
    if tried.inputs == 150:
        tried.at_least(150)


@MANY
@given(rows=st.lists(st.binary(max_size=48), max_size=8))
def test_wkb_of_anything(rows: list[bytes], tried: Tried) -> None:
    """Bytes that are no point among those that are: nothing is raised, and the points are all counted."""
    rows = [row for row in rows if len(row) not in (21, 25, 29, 33, 37, 41)]  # lengths of points
    table = pa.table({"geometry": pa.array([*(wkb(*point) for point in GOOD), *rows, None], pa.binary())})
    with tried.one():
        assert counted(table, geometry="geometry") == counted(np.array(GOOD))
    if tried.inputs == 150:
        tried.at_least(150)


class Angry:
    """Raises whatever it is told to, whatever it is asked."""

    def __init__(self, error: BaseException) -> None:
        self.error = error

    def __iter__(self) -> Any:
        raise self.error

    def __float__(self) -> float:
        raise self.error


ERRORS = [RuntimeError(), KeyError(), ZeroDivisionError(), RecursionError(), AttributeError(), MemoryError()]
NO_POINTS = [
    *(None, (), (1,), (1, 2, 3), "", "x", "xy", b"", 7, True, {}, {1, 2, 3}, object(), [[], []], ("a", "b"), (None, 1)),
    *((np.nan, 1), (10**400, 1), ("1e999", 1), (1j, 1), (b"\0", 1), ([1], [2]), (float("inf"), 0)),
    *map(Angry, ERRORS),
    *((Angry(error), 1) for error in ERRORS),
]


def test_lists_of_anything(tried: Tried) -> None:
    """Objects of every kind as rows, those that raise errors of any kind among them."""
    for row in NO_POINTS:
        with tried.one():
            assert counted([*GOOD, row]) == counted(np.array(GOOD))
    tried.at_least(30)


DTYPES = ["object", "str", "bool", "datetime64[ns]", "complex128", "S8", "category", "timedelta64[ns]"]


@pytest.mark.parametrize("kind", DTYPES)
def test_columns_of_other_types(kind: str, tried: Tried) -> None:
    """Arrays and frames that do not hold numbers are refused by their type, the same for all values."""
    answers = set()
    for values in ([0, 1], [1, 1], []):
        array = np.array(values, "i8").astype(kind if kind != "category" else "object")
        series = pd.Series(values).astype(kind if kind != "S8" else "object")
        for points in (np.stack([array, array], 1), (array, array), pd.DataFrame({"lon": series, "lat": series})):
            with tried.one():
                answers.add(read_or_refused(lambda points=points: counted(points)))
    assert answers == {False}
    tried.at_least(9)


def parquet(table: pa.Table, **options: Any) -> bytes:
    """A Parquet file."""
    sink = io.BytesIO()
    pq.write_table(table, sink, **options)
    return sink.getvalue()


NUMBERS = pa.table({"lon": [x for x, _ in GOOD] * 50, "lat": [y for _, y in GOOD] * 50})
WKB = pa.table({"geometry": [wkb(*point) for point in GOOD] * 50}).replace_schema_metadata(geo_metadata())
FILES = {
    "x.parquet": parquet(NUMBERS, row_group_size=64),
    "x.geoparquet": parquet(WKB, compression="zstd"),
    "x.csv.gz": gzip.compress(b"lon,lat\n" + b"1,0.5\n" * 500),
    "x.csv": b'lon,"lat"\n' + b"1,0.5\n" * 100,
}


def mutate(name: str, number: int, folder: Path, tried: Tried) -> None:
    for mutant in mutants(FILES[name], number, seed=number):
        path = folder / name
        path.write_bytes(mutant)
        with tried.one():
            read_or_refused(lambda path=path: counted(path))
    tried.at_least(number)


@pytest.mark.parametrize("name", FILES)
def test_mutated_files(name: str, tmp_path: Path, tried: Tried) -> None:
    """Bytes flipped, cut out, doubled and overwritten by extreme numbers."""
    mutate(name, 150, tmp_path, tried)


@pytest.mark.slow
@pytest.mark.parametrize("name", FILES)
def test_many_mutated_files(name: str, tmp_path: Path, tried: Tried) -> None:
    """Ten times as many mutated files are read or refused."""
    mutate(name, 1_500, tmp_path, tried)


GEO: dict[str, str | bytes] = {
    "deep lists": "[" * 100_000,
    "a deep code": '{"primary_column": "geometry", "columns": {"geometry": {"crs": {"id": {"code": '
    + "[" * 900
    + "]" * 900
    + "}}}}}",
    "a long name": json.dumps({"primary_column": "geometry", "columns": {"geometry": {"crs": {"name": "x" * 10**6}}}}),
    "a control character": '{"primary_column": "geometry", "columns": {"geometry": {"crs": {"name": "\\u001b[2J"}}}}',
    "half a surrogate pair": '{"primary_column": "\\ud800"}',
    "a path": '{"primary_column": "../../etc/passwd"}',
    "no object": "7",
    "not UTF-8": b"\xff",
    "a huge number": '{"primary_column": ' + "9" * 10_000 + "}",
}


@pytest.mark.parametrize("geo", GEO.values(), ids=GEO)
def test_strange_metadata(geo: str | bytes, tmp_path: Path, tried: Tried) -> None:
    """GeoParquet metadata that is nested deep, long, or no object: refused in one line of reasonable length."""
    path = tmp_path / "x.parquet"
    path.write_bytes(parquet(WKB.replace_schema_metadata({"geo": geo})))

    with tried.one():
        assert not read_or_refused(lambda: counted(path))
        assert command("publish", path, *ASK, tmp_path / "o.dp.parquet").exit_code == 3
    tried.at_least(1)


HEADERS = {
    "empty": b"",
    "only a mark of byte order": b"\xef\xbb\xbf",
    "null characters": bytes(1000),
    "a quote without end": b'"' * 999 + b"\n",
    "one line of 1 MB": b"lon,lat" * 150_000,
    "old line ends": b"lon,lat\r1,2\r",
    "UTF-16": "lon,lat\n1,2\n".encode("utf-16"),
    "a record": b"1.5,0.5\n1.5,0.5\n",
    "commands to a terminal": b"\x1b[2J,\x07\n",
    "formulas": b"=1+1,=cmd|x\n",
    "60,000 columns": b"x," * 30_000 + b"\n",
    "lon twice": b"lon,lon,lat\n",
}


@pytest.mark.parametrize("content", HEADERS.values(), ids=HEADERS)
def test_strange_headers(content: bytes, tmp_path: Path, tried: Tried) -> None:
    """First lines that name no columns: refused in one line that nothing of the file can take over."""
    for name in ("x.csv", "x.csv.gz"):
        path = written(tmp_path / name, content)
        with tried.one():
            assert command("publish", path, *ASK, tmp_path / "o.dp.parquet").exit_code == 3
    tried.at_least(2)


def test_many_columns_and_short_rows(tmp_path: Path, tried: Tried) -> None:
    """A column far to the right costs rows that end before it nothing."""
    path = tmp_path / "x.csv"
    path.write_text(",".join(f"c{n}" for n in range(9_000)) + ",lon,lat\n" + "1\n" * 100_000)

    with tried.one():
        assert counted(path) == [0, 0, 0, 0]
    tried.at_least(1)


COUNT = """
import sys
from hushgrid.counting.opening import open_points
from hushgrid.counting.counter import PointCounter
from hushgrid.geometry.domain import Domain
from hushgrid.geometry.grid import Grid
domain = Domain(west=0, south=0, east=2, north=1)
counter = PointCounter(domain, open_points(sys.argv[1]))
assert (int(counter.count(Grid(domain=domain, rows=1, columns=1)).sum()), counter.rows()) == (2, 2)
"""


def sparse_line(path: Path) -> None:
    """A line of 1 GB, of null characters, that takes no room on the disk."""
    with path.open("wb") as file:
        file.write(b"lon,lat\n1,0.5\n")
        file.seek(2**30)
        file.write(b"\n1,0.5\n")


def compressed_line(path: Path) -> None:
    """A compressed file of one line, a quarter as long."""
    with gzip.open(path, "wb", 1) as file:
        file.write(b"lon,lat\n1,0.5\n")
        for _ in range(2**8):
            file.write(bytes(2**20))
        file.write(b"\n1,0.5\n")


LONG_LINES = {"x.csv": sparse_line, "x.csv.gz": compressed_line}


@pytest.mark.slow
@pytest.mark.parametrize("name", LONG_LINES)
def test_a_line_of_a_gigabyte(name: str, tmp_path: Path, tried: Tried) -> None:
    """It is dropped in little memory, and the lines around it are counted."""
    make: Callable[[Path], None] = LONG_LINES[name]
    make(tmp_path / name)

    with tried.one():
        peak = peak_of(COUNT, tmp_path / name)
    assert peak < 600
    tried.at_least(1)


BOUND = """
import sys
from hushgrid.counting.bounded import bounded_points
from hushgrid.counting.bounding import KeyedRule
from hushgrid.counting.opening import open_points
from hushgrid.counting.counter import PointCounter
from hushgrid.geometry.domain import Domain
path, geometry, user, kept = sys.argv[1:]
domain = Domain(west=0, south=0, east=2, north=1)
source = open_points(path, geometry=geometry or None, user=user or None)
if user:
    with bounded_points(source, KeyedRule(key=bytes(32), domain=domain, most=3), memory_bytes=2**22) as bounded:
        assert bounded.source.rows() == int(kept)
else:
    assert PointCounter(domain, source).total() == int(kept)
"""
ROWS = 200_000
HUGE = 50 * 10**6  # bytes


def mostly_first(values: list[Any]) -> pa.DictionaryArray:
    """A column whose first value is in all rows but the last few, which have one of the others each."""
    indices = np.zeros(ROWS, np.int32)
    indices[ROWS - len(values) + 1 :] = np.arange(1, len(values))
    return pa.DictionaryArray.from_arrays(indices, pa.array(values))


def write_small(path: Path, columns: dict[str, Any]) -> None:
    """A file with the dictionaries that the columns have, whose types do not tell of them."""
    table = pa.table({"lon": np.full(ROWS, 1.5), "lat": np.full(ROWS, 0.5)} | columns)
    if "geometry" in columns:
        table = table.drop_columns(["lon", "lat"])
    options = {"compression": "zstd", "dictionary_pagesize_limit": 2**30, "store_schema": False}
    pq.write_table(table, path, write_statistics=False, **options)  # they would compare 50 MB in every row


def write_zeros(path: Path) -> None:
    """1.2 GB of null characters as ids, none in a dictionary, in pages that are compressed."""
    schema = pa.schema({"lon": pa.float64(), "lat": pa.float64(), "who": pa.string()})
    zeros = pa.record_batch([np.full(100, 1.5), np.full(100, 0.5), ["\0" * 20_000] * 100], schema=schema)
    with pq.ParquetWriter(path, schema, compression="zstd", use_dictionary=False, write_statistics=False) as writer:
        for _ in range(600):
            writer.write_batch(zeros, row_group_size=10**6)
        writer.write_batch(pa.record_batch([[1.5], [0.5], ["ann"]], schema=schema), row_group_size=10**6)


def struct_beside_text() -> pa.StructArray:
    """Points, and a field of theirs that nobody asks for."""
    return pa.StructArray.from_arrays(
        [np.full(ROWS, 1.5), mostly_first(["x" * HUGE]), np.full(ROWS, 0.5)], ["x", "t", "y"]
    )


# How a file is written, its column of users, and how many records are kept of it.
SMALL_FILES: dict[str, tuple[Callable[[Path], None], str, int]] = {
    "an id of 50 MB": (lambda path: write_small(path, {"who": mostly_first(["x" * HUGE, "ann", "bob", ""])}), "who", 2),
    "a binary id of 50 MB": (lambda path: write_small(path, {"who": mostly_first([bytes(HUGE), b"ann"])}), "who", 1),
    "an id of 1 KB": (lambda path: write_small(path, {"who": mostly_first(["x" * 1024, "ann", ""])}), "who", 4),
    "a thousand ids of 1 KB": (
        lambda path: write_small(path, {"who": mostly_first([f"{n:04}" * 256 for n in range(1000)])}),
        "who",
        1002,
    ),
    "a geometry of 50 MB": (
        lambda path: write_small(path, {"geometry": mostly_first([bytes(HUGE), wkb(1, 0.5), wkb(3, 3)])}),
        "",
        1,
    ),
    "a field of 50 MB": (lambda path: write_small(path, {"geometry": struct_beside_text()}), "", ROWS),
    "a column of 50 MB that is not read": (
        lambda path: write_small(path, {"more": mostly_first(["x" * HUGE])}),
        "",
        ROWS,
    ),
    "pages of 1.2 GB of zeros": (write_zeros, "who", 1),
    "one user and one place": (lambda path: write_small(path, {"who": np.zeros(ROWS, np.int64)}), "who", 3),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", SMALL_FILES)
def test_a_small_file_that_says_much(name: str, tmp_path: Path, tried: Tried) -> None:
    """What would fill terabytes, row by row, is read in little memory, and the records around it are kept."""
    write, user, kept = SMALL_FILES[name]
    path = tmp_path / "x.parquet"
    write(path)
    assert path.stat().st_size < 10**6

    with tried.one():
        geometry = "geometry" if "geometry" in pq.read_schema(path).names else ""
        peak = peak_of(BOUND, path, geometry, user, kept)
    assert peak < 900
    tried.at_least(1)


def test_paths_that_are_no_files(tmp_path: Path, tried: Tried) -> None:
    """Folders, pipes, devices, links to themselves and to nowhere, and names too long."""
    for name in ("x.csv", "x.csv.gz", "x.parquet"):
        folder = tmp_path / name
        folder.mkdir()
        for path in strange_paths(folder, name).values():
            with tried.one():
                assert command("publish", path, *ASK, tmp_path / "o.dp.parquet").exit_code == 3
                assert not read_or_refused(lambda path=path: counted(path))
    with tried.one():
        assert not read_or_refused(lambda: counted("a\0b.csv"))
    tried.at_least(30)


def test_paths_that_cannot_be_written_to(tmp_path: Path, tried: Tried) -> None:
    """Strange paths as places for a release are refused before anything is read, as wrong arguments."""
    points = written(tmp_path / "x.csv", b"lon,lat\n1,0.5\n")
    for name, path in strange_paths(tmp_path, "o.dp.parquet").items():
        if "missing" not in name and "dangling" not in name:
            with tried.one():
                assert command("publish", points, *ASK, path).exit_code == 2
    tried.at_least(8)
