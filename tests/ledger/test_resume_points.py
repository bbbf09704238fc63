"""A run that was cut off goes on with the same points, and with no others, whatever they are kept in."""

import gzip
import os
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

import dask.dataframe as dd
import duckdb
import geopandas
import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import shapely
from numpy.typing import NDArray

import hushgrid as hg
from hushgrid.counting.engine.address import Address
from hushgrid.counting.opening import open_points
from hushgrid.errors import InputError, LedgerError
from hushgrid.files.release import parse_release
from hushgrid.ledger.ledger import Ledger, open_ledger
from hushgrid.ledger.reservation import LedgerJournal, Reservation, is_of, key_file, seal
from hushgrid.release.on_ledger import POINTS, SEALED, publish_reserved
from hushgrid.release.request import ReleaseRequest
from tests.ledger.places import new_ledger

DOMAIN = hg.Domain(west=0, south=0, east=1, north=1)
PLACES = np.random.default_rng(3).integers(1000, 9999, (800, 2)) / 10_000  # of four digits, so that texts are as long
IDS = np.arange(800) % 90
MOVED, REASSIGNED = PLACES.copy(), IDS.copy()
MOVED[17] = [0.4711, 0.1174]
REASSIGNED[17] = 44
COLUMNS = {"user": "rider"}
Kept = Callable[[NDArray[Any], NDArray[Any], Path], Any]


def table(places: NDArray[Any], ids: NDArray[Any]) -> pa.Table:
    """Columns of coordinates and users."""
    return pa.table({"lon": places[:, 0], "lat": places[:, 1], "rider": ids})


def text(places: NDArray[Any], ids: NDArray[Any]) -> bytes:
    """The points as CSV."""
    rows = zip(places[:, 0], places[:, 1], ids, strict=True)
    return "".join(["lon,lat,rider\n", *(f"{x:.4f},{y:.4f},{one:02d}\n" for x, y, one in rows)]).encode()


def written(content: bytes, path: Path) -> Path:
    """A file written into the one that is there, so that it keeps its number on the disk."""
    with path.open("r+b" if path.exists() else "wb") as file:
        file.write(content)
        file.truncate()
    return path


def parquet(places: NDArray[Any], ids: NDArray[Any], path: Path) -> Path:
    """A Parquet file whose size does not depend on its values, nor its footer."""
    sink = pa.BufferOutputStream()
    plain = {"compression": "none", "use_dictionary": False, "write_statistics": False}
    pq.write_table(table(places, ids), sink, **plain)
    return written(sink.getvalue().to_pybytes(), path)


def folder_of(places: NDArray[Any], ids: NDArray[Any], folder: Path) -> Path:
    """The points in two files of a folder."""
    (folder / "trips").mkdir(exist_ok=True)
    for number, rows in enumerate((slice(0, 400), slice(400, 800))):
        parquet(places[rows], ids[rows], folder / "trips" / f"{number}.parquet")
    return folder / "trips"


def geo_frame(places: NDArray[Any], ids: NDArray[Any], _: Path) -> geopandas.GeoDataFrame:
    """A frame of geopandas that has numbers beside its geometry."""
    return geopandas.GeoDataFrame(table(places, ids).to_pandas(), geometry=shapely.points(places))


FILES: dict[str, Kept] = {
    "CSV": lambda places, ids, folder: written(text(places, ids), folder / "trips.csv"),
    "packed CSV": lambda places, ids, folder: written(
        gzip.compress(text(places, ids), 0, mtime=0), folder / "trips.csv.gz"
    ),
    "Parquet": lambda places, ids, folder: parquet(places, ids, folder / "trips.parquet"),
    "folder": folder_of,
    "DuckDB, Parquet": lambda places, ids, folder: Address(
        text=str(parquet(places, ids, folder / "trips.parquet")), engine="duckdb"
    ),
    "DuckDB, a pattern": lambda places, ids, folder: Address(
        text=f"{folder_of(places, ids, folder)}/*.parquet", engine="duckdb"
    ),
    "DuckDB, CSV": lambda places, ids, folder: Address(
        text=str(written(text(places, ids), folder / "trips.csv")), engine="duckdb"
    ),
}
FRAMES: dict[str, Kept] = {
    "pandas": lambda places, ids, _: table(places, ids).to_pandas(),
    "pandas, texts": lambda places, ids, _: table(places, ids).to_pandas().astype({"rider": str}),
    "geopandas": geo_frame,
    "polars": lambda places, ids, _: pl.from_arrow(table(places, ids)),
    "Arrow": lambda places, ids, _: table(places, ids),
    "Arrow, a dictionary": lambda places, ids, _: table(places, ids).set_column(
        2, "rider", pa.array(ids.astype(str)).dictionary_encode()
    ),
}
ARRAYS: dict[str, Kept] = {
    "array": lambda places, _, __: places.copy(),
    "array of single precision": lambda places, _, __: places.astype(np.float32),
    "masked array": lambda places, _, __: np.ma.masked_array(places, places > 0.99),
    "pair of arrays": lambda places, _, __: (places[:, 0].copy(), places[:, 1].copy()),
    "list": lambda places, _, __: places.tolist(),
}
KINDS = FILES | FRAMES | ARRAYS


