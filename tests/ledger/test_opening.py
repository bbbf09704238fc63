"""Points that cannot be opened: the budget is given back only where no row can have been looked at.

Else whoever is refused because of one record, again and again, learns of records at no cost.
"""

from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import dask.dataframe as dd
import duckdb
import pandas as pd
import polars as pl
import psycopg
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner

import hushgrid as hg
from hushgrid.cli import main
from hushgrid.counting.engine.address import Address
from hushgrid.errors import ArgumentError, BudgetError, HushgridError
from hushgrid.ledger.ledger import open_ledger
from tests.conformance.engines import spark_session, why_no_spark

pytestmark = pytest.mark.filterwarnings("ignore:fetch_arrow_table:DeprecationWarning")  # Ibis's own

DOMAIN = hg.Domain(west=0, south=0, east=1, north=1)
GIVEN: dict[str, Any] = {"domain": DOMAIN, "epsilon": 1, "method": "ug", "calibrate": False}
LEDGER, SECRET = "hush.ledger", "0.1234567x"  # the last is of one record, and no number
SPENT, BACK = "Rows may have been read to open the points", "its budget given back"


@pytest.fixture(autouse=True)
def account(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A folder with a ledger that grants each record of the data set trips 2, and files with one bad record."""
    monkeypatch.chdir(tmp_path)
    with open_ledger(LEDGER, create=True) as ledger:
        ledger.add_dataset("trips", budget=2, unit="record")
    lines = [f"{number / 10},0.5" for number in range(9)]
    Path("bad.csv").write_text("\n".join(["lon,lat", *lines, f"{SECRET},0.5", ""]))
    pq.write_table(pa.table({"lon": [0.5], "lat": [0.5]}), "good.parquet")


def left() -> Fraction:
    """What is left of the budget."""
    with open_ledger(LEDGER) as ledger:
        assert ledger.verify().ok
        return ledger.book().accounts["trips"].left


def publish(points: Any, **more: Any) -> hg.Synopsis:
    """On the account of the data set."""
    return hg.publish(points, **{**GIVEN, **more}, ledger=LEDGER, dataset="trips")


def first_rows(path: str) -> pd.DataFrame:
    """A part of a frame of Dask, which computes it to know its types."""
    return pd.read_csv(path)


PROBES: dict[str, Callable[[], Any]] = {
    "polars": lambda: pl.scan_csv("bad.csv"),
    "duckdb": lambda: duckdb.sql("SELECT * FROM read_csv('bad.csv')"),
    "dask": lambda: dd.from_map(first_rows, ["bad.csv"]),
    "an address": lambda: Address(text="SELECT * FROM read_csv('bad.csv')", engine="duckdb"),
    "a condition": lambda: Address(text="SELECT lon + 1 AS lon, lat FROM read_csv('bad.csv')", engine="duckdb"),
}


@pytest.mark.parametrize("probe", PROBES.values(), ids=PROBES)
def test_a_record_that_decides_whether_points_open_is_paid_for(probe: Callable[[], Any]) -> None:
    """Each time, until nothing is left; and the record is not quoted."""
    for remaining in (1, 0):
        with pytest.raises(HushgridError) as refused:
            publish(probe())
        assert SPENT in refused.value.__notes__[0]
        assert SECRET not in f"{refused.value} {refused.value.__notes__}"
        assert left() == remaining
    with pytest.raises(BudgetError):
        publish(probe())


def test_the_record_does_decide() -> None:
    """Negative control: without it, the same points open and are published."""
    Path("bad.csv").write_text("lon,lat\n0.5,0.5\n")

    for probe in PROBES.values():
        publish(probe(), epsilon="0.1")


def command(points: str, *more: str) -> list[str]:
    """Of ``hushgrid``: publish on the account of the data set."""
    given = ["--domain", "0,0,1,1", "--epsilon", "1", "--method", "ug", "--dataset", "trips", "--ledger", LEDGER]
    return ["publish", points, *given, "-o", "out.dp.parquet", *more]


def test_the_command_charges_each_probe() -> None:
    """Until the budget is gone, with the same code and words."""
    arguments = command("SELECT lon, lat FROM read_csv('bad.csv')", "--engine", "duckdb")

    first, second, third = (CliRunner().invoke(main, arguments) for _ in range(3))

    for number, result in enumerate((first, second), start=1):
        assert result.exit_code == 3
        assert f"{SPENT}: entry {number} of the ledger is given up, and epsilon 1" in result.stderr
        assert "Nothing was read" not in result.stderr
        assert SECRET not in result.output
    assert third.exit_code == 4
    assert left() == 0


FREE: dict[str, tuple[Callable[[], Any], Callable[[], dict[str, Any]]]] = {
    "no file": (lambda: Path("none.parquet"), dict),
    "no column of a file": (lambda: Path("good.parquet"), lambda: {"lon": "x", "lat": "y"}),
    "no column of a header": (lambda: Path("bad.csv"), lambda: {"lon": "x", "lat": "y"}),
    "no file for DuckDB": (lambda: Address(text="none.csv", engine="duckdb"), dict),
    "no statement": (lambda: Address(text="SELECT SELECT", engine="duckdb"), dict),
    "two statements": (lambda: Address(text="SELECT 1; SELECT 2", engine="duckdb"), dict),
    "a statement that writes": (lambda: Address(text="WITH x AS (SELECT 1) DELETE FROM y", engine="duckdb"), dict),
    "no column of Parquet for DuckDB": (
        lambda: Address(text="good.parquet", engine="duckdb"),
        lambda: {"lon": "x", "lat": "y"},
    ),
    "a geometry": (lambda: pl.scan_csv("bad.csv"), lambda: {"geometry": "geom"}),
    "a geometry by a query": (
        lambda: Address(text="SELECT * FROM read_csv('bad.csv')", engine="duckdb"),
        lambda: {"geometry": "geom"},
    ),
    "another system": (lambda: pl.scan_csv("bad.csv"), lambda: {"crs": "EPSG:3857"}),
    "no server": (lambda: Address(text="postgresql://me@127.0.0.1:1/db?table=trips", engine="postgres"), dict),
}


@pytest.mark.parametrize(("points", "more"), FREE.values(), ids=FREE)
def test_what_is_known_without_a_row_costs_nothing(
    points: Callable[[], Any], more: Callable[[], dict[str, Any]]
) -> None:
    """Arguments, the file system and declared schemas."""
    with pytest.raises(HushgridError) as refused:
        publish(points(), **more())

    assert BACK in refused.value.__notes__[0]
    assert left() == 2


def test_an_engine_without_users_says_so_first(tmp_path: Path) -> None:
    """Before it is asked for a schema that it may find in rows."""
    with open_ledger("users.ledger", create=True) as ledger:
        ledger.add_dataset("trips", budget=2, unit="user")

    with pytest.raises(ArgumentError, match="has no SHA-256") as refused:
        hg.publish(pl.scan_csv("bad.csv"), **GIVEN, user="id", max_per_user=2, ledger="users.ledger", dataset="trips")

    assert BACK in refused.value.__notes__[0]


# PostgreSQL opens a query without running or planning it.

TELLING = """
    CREATE TABLE few AS SELECT 0.5::float8 AS lon, 0.5::float8 AS lat;
    CREATE FUNCTION telling() RETURNS float8 IMMUTABLE LANGUAGE plpgsql AS
        $$ BEGIN RETURN 1 / (SELECT count(*) - 1 FROM few); END $$;
    CREATE VIEW told AS SELECT lon, lat FROM few WHERE telling() > 0;
"""


@pytest.fixture(scope="module")
def told(server: str) -> str:
    """The URL of a server with a function that fails by the number of rows, as soon as a query of it is planned."""
    with psycopg.connect(server) as connection:
        connection.execute(TELLING)
    return server


@pytest.mark.parametrize("ending", ["select=SELECT telling() AS lon, lat FROM few", "table=told"])
def test_postgres_plans_nothing_before_it_is_paid(told: str, ending: str) -> None:
    """A function that is called when a query is planned may look at rows; what follows is spent."""
    with pytest.raises(HushgridError, match="failed while counting") as refused:
        publish(Address(text=f"{told}&{ending}", engine="postgres"))

    assert "stays spent by entry 1" in refused.value.__notes__[0]
    assert left() == 1


@pytest.mark.parametrize("ending", ["select=SELECT lon, up FROM few", "table=none", "select=SELECT lon FROM told"])
def test_what_the_catalogue_tells_costs_nothing(told: str, ending: str) -> None:
    """Names that are not there."""
    with pytest.raises(HushgridError) as refused:
        publish(Address(text=f"{told}&{ending}", engine="postgres"))

    assert BACK in refused.value.__notes__[0]
    assert left() == 2


@pytest.mark.parametrize("role", ["nobody", "half"])
def test_rights_are_found_in_the_catalogue(told: str, role: str) -> None:
    """Those on columns, too, of the tables that a query names."""
    with psycopg.connect(told) as connection:
        connection.execute(f"CREATE ROLE {role} LOGIN")
        if role == "half":
            connection.execute(f"GRANT SELECT (lat) ON few TO {role}")
    address = Address(text=f"{told.replace('hush@', f'{role}@')}&select=SELECT lon, lat FROM few", engine="postgres")

    with pytest.raises(HushgridError, match="does not let this user open") as refused:
        publish(address)

    assert BACK in refused.value.__notes__[0]
    with psycopg.connect(told) as connection:
        connection.execute(f"GRANT SELECT (lon, lat) ON few TO {role}")
    publish(address)


@pytest.mark.slow
def test_spark_finds_types_in_rows() -> None:
    """Of JSON, in every row; a folder of Parquet files it opens by their footers."""
    if reason := why_no_spark():
        pytest.skip(reason)
    session = spark_session()
    Path("bad.json").write_text(f'{{"lon": 0.5, "lat": 0.5}}\n{{"lon": "{SECRET}", "lat": 0.5}}\n')
    here = Path.cwd()

    with pytest.raises(HushgridError) as probed:
        publish(Address(text=f"SELECT lon, lat FROM json.`{here}/bad.json`", engine="spark"))
    spent = left()
    with pytest.raises(HushgridError) as opened:
        publish(Address(text=f"{here}/good.parquet", engine="spark"), lon="x", lat="y")
    session.stop()

    assert SPENT in probed.value.__notes__[0]
    assert SECRET not in str(probed.value)
    assert BACK in opened.value.__notes__[0]
    assert spent == left() == 1
