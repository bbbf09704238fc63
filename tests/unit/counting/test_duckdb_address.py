"""What DuckDB is given to read, and that no line of a file changes how another is read."""

import gzip

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from hushgrid.counting.engine.address import Address
from hushgrid.counting.open import open_points
from hushgrid.counting.open_counter import open_counter
from hushgrid.errors import ArgumentError, HushgridError, InputError
from hushgrid.geometry.domain import Domain

DOMAIN = Domain(west=0, south=0, east=10, north=10)
HEADER = b"id,lon,lat\n"
GOOD = b"".join(b"%d,%d.5,%d\n" % (number, number % 10, number % 9) for number in range(50))


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    """A folder of its own for each test."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def counted(text, **columns):
    """Rows, and points in the domain, of what an address leads to."""
    points = open_points(Address(text=text, engine="duckdb"), domain=DOMAIN, **columns)
    with open_counter(DOMAIN, points) as counting:
        return counting.rows(), counting.total()


LINES = {
    "a stray quote": (b'"7,1,1\n', 1),
    "quoted numbers": (b'"7","1","1"\n', 1),
    "a quote in the middle": (b'7,1"1,1\n', 0),
    "too few fields": (b"7,1\n", 0),
    "text": (b"7,one,1\n", 0),
    "empty": (b"7,,\n", 0),
    "not UTF-8": (b"7,\xff\xfe,1\n", 0),
    "a NUL": (b"7,1\x00,1\n", 0),
    "three megabytes": (b"7," + b"9" * 3_000_000 + b",1\n", 0),
    "too large for a double": (b"7,1e999,1\n", 0),
    "NaN": (b"7,nan,1\n", 0),
    "a carriage return": (b"7,1,1\r\n", 1),
    "a comment": (b"#7,1,1\n", 1),
    "a backslash": (b"\\,1,1\n", 1),
    "the separator of another file": (b"7\x1f,1,1\n", 1),
    "spaces": (b" 7 , 1 , 1 \n", 1),
}


@pytest.mark.parametrize("place", ["first", "in the middle", "last"])
@pytest.mark.parametrize(("line", "points"), LINES.values(), ids=LINES)
def test_a_line_counts_for_itself_alone(folder, line, points, place):
    """Wherever it is; all other lines are counted as without it."""
    half = GOOD.index(b"25,")
    content = {"first": line + GOOD, "in the middle": GOOD[:half] + line + GOOD[half:], "last": GOOD + line}[place]
    (folder / "trips.csv").write_bytes(HEADER + content)

    rows, total = counted("trips.csv")

    assert total == 50 + points
    assert 50 <= rows <= 51


@pytest.mark.parametrize("query", ["x/*.csv.gz", "SELECT lon, lat FROM 'x/*.csv.gz'", "FROM 'x/*.csv.gz'"])
def test_packed_files_of_a_pattern_are_one_table(folder, query):
    """By name, or in a query."""
    (folder / "x").mkdir()
    for name in ("a", "b"):
        (folder / "x" / f"{name}.csv.gz").write_bytes(gzip.compress(HEADER + GOOD))

    assert counted(query) == (100, 100)


def test_a_query_may_choose_rows_and_columns(folder):
    """Columns of CSV files are text in it."""
    (folder / "trips.tsv").write_bytes((HEADER + GOOD).replace(b",", b"\t"))

    assert counted("SELECT lat AS x, lon AS y FROM 'trips.tsv' WHERE id < '2'") == (11 + 1, 11 + 1)


def test_parquet_databases_and_json_lines_are_read(folder):
    """A pattern of files, a table of a database, fields of objects."""
    pq.write_table(pa.table({"lon": [1.0, 11.0], "lat": [1.0, 1.0]}), folder / "trips.parquet")
    with duckdb.connect("trips.duckdb") as connection:
        connection.execute("CREATE TABLE trips AS SELECT 1.25 AS lon, 2::FLOAT AS lat FROM range(5)")
    (folder / "trips.ndjson").write_text('{"e":1,"n":2}\n{"e":"3","n":2}\n{bad\n{"e":{},"n":2}\n[]\n{"n":1}\n')

    assert counted("*.parquet") == (2, 1)
    assert counted("trips.duckdb?table=trips") == (5, 5)
    assert counted("trips.ndjson", lon="e", lat="n")[1] == 2


ERRORS = {
    "no such file": ("nowhere/*.parquet", InputError, "DuckDB cannot read 'nowhere"),
    "no such table": ("trips.duckdb?table=nowhere", InputError, "nowhere does not exist"),
    "a database without a table": ("trips.duckdb", InputError, r"Name a table of it: trips.duckdb\?table=NAME"),
    "an unknown extension": ("trips.xyz", InputError, "Known are: .parquet"),
    "bad SQL": ("SELECT lon lat lon FROM 'trips.csv'", InputError, "does not understand"),
    "a column that is not there": ("SELECT lon, up FROM 'trips.csv'", InputError, 'column "up" not found'),
    "text in a database": ("SELECT 'a' AS lon, 1 AS lat", InputError, "coordinates must be numbers"),
    "two statements": ("SELECT 1 AS lon, 2 AS lat; SELECT 3", ArgumentError, "one SELECT"),
    "JSON without names": ("trips.ndjson", ArgumentError, "has no header"),
    "no coordinates": ("SELECT id FROM 'trips.csv'", InputError, "no columns known as coordinates"),
}


@pytest.mark.parametrize(("text", "error", "message"), ERRORS.values(), ids=ERRORS)
def test_errors_name_what_was_given(folder, text, error, message):
    """From the query and the schema alone."""
    (folder / "trips.csv").write_bytes(HEADER + GOOD)
    (folder / "trips.ndjson").write_bytes(b"{}\n")
    duckdb.connect("trips.duckdb").close()

    with pytest.raises(error, match=message):
        counted(text)


def test_a_query_that_fails_on_a_row_quotes_nothing_of_it(folder):
    """It is the user's own doing, and still no row is shown."""
    (folder / "trips.csv").write_bytes(HEADER + b"7,s3cret,1\n")

    with pytest.raises(HushgridError, match="DuckDB did not finish") as caught:
        counted("SELECT lon::DOUBLE AS lon, lat FROM 'trips.csv'")

    assert "s3cret" not in str(caught.value)
