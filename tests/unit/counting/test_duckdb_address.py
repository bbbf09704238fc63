"""What DuckDB is given to read, what it may do on the way, and where it spills."""

import gzip
import os
import threading
import time
from contextlib import contextmanager, suppress
from pathlib import Path

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from hushgrid.counting.bounding import KeyedRule
from hushgrid.counting.counter import open_bounded_counter, open_counter
from hushgrid.counting.engine.address import Address
from hushgrid.counting.engine.local import DUCKDB_SETTINGS
from hushgrid.counting.opening import open_points
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
    points = open_points(Address(text=text, engine="duckdb"), crs=DOMAIN.crs, **columns)
    with open_counter(DOMAIN, points) as counting:
        return counting.rows(), counting.total()


def write_points(path, count):
    """A Parquet file of a few points."""
    pq.write_table(pa.table({"lon": [1.0] * count, "lat": [1.0] * count}), path)


def test_packed_files_of_a_pattern_are_one_table(folder):
    """Our own reader counts them."""
    (folder / "x").mkdir()
    for name in ("a", "b"):
        (folder / "x" / f"{name}.csv.gz").write_bytes(gzip.compress(HEADER + GOOD))

    assert counted("x/*.csv.gz") == (100, 100)


def test_users_of_csv_files_are_bounded_over_all_files(folder):
    """A user in two files keeps as many records as a user in one."""
    for name in ("a", "b"):
        (folder / f"{name}.csv").write_bytes(HEADER + GOOD)
    rule = KeyedRule(domain=DOMAIN, key=bytes(32), most=1, most_for_total=5)
    points = open_points(Address(text="*.csv", engine="duckdb"), crs=DOMAIN.crs, user="id")

    with open_bounded_counter(points, rule, missing="drop") as bounded:
        assert (bounded.counter.total(), bounded.true_capped_total) == (50, 100)


def test_a_csv_file_that_changes_between_passes_is_refused(folder):
    """All passes read one state of all files."""
    for name in ("a", "b"):
        (folder / f"{name}.csv").write_bytes(HEADER + GOOD)
    points = open_points(Address(text="*.csv", engine="duckdb"), crs=DOMAIN.crs)

    with open_counter(DOMAIN, points) as counting:
        counting.total()
        (folder / "b.csv").write_bytes(HEADER)
        with pytest.raises(InputError, match=r"b\.csv changed"):
            counting.total()


def test_a_query_may_choose_rows_and_columns(folder):
    """A query of a Parquet file may filter rows and rename columns."""
    pq.write_table(pa.table({"id": range(50), "lon": np.arange(50) / 5, "lat": [1.0] * 50}), folder / "trips.parquet")

    assert counted("SELECT lat AS x, lon AS y FROM 'trips.parquet' WHERE id < 12") == (12, 12)


def test_a_query_may_read_text_in_its_own_way(folder):
    """A query may call read_csv, whose options are the user's."""
    (folder / "trips.csv").write_bytes(HEADER + GOOD)

    text = "SELECT TRY_CAST(lon AS DOUBLE) AS lon, TRY_CAST(lat AS DOUBLE) AS lat FROM read_csv('trips.csv')"
    assert counted(text) == (50, 50)


def test_parquet_and_databases_are_read(folder):
    """A pattern of files, a table of a database."""
    pq.write_table(pa.table({"lon": [1.0, 11.0], "lat": [1.0, 1.0]}), folder / "trips.parquet")
    with duckdb.connect("trips.duckdb") as connection:
        connection.execute("CREATE TABLE trips AS SELECT 1.25 AS lon, 2::FLOAT AS lat FROM range(5)")

    assert counted("*.parquet") == (2, 1)
    assert counted("trips.duckdb?table=trips") == (5, 5)


NAMES = {
    "signs of a pattern": "trips[1].parquet",
    "a star": "trips*.parquet",
    "a question mark": "trip?.parquet",
    "a query": "from here.parquet",
    "a quote": "o'hare.parquet",
}


@pytest.mark.parametrize("name", NAMES.values(), ids=NAMES)
def test_a_file_that_exists_wins_over_what_its_name_could_mean(folder, name):
    """Beside another file that the pattern would match."""
    write_points(folder / "trips1.parquet", 7)
    write_points(folder / name, 3)

    assert counted(name) == (3, 3)
    assert Address(text=name, engine="duckdb").query is None


@pytest.mark.parametrize("name", ["parts", "parts.parquet", "parts.csv"])
def test_a_folder_is_read_as_without_an_engine(folder, name):
    """All Parquet files in a folder and below are read, whatever it is called, but for hidden ones."""
    (folder / name / "march").mkdir(parents=True)
    write_points(folder / name / "a.parquet", 2)
    write_points(folder / name / "march" / "b[1].PARQUET", 3)
    write_points(folder / name / "_hidden.parquet", 4)

    assert counted(name) == (5, 5)


