"""Points as in a land of cities, in Parquet files, as many as asked for: `python -m benchmarks.make_points FOLDER N`.

Writes FOLDER/1e6, FOLDER/1e7 and so on up to N points, each a folder of files of at most 5e7 points, in row groups of
a million. Columns are `lon` and `lat`, float64 with all their bits, compressed by zstd: about 14.9 bytes a point, so
that 1e9 points take 15 GB. Every file has a seed of its own and is the same on every machine with this numpy.
"""

import shutil
import sys
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from hushgrid.compiled import thread_count
from hushgrid.geometry.domain import Domain

DOMAIN = Domain(west=-126, south=17, east=-66, north=57)
SMALLEST = 10**6
FILE_POINTS, ROW_GROUP = 5 * 10**7, 10**6
CITIES, TICKETS = 5_000, 2**16  # a city holds tickets in proportion to its size; each point draws one
BACKGROUND = 0.05  # share of points that belong to no city
SCHEMA = pa.schema({"lon": pa.float64(), "lat": pa.float64()})
COMPRESSION = "zstd"


@cache
def cities():
    """Centres and spreads of cities, and the city of every ticket: sizes have a heavy tail, large cities spread out."""
    rng = np.random.default_rng(0)
    centres = rng.uniform((DOMAIN.west, DOMAIN.south), (DOMAIN.east, DOMAIN.north), (CITIES, 2))
    sizes = rng.pareto(1.1, CITIES) + 0.05
    spreads = 0.02 * sizes**0.4 * rng.lognormal(0, 0.5, CITIES)
    shares = np.cumsum(sizes) / sizes.sum()
    return centres, spreads, np.searchsorted(shares, (np.arange(TICKETS) + 0.5) / TICKETS)


def some_points(rng, size):
    """Longitudes and latitudes, a few of them outside the domain, in no order."""
    centres, spreads, city_of_ticket = cities()
    city = city_of_ticket[rng.integers(0, TICKETS, size, np.uint16)]
    longitudes = centres[city, 0] + spreads[city] * rng.standard_normal(size)
    latitudes = centres[city, 1] + spreads[city] * rng.standard_normal(size)
    lost = np.flatnonzero(rng.random(size, np.float32) < BACKGROUND)
    longitudes[lost] = rng.uniform(DOMAIN.west, DOMAIN.east, len(lost))
    latitudes[lost] = rng.uniform(DOMAIN.south, DOMAIN.north, len(lost))
    return longitudes, latitudes


def write_file(path, size, seed):
    """One file."""
    rng = np.random.default_rng(seed)
    with pq.ParquetWriter(path, SCHEMA, compression=COMPRESSION, use_dictionary=False) as writer:
        for first in range(0, size, ROW_GROUP):
            longitudes, latitudes = some_points(rng, min(ROW_GROUP, size - first))
            writer.write_table(pa.table({"lon": longitudes, "lat": latitudes}, SCHEMA), row_group_size=ROW_GROUP)


def write_folder(folder, size):
    """Write a number of points to files of a folder, unless they are there."""
    if folder.exists():
        return folder
    unfinished = folder.with_name(f"{folder.name}.unfinished")
    shutil.rmtree(unfinished, ignore_errors=True)
    unfinished.mkdir(parents=True)
    sizes = [min(FILE_POINTS, size - first) for first in range(0, size, FILE_POINTS)]
    paths = [unfinished / f"points-{number:03d}.parquet" for number in range(len(sizes))]
    seeds = [[size, number] for number in range(len(sizes))]
    with ThreadPoolExecutor(thread_count()) as pool:
        list(pool.map(write_file, paths, sizes, seeds))
    return unfinished.rename(folder)


def sizes_up_to(largest):
    """A million points, ten times as many, and so on.

    Examples
    --------
    >>> sizes_up_to(10**8)
    [1000000, 10000000, 100000000]
    """
    return [SMALLEST * 10**power for power in range(12) if SMALLEST * 10**power <= largest]


def folder_of(folder, size):
    """Where so many points are.

    Examples
    --------
    >>> folder_of(Path("points"), 2 * 10**7).name
    '2e7'
    """
    digits, exponent = f"{size:.0e}".split("e")
    return folder / f"{digits}e{int(exponent)}"


def main(folder, largest):
    """Write what is not there yet."""
    for size in sizes_up_to(int(float(largest))):
        print(write_folder(folder_of(Path(folder), size), size), flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
