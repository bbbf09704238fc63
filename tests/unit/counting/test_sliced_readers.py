"""Slices are read alike from files, folders, tables and frames."""

from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest

from hushgrid.counting.engine.address import Address
from hushgrid.counting.opening import open_points, projected
from hushgrid.errors import ArgumentError, InputError
from hushgrid.geometry.domain import Domain
from hushgrid.slices.by import By

BY = By.product(By("kind", values=["car", "bike"], other=True), By.time("at", "hour", timezone="Europe/Berlin"))
EXPECTED = {(1.0, "car / 10"), (2.0, "bike / 11"), (3.0, "other / 00"), (4.0, None), (5.0, None), (6.0, None)}
TABLE = pa.table(
    {
        "lon": [1.0, 2.0, 3.0, 4.0, 5.0, 6.0],
        "lat": [1.0, 2.0, 3.0, 4.0, 5.0, 6.0],
        "kind": ["car", "bike", "bus", None, "car", "bike"],
        "at": ["2026-07-01T10:00", "2026-07-01T09:30Z", "2026-07-01", "2026-07-01T10:00", "never", None],
    }
)


def parquet(folder: Path) -> Path:
    pq.write_table(TABLE, folder / "trips.parquet", row_group_size=2)
    return folder / "trips.parquet"


def parquet_folder(folder: Path) -> Path:
    (folder / "trips").mkdir()
    for first in (0, 3):
        pq.write_table(TABLE.slice(first, 3), folder / "trips" / f"{first}.parquet")
    return folder / "trips"


def csv(folder: Path, delimiter: str = ",") -> Path:
    options = pyarrow.csv.WriteOptions(delimiter=delimiter)
    pyarrow.csv.write_csv(TABLE, folder / "trips.csv", options)
    return folder / "trips.csv"


FORMS = {
    "parquet": parquet,
    "folder": parquet_folder,
    "csv": csv,
    "csv with semicolons": lambda folder: csv(folder, ";"),
    "arrow": lambda _: TABLE,
    "dictionary": lambda _: TABLE.set_column(2, "kind", TABLE["kind"].dictionary_encode()),
    "pandas": lambda _: TABLE.to_pandas(),
    "pandas, categories": lambda _: TABLE.to_pandas().astype({"kind": "category"}),
    "polars": lambda _: pl.from_arrow(TABLE),
}


def read(source) -> set:
    found = set()
    for part in source.parts():
        for block in part:
            for x, number in zip(block.longitudes, block.slices, strict=True):
                found.add((float(x), None if number < 0 else BY.names[number]))
    return found


@pytest.mark.parametrize("form", FORMS)
def test_every_source_reads_the_same_slices(form, tmp_path) -> None:
    assert read(open_points(FORMS[form](tmp_path), by=BY)) == EXPECTED


def test_names_with_quotes_are_those_of_a_table(tmp_path) -> None:
    """A CSV file has two quotes for one, by the rules of all who write it."""
    names = ['12" pipe', 'the "Ritz"', 'say ""', "it's"]
    table = pa.table({"lon": [1.0] * 4, "lat": [1.0] * 4, "kind": names})
    pyarrow.csv.write_csv(table, tmp_path / "trips.csv")
    for points in (table, tmp_path / "trips.csv"):
        parts = open_points(points, by=By("kind", values=names)).parts()
        assert [number for part in parts for block in part for number in block.slices] == [0, 1, 2, 3]


def test_slices_are_read_beside_users_and_from_other_systems(tmp_path) -> None:
    path = csv(tmp_path)
    text = path.read_text().splitlines()
    path.write_text("\n".join([text[0] + ",who", *(f"{line},u{n}" for n, line in enumerate(text[1:]))]))
    source = open_points(path, by=BY, user="who")
    assert read(source) == EXPECTED
    users = [user for part in source.parts() for block in part for user in block.users.to_pylist()]
    assert users == [b"u%d" % n for n in range(6)]
    moved = projected(source, crs="EPSG:4326", domain=Domain(west=0, south=0, east=1e6, north=1e6, crs="EPSG:3857"))
    assert {name for _, name in read(moved)} == {name for _, name in EXPECTED}


