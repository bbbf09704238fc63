"""At most K records of each user, from a file of 1e7 rows of 1e6 users.

Against reading the same rows and keeping none, by processor time; two threads against one go by the clock on the wall.
"""

import tempfile
from functools import partial
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from benchmarks.counting import DOMAIN, clustered, cpu_seconds, threads
from benchmarks.row import Row, best
from hushgrid.counting.bounded import bounded_points
from hushgrid.counting.bounding import KeyedRule
from hushgrid.counting.opening import open_points

ROWS, USERS, KEPT = 10_000_000, 1_000_000, 10
ROW_GROUP = 1_000_000
RULE = KeyedRule(key=bytes(range(32)), domain=DOMAIN, most=KEPT, most_for_total=10 * KEPT)


def write(path, *, text):
    """Write the file; a quarter of the users have more than K records, and seven tenths of all."""
    rng = np.random.default_rng(7)
    weights = rng.lognormal(0, 1.3, USERS)
    sizes = 1 + rng.multinomial(ROWS - USERS, weights / weights.sum())
    users = rng.permutation(np.repeat(10**9 + 7 * np.arange(USERS), sizes))
    ids = np.char.add("user-", users.astype("U12")) if text else users
    longitudes, latitudes = clustered(rng, ROWS)
    pq.write_table(pa.table({"lon": longitudes, "lat": latitudes, "who": ids}), path, row_group_size=ROW_GROUP)


def bound(path):
    """Number of records that are kept."""
    with bounded_points(open_points(path, user="who"), RULE) as bounded:
        return bounded.source.rows()


def read(path):
    """Read the same columns, and do nothing with them."""
    for part in open_points(path, user="who").parts():
        for _ in part:
            pass


def rows():
    """Ids that are numbers, and ids that are text."""
    made = []
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "users.parquet"
        for kind in ("numbers", "text"):
            write(path, text=kind == "text")
            bound(path)  # everything is compiled
            with threads(1):
                one, reading = cpu_seconds(partial(bound, path), times=3), cpu_seconds(partial(read, path), times=3)
                one_by_the_wall = best(partial(bound, path), times=3)
            with threads(2):
                two_by_the_wall = best(partial(bound, path), times=3)
            name, note = f"Bounding users, 1e7 rows, 1e6 users, K = 10, ids are {kind}", f"{one:.1f} s on one thread"
            made += [
                Row(name=name, measured=one / reading, target=8, unit="x reading", better="lower", note=note),
                Row(name=name, measured=one_by_the_wall / two_by_the_wall, target=1.7, unit="x one thread", note="two"),
            ]
    return made
