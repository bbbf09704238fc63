"""A release of a period: only its records count, whatever else there is."""

import json
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import duckdb
import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import hushgrid as hg
from hushgrid.errors import ArgumentError, HushgridError, SynopsisFileError
from hushgrid.export.language import SHIPPED, Language
from hushgrid.export.manifest import manifest_text
from hushgrid.export.statement import Balance, Given, Statement
from hushgrid.files.footer import RELEASE, footer_metadata, parse_footer
from hushgrid.release.describe import describe
from hushgrid.synopsis.claim import LedgerMark, PeriodRecord

DOMAIN = hg.Domain(west=0, south=0, east=1, north=1)
PARIS = ZoneInfo("Europe/Paris")
MARCH: dict[str, Any] = {"period": "2026-03", "time": "started_at", "timezone": "Europe/Paris"}
RECORD = PeriodRecord(name="2026-03", timezone="Europe/Paris")


def trips(rows: int = 4000) -> pa.Table:
    """Trips from January to May, some without a time, none in order."""
    rng = np.random.default_rng(11)
    begin = datetime(2026, 1, 1, tzinfo=UTC)
    times = [begin + timedelta(seconds=int(each)) for each in rng.integers(0, 150 * 86400, rows)]
    columns = {
        "lon": rng.normal(0.5, 0.2, rows),
        "lat": rng.normal(0.5, 0.2, rows),
        "user_id": rng.integers(0, 300, rows),
        "started_at": pa.array(
            [None if n % 50 == 0 else time for n, time in enumerate(times)], pa.timestamp("us", "UTC")
        ),
    }
    return pa.table(columns)


def of_march(table: pa.Table) -> pa.Table:
    """Records of March in Paris, told by Python's own calendar."""
    times = table["started_at"].to_pylist()
    keep = [time is not None and (local := time.astimezone(PARIS)).month == 3 and local.year == 2026 for time in times]
    return table.filter(pa.array(keep))


TRIPS = trips()
KEPT = of_march(TRIPS)


def folder_of(table: pa.Table, place: Path) -> Path:
    """Two Parquet files of several row groups."""
    folder = place / "folder"
    folder.mkdir()
    pq.write_table(table[:1000], folder / "a.parquet", row_group_size=300)
    pq.write_table(table[1000:], folder / "b.parquet")
    return folder


def parquet_of(table: pa.Table, place: Path) -> Path:
    """One Parquet file."""
    pq.write_table(table, place / "trips.parquet", row_group_size=700)
    return place / "trips.parquet"


def csv_of(table: pa.Table, place: Path) -> Path:
    """A CSV file with times in ISO 8601."""
    texts = [time and time.isoformat() for time in table["started_at"].to_pylist()]
    pyarrow.csv.write_csv(table.set_column(3, "started_at", pa.array(texts)), place / "trips.csv")
    return place / "trips.csv"


SOURCES: dict[str, Callable[[pa.Table, Path], Any]] = {
    "table": lambda table, _: table,
    "pandas": lambda table, _: table.to_pandas(),
    "polars": lambda table, _: pl.from_arrow(table),
    "parquet": parquet_of,
    "folder": folder_of,
    "csv": csv_of,
    "lazy polars": lambda table, _: pl.from_arrow(table).lazy(),  # type: ignore[union-attr]
    "DuckDB": lambda table, _: duckdb.connect().from_arrow(table),
}
GIVEN: dict[str, dict[str, Any]] = {
    "records": {"method": "ug"},  # its side follows from the noisy number of rows
    "users": {"method": "ag", "user": "user_id", "max_per_user": 3},
    "all records": {"method": "staq", "user": "user_id", "max_per_user": 2, "estimate": "all-records"},
    "distinct": {"method": hg.UniformGrid(side=4), "user": "user_id", "max_per_user": 2, "distinct": True},
}


def simulated(points: Any, **given: Any) -> hg.Synopsis:
    """A release with noise from a seed, so that equal records give equal bytes."""
    return hg.publish(points, domain=DOMAIN, epsilon=1, calibrate=False, rng=hg.simulation_rng(3), **given)


def same(one: hg.Synopsis, other: hg.Synopsis) -> bool:
    """Whether two releases are the same to the bit, but for what they say of a period."""
    texts = []
    for each in (one, other):
        metadata = footer_metadata(replace(each, period=None))
        texts.append([metadata, each.counts.tobytes(), each.measurements.leaves.values.tobytes()])
    return texts[0] == texts[1]


