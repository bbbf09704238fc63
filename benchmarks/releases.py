"""Releases of many points, each measured in a process of its own."""

import argparse
import json
import subprocess
import sys
from pathlib import Path

from benchmarks.make_points import folder_of, write_folder

RESULTS = Path(__file__).parent / "results"


def asked_for(about, *, largest):
    """The folder of the points and their largest number, as the command line has them.

    Parameters
    ----------
    about : str
        What the benchmark measures, in words.
    largest : float
        Most points if nothing else is asked for.
    """
    parser = argparse.ArgumentParser(description=about)
    parser.add_argument("folder", type=Path, help="where the points are, or are to be")
    parser.add_argument("--largest", type=float, default=largest, help=f"most points (default: {largest:.0e})")
    given = parser.parse_args()
    return given.folder, int(given.largest)


def measured(module, folder, releases):
    """Rows of releases, given by points, method and epsilon.

    The module publishes and prints one row. Points are written to the folder where there are none yet.
    """
    rows = []
    for points, method, epsilon in releases:
        place = write_folder(folder_of(folder, points), points)
        command = [sys.executable, "-m", module, place, method, str(epsilon)]
        done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
        rows.append(json.loads(done.stdout))
        print(json.dumps(rows[-1]), file=sys.stderr, flush=True)
    return rows