def test_typed_times_of_frames(tmp_path) -> None:
    by = By.time("at", "hour", timezone="Europe/Berlin")
    instants = pd.to_datetime(["2026-07-01 08:00Z", "2026-12-01 08:00Z", None])
    frame = pd.DataFrame({"lon": [1.0] * 3, "lat": [1.0] * 3, "at": instants})
    for points in (
        frame,
        pl.from_pandas(frame),
        pa.Table.from_pandas(frame),
        frame.assign(at=frame["at"].astype(object)),
    ):
        (block,) = (block for part in open_points(points, by=by).parts() for block in part)
        assert block.slices.tolist() == [10, 9, -1]


def test_objects_of_numpy_are_those_of_python() -> None:
    """As they come out of computations with gaps."""
    by = By("kind", values=["5", "true"], other=True)
    for kinds in ([5, True, None, 7], [np.int64(5), np.bool_(True), None, np.uint8(7)]):
        frame = pd.DataFrame({"lon": 1.0, "lat": 1.0, "kind": pd.Series(kinds, dtype=object)})
        (block,) = (block for part in open_points(frame, by=by).parts() for block in part)
        assert block.slices.tolist() == [0, 1, -1, 2]


def test_the_state_of_a_table_knows_its_slices() -> None:
    other = TABLE.set_column(2, "kind", TABLE["kind"].fill_null("car"))
    states = {open_points(table, by=BY).state() for table in (TABLE, other)}
    assert len(states) == 2
    assert open_points(TABLE).state() == open_points(other).state()


def test_arrays_are_refused_with_a_way_out() -> None:
    with pytest.raises(ArgumentError, match="Give a frame or a table"):
        open_points(np.zeros((3, 2)), by=BY)


@pytest.mark.parametrize("form", ["parquet", "folder", "csv"])
def test_files_named_to_an_engine_are_read_here(form, tmp_path) -> None:
    """Text and all: DuckDB would stop at one that is not UTF-8, and only has to find the files."""
    path = FORMS[form](tmp_path)
    pattern = f"{path}/*.parquet" if form == "folder" else f"{tmp_path}/*{path.suffix}"
    for text in (str(path), pattern):
        assert read(open_points(Address(engine="duckdb", text=text), by=BY)) == EXPECTED


@pytest.mark.parametrize("column", ["at", "seconds"])
def test_a_text_too_long_for_a_time_is_none(column) -> None:
    """Of a long text an engine copies the beginning, which must not be another time than the whole."""
    by = By.time("at", "hour", unit="seconds" if column == "seconds" else None)
    texts = {"at": "2026-07-01T10:00", "seconds": "36000"}
    values = [texts[column].ljust(length) for length in (20, 200, 201, 5000)]
    table = pa.table({"lon": [1.0] * 4, "lat": [1.0] * 4, "at": values})

    (block,) = (block for part in open_points(table, by=by).parts() for block in part)

    assert block.slices.tolist() == [10, 10, -1, -1]


def lazy(engine: str):
    """The table in an engine, and what keeps it alive."""
    if engine == "polars":
        return pl.from_arrow(TABLE).lazy(), None
    if engine == "dask":
        return pytest.importorskip("dask.dataframe").from_pandas(TABLE.to_pandas(), npartitions=2), None
    connection = pytest.importorskip("duckdb").connect()
    return connection.from_arrow(TABLE), connection


@pytest.mark.parametrize("engine", ["polars", "duckdb", "dask"])
def test_engines_of_this_machine_are_copied_once(engine) -> None:
    table, _alive = lazy(engine)
    with open_points(table, by=BY).copied() as source:
        assert read(source) == EXPECTED
    with pytest.raises(InputError, match="need timestamps"):
        open_points(pl.LazyFrame({"lon": [1.0], "lat": [1.0], "at": [1.0]}), by=By.time("at", "hour"))


def test_a_csv_without_the_column_says_nothing_of_its_first_line(tmp_path) -> None:
    (tmp_path / "trips.csv").write_text("lon,lat,secret\n1,2,3\n")
    with pytest.raises(InputError, match="no column 'kind'") as refusal:
        open_points(tmp_path / "trips.csv", by=By("kind", values=["a"]))
    assert "secret" not in str(refusal.value)
