"""A file of 1e8 points: the counting pass against decoding alone, and the memory of a whole publish."""

import json
import re
import subprocess
import sys
import tempfile
import time
from functools import partial
from pathlib import Path
from unittest import mock

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

import hushgrid as hg
from benchmarks.counting import DOMAIN, clustered, count_by_numpy, cpu_seconds
from benchmarks.row import Row
from hushgrid.counting.counter import PointCounter
from hushgrid.counting.parquet import ParquetPoints
from hushgrid.geometry.grid import Grid

POINTS = 100_000_000
ROW_GROUP = 1_000_000
GRID = Grid(domain=DOMAIN, rows=1000, columns=1000)
COMPRESSION = "zstd"  # snappy decodes three times as fast, and counting then takes a third of the pass


def write(path):
    """Write the file and give back its true counts, by numpy."""
    rng, counts = np.random.default_rng(2), np.zeros(GRID.cells, np.int64)
    schema = pa.schema({"lon": pa.float64(), "lat": pa.float64()})
    with pq.ParquetWriter(path, schema, compression=COMPRESSION) as writer:
        for _ in range(POINTS // ROW_GROUP):
            longitudes, latitudes = clustered(rng, ROW_GROUP)
            counts += count_by_numpy(GRID, longitudes, latitudes)
            writer.write_table(pa.table({"lon": longitudes, "lat": latitudes}, schema))
    return counts


def ignore(block, true_counts):
    """Do nothing with a block that was read."""


def count(path):
    """Processor seconds of a counting pass, and of the same pass with a kernel that does nothing; and the counts."""
    counter = PointCounter(DOMAIN, ParquetPoints(path, crs=DOMAIN.crs))
    true_counts = counter.count(GRID)
    counting = cpu_seconds(partial(counter.count, GRID), times=3)
    with mock.patch("hushgrid.counting.counter.tally_for", return_value=ignore):
        decoding = cpu_seconds(partial(counter.count, GRID), times=3)
    return counting, decoding, true_counts


def peak_memory():
    """Bytes of memory this process had at most. `ru_maxrss` would include the process that started it."""
    return int(re.search(r"VmHWM:\s+(\d+) kB", Path("/proc/self/status").read_text())[1]) * 1024


def publish(path):
    """Publish by UG in this process, which should be a fresh one: seconds, GB at the peak, cells and their sum."""
    start = time.perf_counter()
    synopsis = hg.publish(path, domain=DOMAIN, epsilon="0.1", method="ug")
    return {
        "seconds": time.perf_counter() - start,
        "peak": peak_memory() / 1e9,
        "cells": synopsis.partition.cells,
        "sum": float(synopsis.counts.sum()),
    }


def rows():
    """Write the file once, count it here, publish it in a process of its own."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "points.parquet"
        expected = write(path)
        counting, decoding, true_counts = count(path)
        command = [sys.executable, "-m", "benchmarks.parquet", str(path)]
        published = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
        size = path.stat().st_size / 1e9
    assert np.array_equal(true_counts, expected)
    # Each of the cells has noise of variance 2 / 0.1**2 or a little more, at 99 % of epsilon.
    assert abs(published["sum"] - expected.sum()) < 6 * np.sqrt(published["cells"] * 2.1) / 0.1
    note = f"{size:.1f} GB {COMPRESSION}, {POINTS / counting / 1e6:.0f} M points a second"
    return [
        Row(
            name="Parquet, 1e8 points, m = 1,000: counting pass",
            measured=100 * decoding / counting,
            target=75,
            unit="% of decoding alone",
            note=note,
        ),
        Row(
            name="Parquet, 1e8 points: publish --method ug, epsilon 0.1",
            measured=published["peak"],
            target=0.6,
            unit="GB at the peak",
            better="lower",
            note=f"{published['seconds']:.1f} s in all, {published['cells']:,} cells",
        ),
    ]


if __name__ == "__main__":
    print(json.dumps(publish(Path(sys.argv[1]))))
