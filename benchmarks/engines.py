"""STAQ in an engine: how often it is asked, and its time beside that of our own reading of the same file.

Time is that of processors, which other work on the machine disturbs least; DuckDB works in this process.
"""

import time
from fractions import Fraction
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from unittest.mock import patch

import narwhals as nw
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

import hushgrid as hg
from benchmarks.row import Row, best
from hushgrid.counting.counter import open_counter
from hushgrid.counting.engine.address import Address
from hushgrid.counting.opening import open_points
from hushgrid.privacy.bits import simulation_rng
from hushgrid.privacy.budget import Budget

DOMAIN = hg.Domain(west=-8, south=49.5, east=2, north=61)
POINTS, TOWNS = 2_000_000, 500

cpu_seconds = partial(best, times=2, clock=time.process_time)


def rows():
    """Queries of one release, and both times; both releases have the same values."""
    with TemporaryDirectory() as folder:
        path = Path(folder, "points.parquet")
        pq.write_table(in_towns(), path)
        engine = Address(text=str(path), engine="duckdb")
        with patch.object(nw.LazyFrame, "collect", autospec=True, side_effect=nw.LazyFrame.collect) as collect:
            in_engine = release(engine)
        by_file = release(path)
        seconds, file_seconds = (cpu_seconds(partial(release, points)) for points in (engine, path))
    assert np.array_equal(in_engine.measurements.leaves.values, by_file.measurements.leaves.values)
    cells = f"2e6 points, {by_file.partition.cells:,} cells"
    return [
        Row(
            name="STAQ on engines, queries",
            measured=collect.call_count,
            target=4,
            unit="queries",
            better="lower",
            note=f"DuckDB, the number of rows included; {cells}",
        ),
        Row(
            name="STAQ on DuckDB, processor time",
            measured=seconds / file_seconds,
            target=2,
            unit="x our own reading",
            better="lower",
            note=f"{seconds:.1f} s and {file_seconds:.1f} s, inference included; {cells}",
        ),
    ]


def in_towns():
    """Points in and around towns of very different size, some so dense that cells below level 11 are wanted."""
    rng = np.random.default_rng(0)
    weights, spread = rng.pareto(1.1, TOWNS), rng.lognormal(-3, 1.2, TOWNS)
    centres = rng.uniform((DOMAIN.west, DOMAIN.south), (DOMAIN.east, DOMAIN.north), (TOWNS, 2))
    town = rng.choice(TOWNS, POINTS, p=weights / weights.sum())
    points = centres[town] + spread[town, None] * rng.normal(size=(POINTS, 2))
    return pa.table({"lon": points[:, 0], "lat": points[:, 1]})


def release(points):
    """A simulated release by the defaults, from opening the points on."""
    with open_counter(DOMAIN, open_points(points, crs=DOMAIN.crs)) as counter:
        return hg.Staq().release(counter, Budget(Fraction(1), bits=simulation_rng(0)))