def test_a_folder_has_a_state(folder):
    """A file more is another one."""
    (folder / "parts").mkdir()
    write_points(folder / "parts" / "a.parquet", 2)
    before = open_points(Address(text="parts", engine="duckdb"), crs=DOMAIN.crs).state()
    write_points(folder / "parts" / "b.parquet", 2)

    assert open_points(Address(text="parts", engine="duckdb"), crs=DOMAIN.crs).state() != before


STATEMENTS = {
    "two": "SELECT 1 AS lon, 2 AS lat; SELECT 3",
    "a copy after it": "SELECT 1 AS lon, 2 AS lat; COPY (SELECT 1) TO 'written.csv'",
    "a copy in it": "WITH a AS (COPY (SELECT 1) TO 'written.csv') SELECT 1 AS lon, 2 AS lat FROM a",
    "a copy deep in it": "FROM (WITH a AS (COPY (SELECT 1) TO 'written.csv') SELECT 1 AS lon, 2 AS lat FROM a)",
    "an insert": "WITH a AS (SELECT 1) INSERT INTO t SELECT * FROM a",
    "an insert in it": "WITH a AS (INSERT INTO t VALUES (1) RETURNING *) SELECT 1 AS lon, 2 AS lat FROM a",
    "an insert at its end": "FROM t INSERT INTO u",
    "an attachment": "SELECT 1 AS lon, 2 AS lat; ATTACH 'written.duckdb' AS w",
    "an extension": "SELECT 1 AS lon, 2 AS lat; INSTALL spatial",
    "columns by rows": "FROM (PIVOT (SELECT 1 AS lat, 'lon' AS name) ON name USING sum(1))",
    "a copy by a function": "FROM query('COPY (SELECT 1) TO ''written.csv''')",
}


@pytest.mark.parametrize("text", STATEMENTS.values(), ids=STATEMENTS)
def test_anything_but_one_select_is_refused_before_it_runs(folder, text):
    """Nothing is written, whatever came first."""
    with pytest.raises(HushgridError):
        counted(text)

    assert not list(folder.iterdir())


@pytest.mark.parametrize(
    "text",
    [
        "WITH RECURSIVE t AS (SELECT 1 AS lon UNION ALL SELECT lon + 1 FROM t WHERE lon < 3) SELECT *, 2 AS lat FROM t",
        "SELECT 1 AS lon, 'COPY_QUERY_NODE' AS type, 2 AS lat UNION ALL SELECT 2, '', 2 UNION ALL (SELECT 3, '', 3);",
        "FROM (SELECT 1 AS lat, 'x' AS name FROM range(3)) PIVOT (max(1) FOR name IN ('x' AS lon) GROUP BY lat)",
    ],
)
def test_a_select_of_any_form_is_taken(text):
    """WITH, UNION and PIVOT with names are queries too."""
    assert counted(text)[0] in {1, 3}


ERRORS = {
    "no such file": ("nowhere/*.parquet", InputError, "DuckDB cannot read 'nowhere"),
    "no such CSV file": ("nowhere/*.csv", InputError, r"nowhere/\*.csv names no file on this machine"),
    "CSV elsewhere": ("s3://bucket/*.csv", InputError, "names no file on this machine"),
    "no such table": ("trips.duckdb?table=nowhere", InputError, "nowhere does not exist"),
    "a database without a table": ("trips.duckdb", InputError, r"Name a table of it: trips.duckdb\?table=NAME"),
    "an unknown extension": ("trips.xyz", InputError, "Known are: .parquet"),
    "bad SQL": ("SELECT lon lat lon FROM 'trips.parquet'", InputError, "does not understand"),
    "a column that is not there": ("SELECT lon, up FROM 'trips.parquet'", InputError, 'column "up" not found'),
    "text in a database": ("SELECT 'a' AS lon, 1 AS lat", InputError, "coordinates must be numbers"),
    "two statements": ("SELECT 1 AS lon, 2 AS lat; SELECT 3", ArgumentError, "one SELECT"),
    "JSON": ("trips.ndjson", InputError, r"FROM 'trips.ndjson'\"\).write_parquet"),
    "no coordinates": ("SELECT 1 AS id", InputError, "no columns known as coordinates"),
    "a variable of Python": ("FROM columns", InputError, "does not exist"),
}


@pytest.mark.parametrize(("text", "error", "message"), ERRORS.values(), ids=ERRORS)
def test_errors_name_what_was_given(folder, text, error, message):
    """Errors come from the query and the schema alone, and name what was given."""
    write_points(folder / "trips.parquet", 1)
    (folder / "trips.ndjson").write_bytes(b"{}\n")
    duckdb.connect("trips.duckdb").close()

    with pytest.raises(error, match=message):
        counted(text)


def test_a_query_that_fails_on_a_row_quotes_nothing_of_it(folder):
    """It is the user's own doing, and still no row is shown."""
    pq.write_table(pa.table({"lon": ["s3cret"], "lat": [1.0]}), folder / "trips.parquet")

    with pytest.raises(HushgridError, match="DuckDB failed while counting") as caught:
        counted("SELECT lon::DOUBLE AS lon, lat FROM 'trips.parquet'")

    assert "s3cret" not in str(caught.value)