def times(folder: Path) -> dict[Path, tuple[int, int]]:
    """Size and time of change of every file in a folder."""
    return {path: (path.stat().st_size, path.stat().st_mtime_ns) for path in folder.rglob("*") if path.is_file()}


@pytest.fixture
def ledger(tmp_path: Path) -> Any:
    """With the data set trips, unit user, budget 3."""
    with open_ledger(new_ledger(str(tmp_path / "trips.ledger"))) as opened:
        yield opened


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Where points are."""
    (tmp_path / "points").mkdir()
    return tmp_path / "points"


def job_for(kind: str, ids: NDArray[Any] = IDS) -> ReleaseRequest:
    """The release of a kind of points, of users."""
    user = ids if kind in ARRAYS else "rider"
    return ReleaseRequest.of(domain=DOMAIN, epsilon=1, method="ag", user=user, max_per_user=3, calibrate=False)


def cut_off(
    job: ReleaseRequest,
    points: Any,
    ledger: Ledger,
    monkeypatch: pytest.MonkeyPatch,
    error: BaseException | None = None,
) -> tuple[BaseException, dict[int, bytes]]:
    """Begin a release that ends after its first level of cells, and what it had kept by then."""
    reservation = ledger.reserve(job.for_ledger("trips"))
    assert isinstance(reservation, Reservation)
    record, kept = LedgerJournal.record, {}

    def failing(journal: LedgerJournal, number: int, mark: str, payload: bytes) -> None:
        record(journal, number, mark, payload)
        kept[number] = payload
        if len(kept) == 4 + (job.users is not None):  # of users also the total: then the size and the first level
            raise error or ConnectionError

    with monkeypatch.context() as patch:
        patch.setattr(LedgerJournal, "record", failing)
        with pytest.raises(BaseException) as cut:  # noqa: PT011  # whichever it is
            publish_reserved(job, points, reservation)
    return cut.value, kept


@pytest.mark.parametrize("kind", KINDS)
def test_unchanged_points_give_the_values_that_were_kept(
    kind: str, folder: Path, ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Points in memory are made anew, as another process would."""
    job = job_for(kind)
    error, kept = cut_off(job, KINDS[kind](PLACES, IDS, folder), ledger, monkeypatch)
    points = same_files(kind, folder) if kind in FILES else KINDS[kind](PLACES, IDS, folder)

    release = publish_reserved(job, points, ledger.resume(1, job.for_ledger("trips")))

    assert "--resume 1" in error.__notes__[0]
    synopsis = parse_release(release.read(), name="it")
    assert synopsis.measurements.region_values.values.tobytes() == kept[4]
    assert ledger.book().accounts["trips"].left == 2


def same_files(kind: str, folder: Path) -> Any:
    """The points of a kind of file that is there already."""
    names = {"packed CSV": "trips.csv.gz", "Parquet": "trips.parquet", "DuckDB, Parquet": "trips.parquet"}
    names |= {"folder": "trips", "DuckDB, a pattern": "trips/*.parquet"}
    path = folder / names.get(kind, "trips.csv")
    return Address(text=str(path), engine="duckdb") if kind.startswith("DuckDB") else path


