"""Tables of the same rows in every engine that is installed, and partitions of every kind to count them on."""

import os
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from hushgrid.counting.opening import open_points
from hushgrid.counting.source import Block
from hushgrid.counting.users import LONGEST_ID
from hushgrid.geometry.domain import Domain
from hushgrid.geometry.grid import DIVIDED, Grid, GroupedGrid, NestedGrid
from hushgrid.geometry.partition import Partition
from hushgrid.geometry.quadrants import Quadrants
from hushgrid.geometry.tree import Lattice, Tree
from hushgrid.methods.pyramids import pyramid

# Sixteen digits and more: a database that took them for decimals might make other doubles of them.
DOMAIN = Domain(west=-3.141592653589793, south=0.7071067811865476, east=5.316622847135121, north=2.8976543210987655)
EDGES = (12, 16, 733, 1024)  # cells per side of the grids below


def awkward_rows(domain: Domain, rows: int = 600, *, seed: int = 5) -> pa.Table:
    """Points on edges of cells and an ulp beside them, in the corners, and rows that are no points at all."""
    rng = np.random.default_rng(seed)
    west, south, east, north = domain.bounds
    shares = np.concatenate([np.arange(count + 1) / count for count in EDGES])
    on_edges = np.array([west, south]) + rng.choice(shares, (rows, 2)) * np.array([east - west, north - south])
    beside = np.nextafter(on_edges, rng.choice([-np.inf, np.inf], on_edges.shape))
    anywhere = rng.uniform([west - 0.3, south - 0.1], [east + 0.3, north + 0.1], (rows, 2))
    clustered = rng.normal(
        [(west + east) / 2, (south + north) / 2], [(east - west) / 90, (north - south) / 90], (rows, 2)
    )
    corners = np.array([[west, south], [east, north], [west, north], [-0.0, 1.0], [0.0, 1.0]])
    bad = np.array(
        [[np.nan, south], [west, np.nan], [np.inf, south], [west, -np.inf], [1e300, 1e300], [east + 1e-9, south]]
    )
    points = np.concatenate([on_edges, beside, anywhere, clustered, corners, bad])
    lon = [*points[:, 0].tolist(), None, west, None]
    lat = [*points[:, 1].tolist(), south, None, None]
    return pa.table(
        {"id": np.arange(len(lon)) % 50, "lon": pa.array(lon, pa.float64()), "lat": pa.array(lat, pa.float64())}
    )


def partitions(domain: Domain) -> Mapping[str, Partition]:
    """One partition of every kind that methods count on."""
    grid = Grid(domain=domain, rows=3, columns=4)
    nested = NestedGrid(grid=grid, sides=[1, 3, 2, 1, 5, 1, 1, 7, 1, 2, 4, 1])
    groups = np.where(nested.sides > 1, DIVIDED, np.arange(12) % 2)
    return {
        "one-cell": Grid(domain=domain, rows=1, columns=1),
        "grid": Grid(domain=domain, rows=12, columns=16),
        "fine-grid": Grid(domain=domain, rows=733, columns=1024),
        "nested-grid": nested,
        "grouped-grid": GroupedGrid(nested=nested, groups=groups),
        "pyramid": pyramid(domain, [2, 6, 12]),
        "uneven-tree": uneven_tree(domain),
        "root-only": Tree(lattice=Lattice(domain=domain, columns=8, rows=8), boxes=[[0, 0, 8, 8]], splits=[[0, 0]]),
        "quadrants": Quadrants(domain=domain, levels=[2, 2, 1, 5, 16], codes=[0, 3, 1, 767, 2**32 - 1]),
    }


