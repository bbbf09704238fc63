"""What the pictures show: the bundled towns and villages, a public stand-in for people."""

from functools import cache
from importlib import resources

import numpy as np
import pyarrow.parquet as pq

from docs.pictures.look import Floats
from hushgrid import Domain, Synopsis, publish, simulation_rng
from hushgrid.methods.method import Method

EUROPE = Domain(west=-11, south=35, east=31, north=61)


@cache
def places() -> Floats:
    """Longitude and latitude of every place in Europe, shape (n, 2)."""
    with (resources.files("hushgrid") / "data" / "places.parquet").open("rb") as file:
        table = pq.read_table(file)
    points = np.stack([table["lon"].to_numpy(), table["lat"].to_numpy()], axis=1)
    inside = (points >= [EUROPE.west, EUROPE.south]) & (points < [EUROPE.east, EUROPE.north])
    return points[inside.all(axis=1)]


def release(method: str | Method, *, epsilon: str, seed: int = 1) -> Synopsis:
    """The places of Europe by a method, with noise from a seed: for pictures only."""
    rng = simulation_rng(seed)
    return publish(places(), domain=EUROPE, epsilon=epsilon, method=method, calibrate=False, rng=rng)


def bounds_of(synopsis: Synopsis) -> Floats:
    """West, south, east, north of every cell, shape (cells, 4)."""
    return synopsis.partition.bounds()