@pytest.mark.parametrize("change", ["a record moved", "a record of another user"])
@pytest.mark.parametrize("kind", KINDS)
def test_other_points_are_refused(
    kind: str, change: str, folder: Path, ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One record is another: of a file as long as before, with its time set back, and written in its place."""
    places, ids = (MOVED, IDS) if change == "a record moved" else (PLACES, REASSIGNED)
    job = job_for(kind)
    cut_off(job, KINDS[kind](PLACES, IDS, folder), ledger, monkeypatch)
    before = times(folder)
    points = KINDS[kind](places, ids, folder)
    for path, (_, changed) in before.items():
        os.utime(path, ns=(changed, changed))
    job = job_for(kind, ids)

    with pytest.raises(InputError, match="is not what entry 1 was begun with, or was changed since") as refused:
        publish_reserved(job, points, ledger.resume(1, job.for_ledger("trips")))

    assert times(folder) == before
    assert "ask for a new release" in str(refused.value)
    assert not any(digits in str(refused.value) for digits in ("4711", "0.1", "[["))
    assert ledger.book().entries[1].state == "reserved"


@pytest.mark.parametrize("kind", ["CSV", "Parquet", "packed CSV"])
def test_a_time_that_is_set_back_does_not_hide_a_change_between_passes(kind: str, folder: Path) -> None:
    """Between two passes of one run the same state is compared."""
    path = FILES[kind](PLACES, IDS, folder)
    source = open_points(path, crs=DOMAIN.crs)
    source.check_unchanged()
    before = times(folder)
    FILES[kind](MOVED, IDS, folder)
    os.utime(path, ns=(before[path][1], before[path][1]))

    assert times(folder) == before
    with pytest.raises(InputError, match="changed while it was being published"):
        source.check_unchanged()


def test_a_footer_is_part_of_the_state(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where a file system keeps no times, the statistics of a Parquet file still tell."""
    real = os.fstat

    def timeless(descriptor: int) -> os.stat_result:
        values = list(real(descriptor))
        return os.stat_result([*values[:7], 0, 0, 0])

    monkeypatch.setattr(os, "fstat", timeless)
    states = []
    for places in (PLACES, np.full_like(PLACES, 0.5)):
        pq.write_table(table(places, IDS), folder / "trips.parquet")
        states.append(open_points(folder / "trips.parquet", crs=DOMAIN.crs).state())

    assert states[0] != states[1]


def test_the_cut_of_a_table_into_chunks_is_no_change() -> None:
    """A digest of rows goes by rows."""
    whole = table(PLACES, IDS)
    chunked = pa.concat_tables([whole.slice(0, 3), whole.slice(3, 500), whole.slice(503)])
    states = {open_points(each, crs=DOMAIN.crs, user="rider").state() for each in (whole, chunked)}

    assert len(states) == 1
    assert open_points(whole, crs=DOMAIN.crs).state() not in states  # other columns are read


def lazily(places: NDArray[Any], ids: NDArray[Any], _: Path) -> pl.LazyFrame:
    """A query of polars."""
    return pl.from_arrow(table(places, ids)).lazy()  # type: ignore[union-attr]


def in_database(places: NDArray[Any], ids: NDArray[Any], folder: Path) -> Address:
    """A table of a DuckDB file."""
    with duckdb.connect(str(folder / "city.duckdb")) as connection:
        made = table(places, ids)
        connection.register("made", made)
        connection.execute("CREATE OR REPLACE TABLE trips AS SELECT * FROM made")
    return Address(text=f"{folder}/city.duckdb?table=trips", engine="duckdb")


UNKNOWN: dict[str, Kept] = {
    "a query of polars": lazily,
    "a relation of DuckDB": lambda places, ids, _: duckdb.connect().from_arrow(table(places, ids)),
    "a SELECT of DuckDB": lambda places, ids, folder: Address(
        text=f"SELECT * FROM '{parquet(places, ids, folder / 'trips.parquet')}'", engine="duckdb"
    ),
    "a table of DuckDB": in_database,
    "a frame of Dask": lambda places, ids, _: dd.from_pandas(table(places, ids).to_pandas(), npartitions=2),
}


@pytest.mark.parametrize("kind", UNKNOWN)
def test_what_cannot_be_told_apart_is_not_resumed(
    kind: str, folder: Path, ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The run that is cut off says so, and gives its entry up; the budget stays spent."""
    job = ReleaseRequest.of(domain=DOMAIN, epsilon=1, method="ag", calibrate=False, lon="lon", lat="lat")
    with monkeypatch.context() as patch:
        patch.setattr(ReleaseRequest, "unit", "user")  # that of the account
        error, _ = cut_off(job, UNKNOWN[kind](PLACES, IDS, folder), ledger, monkeypatch)
        request = job.for_ledger("trips")

    note = error.__notes__[0]
    assert "stays spent by entry 1 of the ledger, and no run can go on with it" in note
    assert "local Parquet and CSV files" in note
    assert "--resume" not in note
    entry = ledger.book().entries[1]
    assert (entry.state, entry.charged) == ("abandoned", 1)
    with pytest.raises(LedgerError, match="entry 1 is already abandoned"):
        ledger.resume(1, request)


@pytest.mark.parametrize("form", ["an earlier version", "no key"])
def test_entries_that_can_never_be_resumed_are_given_up(form: str, folder: Path, ledger: Ledger) -> None:
    """One that was killed, and whose journal says too little of the points; the ledger opens as ever."""
    job = job_for("CSV")
    points = FILES["CSV"](PLACES, IDS, folder)
    reservation = ledger.reserve(job.for_ledger("trips"))
    assert isinstance(reservation, Reservation)
    old = form == "an earlier version"
    reservation.journal.record(POINTS, "points" if old else SEALED, bytes(32) if old else b"")
    reservation.journal.record(1, "key", bytes(32))

    assert ledger.verify().ok
    with pytest.raises(LedgerError, match=r"cannot be resumed\. It is given up, and epsilon 1") as refused:
        publish_reserved(job, points, ledger.resume(1, job.for_ledger("trips")))

    assert ("earlier version" in str(refused.value)) == old
    assert not hasattr(refused.value, "__notes__")
    assert ledger.book().entries[1].state == "abandoned"
    assert ledger.verify().ok


def test_without_a_home_nothing_is_resumed(
    folder: Path, tmp_path: Path, ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where no key can be kept, a release is made as ever, and one that is cut off says that it is lost."""
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "file"))
    error, kept = cut_off(job_for("CSV"), FILES["CSV"](PLACES, IDS, folder), ledger, monkeypatch)

    assert kept[POINTS] == b""
    assert "no run can go on with it" in error.__notes__[0]
    assert hg.publish(
        PLACES, domain=DOMAIN, epsilon=1, method="ug", user=IDS, max_per_user=2, ledger=ledger.place, dataset="trips"
    )