def uneven_tree(domain: Domain) -> Tree:
    """A root of 3 columns and 2 rows, two of whose children are divided again, one into a strip of five."""
    columns, rows = [0, 100, 700, 2**20], [0, 2**19, 2**20]
    boxes = [[0, 0, 2**20, 2**20]]
    boxes += [[columns[i], rows[j], columns[i + 1], rows[j + 1]] for j in range(2) for i in range(3)]
    splits = [[3, 2], [0, 0], [0, 0], [5, 1], [0, 0], [0, 0], [1, 2]]
    strips = [700, 2**17, 2**18, 2**18 + 1, 2**19, 2**20]
    boxes += [[left, 0, right, 2**19] for left, right in pairwise(strips)]
    boxes += [[700, low, 2**20, high] for low, high in ((2**19, 2**19 + 7), (2**19 + 7, 2**20))]
    splits += [[0, 0]] * 7
    return Tree(lattice=Lattice(domain=domain, columns=2**20, rows=2**20), boxes=boxes, splits=splits)


@contextmanager
def polars_table(rows: pa.Table) -> Iterator[Any]:
    import polars as pl

    yield pl.from_arrow(rows).lazy()


@contextmanager
def duckdb_table(rows: pa.Table) -> Iterator[Any]:
    import duckdb

    with duckdb.connect() as connection:
        yield connection.from_arrow(rows)


@contextmanager
def dask_table(rows: pa.Table) -> Iterator[Any]:
    import dask.dataframe as dd

    yield dd.from_pandas(rows.to_pandas(), npartitions=3)


@contextmanager
def ibis_table(rows: pa.Table) -> Iterator[Any]:
    import ibis

    backend = ibis.duckdb.connect()
    backend.con.register("arrow_rows", rows)
    backend.raw_sql("CREATE TABLE rows AS FROM arrow_rows")
    yield backend.table("rows")
    backend.disconnect()


@contextmanager
def spark_table(rows: pa.Table) -> Iterator[Any]:
    yield spark_session().createDataFrame(rows).repartition(3)


def spark_session() -> Any:
    """The one small session that all tests share."""
    from pyspark.sql import SparkSession

    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)  # where hushgrid is
    builder = SparkSession.builder.master("local[1]").appName("hushgrid tests")
    for key, value in {
        "spark.ui.enabled": "false",
        "spark.sql.shuffle.partitions": "1",
        "spark.driver.memory": "768m",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.host": "127.0.0.1",
        "spark.sql.adaptive.enabled": "false",
        "spark.sql.warehouse.dir": str(Path(tempfile.gettempdir(), "hushgrid-tests-warehouse")),
    }.items():
        builder = builder.config(key, value)
    return builder.getOrCreate()


def why_no_spark() -> str | None:
    """Why Spark cannot run here, if so."""
    return None if shutil.which("java") else "Java is not installed (Debian: openjdk-17-jre-headless)"


TABLES: Mapping[str, Callable[[pa.Table], Any]] = {
    "polars": polars_table,
    "duckdb": duckdb_table,
    "dask": dask_table,
    "ibis-on-duckdb": ibis_table,
    "spark": spark_table,
}


def read(points: Any, **options: Any) -> list[tuple[Any, ...]]:
    """Records of points, each with its slice, in no order."""
    source: Any = open_points(points, crs=DOMAIN.crs, **options)
    with ExitStack() as stack:
        if hasattr(source, "copied"):
            source = stack.enter_context(source.copied())
        return sorted(record for part in source.parts() for block in part for record in records(block))


def records(block: Block) -> Iterator[tuple[Any, ...]]:
    """Bits of coordinates, a slice and a user; what is no place and no user is the same from everywhere."""
    users = [None] * len(block.slices) if block.users is None else block.users.to_pylist()
    places = np.stack([block.longitudes, block.latitudes], axis=1).astype(np.float64)
    places[np.isnan(places).any(axis=1)] = np.nan
    for place, number, user in zip(places.view(np.int64).tolist(), block.slices.tolist(), users, strict=True):
        is_user = user is not None and len(user.decode()) <= LONGEST_ID
        yield *place, number, user if is_user else b""
