"""Addresses of points that an engine reads: what they tell, and what they keep to themselves."""

from pathlib import Path

import pytest

from hushgrid.counting.engine.address import Address
from hushgrid.counting.engine.points import state_of_files
from hushgrid.counting.engine.postgres import parse_address
from hushgrid.errors import ArgumentError

SELECT = "SELECT lon + 1 AS lon, lat FROM trips WHERE name LIKE '%a%' AND area && box?"
URL = "postgresql://me:s3cret@host/city"
QUERIES = {
    "of DuckDB": (Address(text="SELECT lon, lat FROM 'x.csv'", engine="duckdb"), "SELECT lon, lat FROM 'x.csv'"),
    "none of DuckDB": (Address(text="x/*.csv", engine="duckdb"), None),
    "of Spark": (Address(text="WITH t AS (TABLE u) FROM t", engine="spark"), "WITH t AS (TABLE u) FROM t"),
    "of PostgreSQL": (Address(text=f"{URL}?sslmode=require&select={SELECT}", engine="postgres"), SELECT),
    "none of PostgreSQL": (Address(text=f"{URL}?table=trips", engine="postgres"), None),
}


@pytest.mark.parametrize(("address", "query"), QUERIES.values(), ids=QUERIES)
def test_a_query_is_told_without_where_it_is_asked(address: Address, query: str | None) -> None:
    """It becomes part of a ledger, which holds no password."""
    assert address.query == query


def test_passwords_are_not_shown() -> None:
    """Passwords in URLs and settings appear in no text of an address."""
    conf = {"spark.hadoop.fs.s3a.secret.key": "s3cret"}
    for address in (
        Address(text=f"{URL}?table=trips", engine="postgres"),
        Address(text="s3a://city/trips", engine="spark", spark_conf=conf),
    ):
        assert "s3cret" not in f"{address} {address!r}"


PARTS = {
    "a table": ("?table=trips", ("", "trips", None)),
    "a table with a sign": ("?table=my%20trips&sslmode=require", ("?sslmode=require", "my trips", None)),
    "an option with a sign": ("?options=-c%20a%3Db&table=t", ("?options=-c%20a%3Db", "t", None)),
    "a query that is quoted": ("?select=SELECT%20lon%2C%20lat", ("", None, "SELECT lon, lat")),
}


@pytest.mark.parametrize(("ending", "parts"), PARTS.values(), ids=PARTS)
def test_a_url_is_taken_apart(ending: str, parts: tuple[str, str | None, str | None]) -> None:
    """What is for the server stays as it was written."""
    options, table, query = parts

    assert parse_address(f"postgresql:///city{ending}") == (f"postgresql:///city{options}", table, query)


@pytest.mark.parametrize("ending", ["", "?sslmode=require", "?table=a&table=b", "?table=a&select=SELECT 1", "?select="])
def test_a_url_names_one_table_or_query(ending: str) -> None:
    """A URL without a table or query is refused, and one with two."""
    with pytest.raises(ArgumentError, match="needs either table=NAME or select=QUERY"):
        parse_address(URL + ending)


def test_files_tell_of_their_changes(tmp_path: Path) -> None:
    """Another size, time, file or list is another state, by path or as a URL."""
    file, other = tmp_path / "a b.parquet", tmp_path / "other.csv"
    file.write_bytes(b"1")
    other.write_bytes(b"1")
    names = [str(file)], [file.as_uri()], [str(other), str(file)]
    before = [state_of_files(each) for each in names]

    assert [state_of_files(each[::-1]) for each in names] == before
    assert len({*before, None}) == 4
    file.write_bytes(b"2")
    assert all(state_of_files(each) != state for each, state in zip(names, before, strict=True))


@pytest.mark.parametrize("files", [[], ["s3a://city/trips.parquet"], ["gone.parquet"]])
def test_files_elsewhere_tell_of_nothing(files: list[str], tmp_path: Path) -> None:
    """Files that are not on this machine have no state, not even among others that are."""
    (tmp_path / "here.parquet").write_bytes(b"1")

    assert state_of_files(files) is None
    assert not files or state_of_files([*files, str(tmp_path / "here.parquet")]) is None
