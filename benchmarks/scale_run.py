"""One release of a folder of points in a process of its own: what it took, beside decoding the same files.

`python -m benchmarks.scale_run FOLDER METHOD EPSILON` prints a row as JSON. Seconds are of the clock on the wall and of
the processors; the latter are those to compare, since other work on the machine disturbs them least.
"""

import json
import re
import sys
import tempfile
import time
from contextlib import contextmanager
from pathlib import Path
from unittest import mock

import hushgrid as hg
from benchmarks.make_points import DOMAIN
from hushgrid.counting.cell_loops import Curve
from hushgrid.counting.counter import PointCounter, _Pass
from hushgrid.counting.opening import open_points
from hushgrid.geometry.grid import Grid


class Stopwatch:
    """Seconds by the wall and by the processors, and how often it was started."""

    def __init__(self):
        self.wall = self.cpu = 0.0
        self.times = 0

    @contextmanager
    def running(self):
        """Measure what happens inside."""
        wall, cpu = time.perf_counter(), time.process_time()
        yield
        self.wall += time.perf_counter() - wall
        self.cpu += time.process_time() - cpu
        self.times += 1

    def on(self, function):
        """The same function, measured whenever it is called."""

        def measured(*arguments):
            with self.running():
                return function(*arguments)

        return measured


def peak_memory():
    """GB of memory this process had at most. `ru_maxrss` would include the process that started it."""
    return int(re.search(r"VmHWM:\s+(\d+) kB", Path("/proc/self/status").read_text())[1]) * 1024 / 1e9


def ignore(block, true_counts):
    """Do nothing with a block that was read."""


def decode(folder):
    """Read all points as a pass does, on as many threads, and do nothing with them."""
    grid = Grid(domain=DOMAIN, rows=1, columns=1)
    with mock.patch("hushgrid.counting.counter.tally_for", return_value=ignore):
        PointCounter(DOMAIN, open_points(folder, crs=DOMAIN.crs)).count(grid)


def warm(folder, method):
    """Import and compile what a release needs, which is not what is measured."""
    block = next(iter(open_points(folder, crs=DOMAIN.crs).parts()[0]))
    hg.publish((block.longitudes, block.latitudes), domain=DOMAIN, epsilon=1, method=method, calibrate=False)


def measure(folder, method, epsilon):
    """The row of one release, calibration left out; the total of the release is near that of the rows."""
    rows = open_points(folder, crs=DOMAIN.crs).rows()
    warm(folder, method)
    decoding, passes, counting, publishing, saving = (Stopwatch() for _ in range(5))
    with decoding.running():
        decode(folder)
    with (
        mock.patch.object(_Pass, "run", passes.on(_Pass.run)),
        mock.patch.object(Curve, "of", passes.on(Curve.of)),
        mock.patch.object(PointCounter, "count", counting.on(PointCounter.count)),
        publishing.running(),
    ):
        synopsis = hg.publish(folder, domain=DOMAIN, epsilon=epsilon, method=method, calibrate=False)
    with tempfile.TemporaryDirectory() as place, saving.running():
        synopsis.save(Path(place) / "release.dp.parquet")
    assert abs(synopsis.total / rows - 1) < 0.05
    return {
        "method": method,
        "points": rows,
        "epsilon": epsilon,
        "cells": synopsis.partition.cells,
        "passes": passes.times,
        "decoding_cpu": decoding.cpu,
        "decoding_wall": decoding.wall,
        "counting_cpu": counting.cpu,
        "counting_wall": counting.wall,
        "publishing_cpu": publishing.cpu,
        "publishing_wall": publishing.wall,
        "saving_cpu": saving.cpu,
        "saving_wall": saving.wall,
        "peak_gb": peak_memory(),
    }


if __name__ == "__main__":
    folder, method, epsilon = sys.argv[1:]
    print(json.dumps(measure(Path(folder), method, float(epsilon))))