@pytest.mark.parametrize("source", SOURCES)
def test_only_records_of_the_period_count(source: str, tmp_path: Path) -> None:
    """From every local source the release is that of the records of the month alone, the number of rows included."""
    released = simulated(SOURCES[source](TRIPS, tmp_path), **MARCH, method="ug")

    assert same(released, simulated(KEPT, method="ug"))
    assert released.period == RECORD
    assert not same(released, simulated(TRIPS, method="ug"))


@pytest.mark.parametrize("kind", GIVEN)
def test_every_kind_of_release_counts_the_period_alone(kind: str, tmp_path: Path) -> None:
    """Records and users, with totals and tallies: what a user did in other months takes no place among the kept."""
    assert same(simulated(parquet_of(TRIPS, tmp_path), **MARCH, **GIVEN[kind]), simulated(KEPT, **GIVEN[kind]))


@settings(max_examples=20, deadline=None)
@given(
    others=st.lists(
        st.tuples(
            st.floats(0, 1),
            st.floats(0, 1),
            st.integers(0, 5),
            st.one_of(
                st.none(),
                st.integers(-631152000, 1772319599),  # 1950 to the last second of February in Paris
                st.integers(1774994400, 5680281600),  # the first second of April to 2150
            ),
        ),
        max_size=20,
    )
)
def test_records_of_other_times_change_nothing(others: list[tuple[float, float, int, int | None]]) -> None:
    """However many there are, wherever and whenever, of known users or others."""
    columns = list(zip(*others, strict=True)) or [(), (), (), ()]
    times = pa.array(columns[3], pa.timestamp("s", "UTC")).cast(pa.timestamp("us", "UTC"))
    kinds = (pa.float64(), pa.float64(), pa.int64())
    places = [pa.array(column, kind) for column, kind in zip(columns[:3], kinds, strict=True)]
    more = pa.table([*places, times], TRIPS.column_names)
    alone = KEPT[:200]
    given = {"method": "ug", "user": "user_id", "max_per_user": 2}

    assert same(simulated(pa.concat_tables([more, alone]), **MARCH, **given), simulated(alone, **MARCH, **given))


def test_a_month_begins_and_ends_at_midnight_of_its_zone() -> None:
    """In Paris, an hour before that of UTC in winter, and two in summer."""
    edges = {
        "2026-02-28T22:59:59Z": False,
        "2026-02-28T23:00:00Z": True,
        "2026-03-31T21:59:59Z": True,
        "2026-03-31T22:00:00Z": False,
    }
    rows = pa.table({"lon": [0.5] * 4, "lat": [0.5] * 4, "started_at": list(edges)})
    inside = rows.filter(pa.array(list(edges.values())))

    assert same(simulated(rows, **MARCH, method="ug"), simulated(inside, method="ug"))


def test_months_share_no_record() -> None:
    """Every record with a time in the range is in one of them: their sizes add up."""
    bits = hg.simulation_rng(1)  # of a seed: nobody is warned of so much budget
    exact = {"domain": DOMAIN, "epsilon": 10**6, "method": hg.UniformGrid(side=1), "calibrate": False, "rng": bits}
    months = [f"2026-{month:02}" for month in range(1, 7)]
    released = [hg.publish(TRIPS, **exact, **MARCH | {"period": month}) for month in months]
    whole = hg.publish(TRIPS.filter(TRIPS["started_at"].is_valid()), **exact)

    assert sum(round(each.counts.sum()) for each in released) == round(whole.counts.sum())


REFUSED: dict[str, tuple[dict[str, Any], str]] = {
    "no column": ({"period": "2026-03"}, "needs time"),
    "no period": ({"time": "started_at"}, "there is no period"),
    "a zone without a period": ({"timezone": "UTC"}, "there is no period"),
    "a thirteenth month": ({**MARCH, "period": "2026-13"}, "a period is a year"),
    "not text": ({**MARCH, "period": 2026}, "period must be a text"),
    "a zone without a name": ({**MARCH, "timezone": ""}, "there is no time zone ''"),
    "the last month of all": ({**MARCH, "period": "9999-12"}, "a period is a year"),
    "no such zone": ({**MARCH, "timezone": "Europe/Pari"}, "there is no time zone"),
    "a column that is not there": ({**MARCH, "time": "startet_at"}, "Did you mean 'started_at'"),
    "a column of numbers": ({**MARCH, "time": "other"}, "has type double"),
    "whole numbers, which slices count by a unit": (
        {**MARCH, "time": "user_id"},
        "To choose a period, write its times as timestamps",
    ),
    "the column of coordinates": ({**MARCH, "time": "lon"}, "slices and periods cannot be by 'lon'"),
    "the year 1600": ({**MARCH, "period": "1600"}, "in the years 1900 to 2199"),
}