def test_another_key_is_no_key(folder: Path, tmp_path: Path, ledger: Ledger, monkeypatch: pytest.MonkeyPatch) -> None:
    """Elsewhere the entry cannot be resumed, and is left for where it can."""
    job, points = job_for("CSV"), FILES["CSV"](PLACES, IDS, folder)
    cut_off(job, points, ledger, monkeypatch)
    with monkeypatch.context() as patch:
        for place in ("empty", "other"):
            patch.setenv("XDG_STATE_HOME", str(tmp_path / place))
            if place == "other":
                seal(b"")
            with pytest.raises(LedgerError, match="Resume it where it was started"):
                publish_reserved(job, points, ledger.resume(1, job.for_ledger("trips")))

    assert publish_reserved(job, points, ledger.resume(1, job.for_ledger("trips")))


def test_a_sealed_state_is_no_oracle(folder: Path, ledger: Ledger, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two seals of one state have nothing in common, the key is in none, and only its owner may read it."""
    state = open_points(PLACES, crs=DOMAIN.crs).state()
    one, other = seal(state), seal(state)

    assert one is not None
    assert other is not None
    assert {one[first : first + 16] for first in range(0, 96, 16)}.isdisjoint(
        other[first : first + 16] for first in range(0, 96, 16)
    )
    assert is_of(one, state)
    assert not is_of(one, bytes(32))
    assert state not in one
    assert key_file().stat().st_mode & 0o777 == 0o600
    assert key_file().parent.stat().st_mode & 0o777 == 0o700
    cut_off(job_for("array"), PLACES.copy(), ledger, monkeypatch)
    with sqlite3.connect(ledger.place) as connection:
        held = b"".join(content for (content,) in connection.execute("SELECT bytes FROM hushgrid_parts"))
        events = "".join(event for (event,) in connection.execute("SELECT event FROM hushgrid_events"))
    connection.close()
    with_users = open_points(PLACES, crs=DOMAIN.crs, user=IDS).state()
    for secret in (state, with_users, key_file().read_bytes()):
        assert secret not in held
        assert secret.hex() not in events
