"""One release as anyone gets it, its intervals calibrated, in a process of its own: what it took.

`python -m benchmarks.cost_run FOLDER METHOD EPSILON` prints a row as JSON.
"""

import json
import sys
from pathlib import Path

import hushgrid as hg
from benchmarks.make_points import DOMAIN
from benchmarks.scale_run import Stopwatch, peak_memory
from hushgrid.counting.opening import open_points

WARM_POINTS = 10_000  # so few that memory does not show them


def warm(folder, method):
    """Load what a release needs, which is not what is measured; from the file too, because passes differ."""
    block = next(iter(open_points(folder, crs=DOMAIN.crs).parts()[0]))
    some = block.longitudes[:WARM_POINTS], block.latitudes[:WARM_POINTS]
    hg.publish(some, domain=DOMAIN, epsilon=1, method=method)


def measure(folder, method, epsilon):
    """The row of one release; its total is near that of the rows."""
    rows = open_points(folder, crs=DOMAIN.crs).rows()
    warm(folder, method)
    loaded, publishing = peak_memory(), Stopwatch()
    with publishing.running():
        synopsis = hg.publish(folder, domain=DOMAIN, epsilon=epsilon, method=method)
    assert abs(synopsis.total / rows - 1) < 0.1
    assert synopsis.calibration is not None
    return {
        "method": method,
        "points": rows,
        "epsilon": epsilon,
        "cells": synopsis.partition.cells,
        "cpu": publishing.cpu,
        "wall": publishing.wall,
        "loaded_gb": loaded,
        "peak_gb": peak_memory(),
    }


if __name__ == "__main__":
    folder, method, epsilon = sys.argv[1:]
    print(json.dumps(measure(Path(folder), method, float(epsilon))))