@pytest.mark.parametrize(("given", "said"), REFUSED.values(), ids=REFUSED)
def test_what_cannot_be_a_period_is_refused(given: dict[str, Any], said: str) -> None:
    """By its arguments and the declared types, with the way out."""
    with pytest.raises(HushgridError, match=said):
        simulated(TRIPS.append_column("other", pa.array(np.zeros(len(TRIPS)))), **given)


def test_points_without_columns_are_refused() -> None:
    """An array has no times."""
    with pytest.raises(ArgumentError, match="slices and periods are by a column"):
        simulated(np.zeros((3, 2)), **MARCH)


def test_a_dry_run_names_the_period() -> None:
    """In words and as values, and the source is opened by its schema."""
    found = hg.check(TRIPS, domain=DOMAIN, epsilon=1, **MARCH)

    assert found.ok
    assert "only records of 2026-03 count, told by the column 'started_at'" in " ".join(str(found).split())
    assert found.schema is not None
    assert not hg.check(TRIPS, domain=DOMAIN, epsilon=1, **MARCH | {"time": "nowhen"}).ok


@pytest.fixture(scope="module")
def released() -> hg.Synopsis:
    """A release of March, on the account of a data set."""
    synopsis = hg.publish(KEPT, domain=DOMAIN, epsilon=0.5, **MARCH, **GIVEN["users"], calibrate=False)
    return replace(synopsis, ledger=LedgerMark(dataset="trips", entry=3, head="ab" * 32))


def test_the_period_is_in_the_file(released: hg.Synopsis, tmp_path: Path) -> None:
    """It comes back, and releases without one have no such key."""
    released.save(tmp_path / "2026-03.dp.parquet")

    assert hg.read(tmp_path / "2026-03.dp.parquet").period == RECORD
    assert hg.verify(tmp_path / "2026-03.dp.parquet").ok
    assert "period" not in json.loads(footer_metadata(replace(released, period=None))[RELEASE])


@pytest.mark.parametrize("change", [{"name": "soon"}, {"name": 3}, {"timezone": None}, {"more": 1}])
def test_a_period_that_was_made_up_is_refused(released: hg.Synopsis, change: dict[str, Any]) -> None:
    """Its parts are those of a period, and are all that there is."""
    metadata = footer_metadata(released)
    footer = json.loads(metadata[RELEASE])
    footer["period"] |= change
    metadata[RELEASE] = json.dumps(footer).encode()

    with pytest.raises(SynopsisFileError):
        parse_footer(metadata, rows=released.partition.cells)


def test_both_sentences_are_in_every_account_of_a_release(released: hg.Synopsis) -> None:
    """What it tells of that month, and that somebody in several bears the sum."""
    for text in (manifest_text(released, name="a", sha256="ab"), describe(released).in_words()["period"]):
        assert "Only records of 2026-03 (time zone Europe/Paris) are counted: epsilon 0.5 is what" in text
        assert "records in several months has to bear the sum" in text


@pytest.mark.parametrize("code", SHIPPED)
def test_the_statement_has_the_sum_of_all_periods(released: hg.Synopsis, code: str) -> None:
    """In every language, beside the account of the period; without the ledger it says that there is a sum."""
    balance = Balance(
        charged="0.5", budget="1", spent="0.5", reserved="0", left="0.5", head="cd", periods=7, lifetime="3.25"
    )
    language = Language.of(code)
    known = {"synopsis": released, "file": "a", "sha256": "b", "language": language, "given": Given()}
    alone, with_ledger = Statement(**known), Statement(**known, balance=balance)

    assert language.say("account_lifetime", periods="7", lifetime=language.localised("3.25")) in str(with_ledger)
    assert language.say("account_periods", period="2026-03") in str(alone)
    assert all("2026-03" in str(each) and "Europe/Paris" in str(each) for each in (alone, with_ledger))
    assert with_ledger.to_dict()["period"] == {"name": "2026-03", "timezone": "Europe/Paris"}