@pytest.mark.parametrize(
    ("text", "columns"),
    [
        ("FROM read_csv('headless.csv')", {}),
        ("FROM read_csv('headless.csv')", {"lon": "Erik", "lat": "Home"}),
        ("SELECT *, 1 AS lon, 2 AS lat FROM read_csv('headless.csv')", {"user": "Erik"}),
        ("SELECT Erik FROM read_csv('headless.csv')", {}),
        ("SELECT t.Erik FROM read_csv('headless.csv') t", {}),
        ("SELECT * EXCLUDE (Erik) FROM read_csv('headless.csv')", {}),
        ("SELECT * FROM read_csv('headless.csv') JOIN read_csv('headless.csv') USING (Erik)", {}),
        ("SELECT * FROM read_csv('headless.csv', types = {'Erik': 'INT'})", {}),
    ],
)
def test_a_record_that_duckdb_takes_for_a_header_is_not_quoted(folder, text, columns):
    """No message quotes the first record of a CSV file without a header, nor proposes it."""
    (folder / "headless.csv").write_bytes(b"Erika,Mustermann,Homerton\nHans,Meier,Berlin\n")

    with pytest.raises(HushgridError) as caught:
        counted(text, **columns)

    said = f"{caught.value} {caught.value.instead}"
    assert not [word for word in ("Erika", "Mustermann", "Homerton", "Hans") if word in said]


@pytest.mark.parametrize("ids", [[b"a", b"b"], [b"a", b"\xff\xfe"]], ids=["UTF-8", "not UTF-8"])
def test_ids_that_are_text_in_parquet_are_refused_by_their_type(folder, ids):
    """DuckDB stops at one that is not UTF-8; our own reader does not."""
    texts = pa.StringArray.from_buffers(2, *pa.array(ids).buffers()[1:])
    pq.write_table(pa.table({"lon": [1.0, 2.0], "lat": [1.0, 2.0], "who": texts}), folder / "trips.parquet")

    with pytest.raises(InputError, match="Leave out --engine duckdb"):
        counted("trips.parquet", user="who")
    assert (
        sum(
            len(block.users)
            for part in open_points("trips.parquet", crs=DOMAIN.crs, user="who").parts()
            for block in part
        )
        == 2
    )


# Where DuckDB spills.


@contextmanager
def watched(*places):
    """Files and folders that appear in some places meanwhile, with their modes."""
    seen: dict[Path, int] = {}
    done = threading.Event()

    def watch():
        while not done.is_set():
            for place in places:
                for root, folders, files in os.walk(place):
                    for name in (*folders, *files):
                        try:
                            seen[Path(root, name)] = Path(root, name).stat().st_mode & 0o777
                        except OSError:  # gone by now
                            continue
            time.sleep(0.002)

    thread = threading.Thread(target=watch)
    thread.start()
    try:
        yield seen
    finally:
        done.set()
        thread.join()


SPILLING = {
    "users": ("trips.duckdb?table=trips", {"user": "who"}),
    "a query that sorts": ("SELECT * FROM 'trips.parquet' ORDER BY who, lon, lat", {}),
}


@pytest.fixture
def little_memory(folder, monkeypatch):
    """A large file for a small memory, and a folder for what is temporary."""
    (folder / "here").mkdir()
    (folder / "temporary").mkdir()
    monkeypatch.chdir(folder / "here")
    monkeypatch.setattr("tempfile.tempdir", str(folder / "temporary"))
    monkeypatch.setitem(DUCKDB_SETTINGS, "memory_limit", "80MB")
    monkeypatch.setitem(DUCKDB_SETTINGS, "threads", 2)
    with duckdb.connect("trips.duckdb") as connection:
        connection.execute(
            "CREATE TABLE trips AS SELECT random() * 10 AS lon, random() * 10 AS lat, "
            "'user with a long name ' || (i % 300000) AS who FROM range(700000) t(i)"
        )
        connection.table("trips").write_parquet("trips.parquet")
    return folder / "temporary"


@pytest.mark.slow
@pytest.mark.parametrize("broken", [False, True], ids=["to the end", "interrupted"])
@pytest.mark.parametrize("case", SPILLING)
def test_duckdb_spills_to_a_private_folder_that_goes_away(little_memory, case, broken):
    """Nothing in the current folder, nothing that others may enter, nothing left, after Ctrl-C neither."""
    text, columns = SPILLING[case]
    rule = KeyedRule(domain=DOMAIN, key=bytes(32), most=1, most_for_total=5)
    points = open_points(Address(text=text, engine="duckdb"), crs=DOMAIN.crs, **columns)
    opening = open_bounded_counter(points, rule, missing="drop") if columns else open_counter(DOMAIN, points)

    with watched(Path(), little_memory) as seen, suppress(KeyboardInterrupt), opening:
        if broken:
            raise KeyboardInterrupt

    spilled = [path for path in seen if "spill" in path.parts]
    assert spilled, "nothing was spilled: the test shows nothing"
    assert {path.name for path in seen if little_memory not in path.parents} == {"trips.parquet", "trips.duckdb"}
    assert all(mode == 0o700 for path, mode in seen.items() if path.parent == little_memory)
    assert not list(little_memory.iterdir())
