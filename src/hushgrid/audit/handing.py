"""Records handed over in every way that `publish` takes points."""

import os
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from hushgrid.audit.neighbours import PUBLIC, Records
from hushgrid.release import sliced
from hushgrid.slices.by import By

Handed = tuple[Any, Mapping[str, Any]]  # points, and the arguments that say where ids are
HandOver = Callable[[Records, Path, ExitStack], Handed]

ALL_KINDS = ("car", "bike", "tram", None, "bus")
BY_KIND = By("kind", values=["car", "bike", "bus"], other=True)
BY_DAY = By.time("seen", "weekday", timezone="America/New_York")
MONDAY = np.datetime64("2026-03-23")
LITTLE = 600  # bytes, fewer than any set has that is not empty
PARTS = 3  # files of a folder; every user has records in all of them


def as_array(records: Records, _folder: Path, _stack: ExitStack) -> Handed:
    """Points in memory, with ids beside them."""
    if records.users is None:
        return records.points, {}
    return records.points, {"user": np.array(records.users, object)}


def as_csv(records: Records, folder: Path, _stack: ExitStack) -> Handed:
    """A CSV file."""
    path, table = folder / "points.csv", as_table(records)
    rows = zip(*(table[name].to_pylist() for name in table.column_names), strict=True)
    lines = (",".join("" if value is None else str(value) for value in row) for row in rows)
    path.write_text("\n".join([",".join(table.column_names), *lines, ""]))
    return path, _named(records)


def as_parquet(records: Records, folder: Path, _stack: ExitStack) -> Handed:
    """A Parquet file of several row groups."""
    path = folder / "points.parquet"
    pq.write_table(as_table(records), path, row_group_size=16)
    return path, _named(records)


def as_folder(records: Records, folder: Path, _stack: ExitStack) -> Handed:
    """A folder of Parquet files.

    Every user's records are dealt out among them.
    """
    table, inner = as_table(records), folder / "points"
    inner.mkdir()
    for part in range(PARTS):
        pq.write_table(table.take(np.arange(part, table.num_rows, PARTS)), inner / f"part-{part}.parquet")
    return inner, _named(records)


def as_arrow(records: Records, _folder: Path, _stack: ExitStack) -> Handed:
    """An Arrow table, in single precision."""
    table = as_table(records)
    with np.errstate(all="ignore"):
        for number, name in enumerate(("lon", "lat")):
            table = table.set_column(number, name, pa.array(records.points[:, number].astype(np.float32)))
    return table, _named(records)


def as_polars(records: Records, _folder: Path, _stack: ExitStack) -> Handed:
    """A lazy frame of polars."""
    import polars as pl

    return pl.from_arrow(as_table(records)).lazy(), _named(records)  # type: ignore[union-attr]  # a table, no series


def as_duckdb(records: Records, _folder: Path, stack: ExitStack) -> Handed:
    """A relation of DuckDB."""
    import duckdb

    connection = stack.enter_context(duckdb.connect())
    return connection.from_arrow(as_table(records)), _named(records)


def as_dask(records: Records, _folder: Path, _stack: ExitStack) -> Handed:
    """A frame of Dask."""
    import dask.dataframe as dd

    frame = dd.from_pandas(as_table(records).to_pandas(use_threads=False), npartitions=2)  # type: ignore[no-untyped-call]
    return frame, _named(records)


def as_spark(records: Records, folder: Path, _stack: ExitStack) -> Handed:
    """A frame of a small Spark session."""
    from pyspark.sql import SparkSession

    builder = SparkSession.builder.master("local[1]").appName("hushgrid audit")
    for key, value in {
        "spark.ui.enabled": "false",
        "spark.sql.shuffle.partitions": "1",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.host": "127.0.0.1",
        "spark.sql.warehouse.dir": str(folder / "warehouse"),
    }.items():
        builder = builder.config(key, value)
    path = folder / "spark.parquet"
    pq.write_table(as_table(records), path)
    session = builder.getOrCreate()
    if "PYSPARK_PYTHON" not in os.environ:
        session.sparkContext.pythonExec = sys.executable  # slices are copied by functions that need pyarrow
    return session.read.parquet(str(path)), _named(records)


def beside_a_prior(records: Records, folder: Path, stack: ExitStack) -> Handed:
    """Points in memory, beside a file of public points.

    No record had a part in that file.
    """
    path = folder / "public.parquet"
    lon, lat = PUBLIC.T
    pq.write_table(pa.table({"lon": lon, "lat": lat}), path)
    points, more = as_array(records, folder, stack)
    return points, {**more, "prior": path}


def with_little_memory(records: Records, folder: Path, stack: ExitStack) -> Handed:
    """A Parquet file, for a release in slices that has no room for its points."""
    stack.enter_context(_little_memory())
    return as_parquet(records, folder, stack)


@contextmanager
def _little_memory() -> Iterator[None]:
    usual = vars(sliced)["MEMORY_BYTES"]
    vars(sliced)["MEMORY_BYTES"] = LITTLE
    try:
        yield
    finally:
        vars(sliced)["MEMORY_BYTES"] = usual


def in_a_month(records: Records, folder: Path, _stack: ExitStack) -> Handed:
    """A Parquet file of which one month is published.

    Each record is in that month once, and the same twice in the next: what is counted must be the first alone. Were it
    the others instead, or any of them as well, a record would cost twice what it may.
    """
    table, path = as_table(records), folder / "months.parquet"
    months = [
        table.append_column("made_at", pa.array(np.full(len(table), time, "datetime64[us]")))
        for time in ("2026-03-31T23:59:59", "2026-04-01T00:00:00", "2026-04-30T12:00:00")
    ]
    pq.write_table(pa.concat_tables(months), path, row_group_size=16)
    return path, {**_named(records), "period": "2026-03", "time": "made_at"}


def as_table(records: Records) -> pa.Table:
    """Columns of coordinates, of what tells slices, and of ids for users.

    The kind and the day of a record follow from its place, so that somebody everywhere is in every slice. Some are of a
    kind that is not listed, and some have none.
    """
    with np.errstate(all="ignore"):
        steps = np.floor(7 * np.clip(np.nan_to_num(records.points), -1, 1.5))  # 7: neighbours are in three slices
    numbers = steps.sum(axis=1).astype(np.int64) % len(ALL_KINDS)
    days = (MONDAY + numbers).astype("datetime64[us]")
    columns = {
        "lon": pa.array(records.points[:, 0]),
        "lat": pa.array(records.points[:, 1]),
        "kind": pa.array([ALL_KINDS[number] for number in numbers.tolist()], pa.string()),
        "seen": pa.array(days, mask=numbers == ALL_KINDS.index(None)),
    }
    if records.users is not None:
        columns["person"] = pa.array(list(records.users), pa.string())
    return pa.table(columns)


def _named(records: Records) -> Mapping[str, Any]:
    return {} if records.users is None else {"user": "person"}


class NotHereError(Exception):
    """A way in does not exist on this machine."""
