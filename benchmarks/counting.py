"""Points into cells in memory, against numpy, DuckDB and the speed of reading alone.

Ratios are of processor time, which other work on the machine disturbs least; only two threads go by the clock on the
wall.
"""

import os
import time
from contextlib import contextmanager
from functools import partial

import duckdb
import numba
import numpy as np
import pyarrow as pa
import shapely

from benchmarks.row import Row, best
from hushgrid.counting.counter import PointCounter
from hushgrid.counting.memory import ArrayPoints
from hushgrid.geometry.domain import Domain
from hushgrid.geometry.grid import Grid, NestedGrid
from hushgrid.methods.areas import Areas

DOMAIN = Domain(west=-126, south=17, east=-66, north=57)
POINTS = 100_000_000
NESTED_POINTS = 10_000_000
SLOW_POINTS = 10_000_000  # for numpy.histogram2d, which takes half a minute and several GB for all of them
CLUSTERS = 1000
AREAS, SHAPELY_POINTS = 3000, 100_000

cpu_seconds = partial(best, clock=time.process_time)
CHUNK = 2**16  # the fastest of 2**13 to 2**20 for numpy


def clustered(rng, size):
    """Longitudes and latitudes around a thousand centres, some outside the domain."""
    centres = np.random.default_rng(0).uniform([DOMAIN.west, DOMAIN.south], [DOMAIN.east, DOMAIN.north], (CLUSTERS, 2))
    longitudes, latitudes = np.empty(size), np.empty(size)
    for first in range(0, size, 10**6):
        part = slice(first, min(first + 10**6, size))
        chosen = rng.integers(0, CLUSTERS, part.stop - first)
        longitudes[part] = centres[chosen, 0] + rng.normal(0, 0.5, chosen.size)
        latitudes[part] = centres[chosen, 1] + rng.normal(0, 0.3, chosen.size)
    return longitudes, latitudes


def count_by_numpy(grid, longitudes, latitudes):
    """numpy.bincount of cell numbers, in chunks that stay in the cache, with reused buffers."""
    domain, counts = grid.domain, np.zeros(grid.cells, np.int64)
    shift = np.empty(CHUNK)
    column, row = np.empty(CHUNK, np.intp), np.empty(CHUNK, np.intp)
    for first in range(0, longitudes.size, CHUNK):
        x, y = longitudes[first : first + CHUNK], latitudes[first : first + CHUNK]
        n = x.size
        inside = (x >= domain.west) & (x <= domain.east) & (y >= domain.south) & (y <= domain.north)
        np.subtract(x, domain.west, out=shift[:n])
        np.multiply(shift[:n], grid.column_scale, out=column[:n], casting="unsafe")
        np.subtract(y, domain.south, out=shift[:n])
        np.multiply(shift[:n], grid.row_scale, out=row[:n], casting="unsafe")
        np.minimum(column[:n], grid.columns - 1, out=column[:n])
        np.minimum(row[:n], grid.rows - 1, out=row[:n])
        row[:n] *= grid.columns
        row[:n] += column[:n]
        counts += np.bincount(row[:n][inside], minlength=grid.cells)
    return counts


def count_by_histogram2d(grid, longitudes, latitudes):
    """Numpy's own two-dimensional histogram, which bins by comparing with edges."""
    domain = grid.domain
    bounds = [[domain.south, domain.north], [domain.west, domain.east]]
    return np.histogram2d(latitudes, longitudes, bins=(grid.rows, grid.columns), range=bounds)[0].ravel()


@numba.njit(fastmath=True, nogil=True)
def read_alone(longitudes, latitudes):
    """Sum of both columns: as fast as they can be read by one thread."""
    total = 0.0
    for i in range(longitudes.size):
        total += longitudes[i] + latitudes[i]
    return total


@contextmanager
def threads(count):
    """Count on so many threads."""
    before = os.environ.get("HUSHGRID_THREADS")
    os.environ["HUSHGRID_THREADS"] = str(count)
    try:
        yield
    finally:
        if before is None:
            del os.environ["HUSHGRID_THREADS"]
        else:
            os.environ["HUSHGRID_THREADS"] = before


def grid_rows(longitudes, latitudes):
    """The pass of UG over all points."""
    grid = Grid(domain=DOMAIN, rows=316, columns=316)
    counter = PointCounter(DOMAIN, ArrayPoints((longitudes, latitudes)))
    assert np.array_equal(counter.count(grid), count_by_numpy(grid, longitudes, latitudes))
    slow = longitudes[:SLOW_POINTS], latitudes[:SLOW_POINTS]
    # Edges are found by comparison there: a few points on an edge may be in the next cell.
    difference = PointCounter(DOMAIN, ArrayPoints(slow)).count(grid) - count_by_histogram2d(grid, *slow)
    assert np.abs(difference).sum() <= 1e-5 * SLOW_POINTS
    read_alone(longitudes, latitudes)
    with threads(1):
        one, one_by_the_wall = cpu_seconds(partial(counter.count, grid)), best(partial(counter.count, grid))
    with threads(2):
        two_by_the_wall = best(partial(counter.count, grid))
    bincount = cpu_seconds(partial(count_by_numpy, grid, longitudes, latitudes), times=3)
    histogram2d = cpu_seconds(partial(count_by_histogram2d, grid, *slow), times=1) * (POINTS / SLOW_POINTS)
    reading = cpu_seconds(partial(read_alone, longitudes, latitudes))
    name = "UG counting, 1e8 points, m = 316, one thread"
    speed = f"{POINTS / one / 1e6:.0f} M points a second"
    bandwidth = f"columns read at {16 * POINTS / reading / 1e9:.1f} GB/s"
    return [
        Row(name=name, measured=bincount / one, target=2, unit="x chunked numpy.bincount", note=speed),
        Row(name=name, measured=histogram2d / one, target=20, unit="x numpy.histogram2d", note="that on 1e7 points"),
        Row(name=name, measured=100 * reading / one, target=20, unit="% of read bandwidth", note=bandwidth),
        Row(
            name="UG counting, two threads", measured=one_by_the_wall / two_by_the_wall, target=1.7, unit="x one thread"
        ),
    ]


SECOND_PASS = """
    select first_leaf
        + greatest(0, least(side - 1, floor((lat - south) * row_scale)))::bigint * side
        + greatest(0, least(side - 1, floor((lon - west) * column_scale)))::bigint as leaf,
        count(*) as count
    from (
        select lon, lat,
            least($rows - 1, floor((lat - $south) * $row_scale))::bigint * $columns
            + least($columns - 1, floor((lon - $west) * $column_scale))::bigint as cell
        from points
        where lon between $west and $east and lat between $south and $north
    )
    join cells using (cell)
    group by leaf
"""


def count_by_duckdb(connection, nested):
    """A join with the first-level cells and a group-by of the leaves."""
    grid, domain = nested.grid, nested.domain
    parameters = {
        "west": domain.west,
        "south": domain.south,
        "east": domain.east,
        "north": domain.north,
        "rows": grid.rows,
        "columns": grid.columns,
        "row_scale": grid.row_scale,
        "column_scale": grid.column_scale,
    }
    found = connection.execute(SECOND_PASS, parameters).fetchnumpy()
    counts = np.zeros(nested.cells, np.int64)
    counts[found["leaf"]] = found["count"]
    return counts


def nested_rows(longitudes, latitudes):
    """The second pass of AG, on as many threads as there are processors, for both."""
    grid = Grid(domain=DOMAIN, rows=79, columns=79)
    counter = PointCounter(DOMAIN, ArrayPoints((longitudes, latitudes)))
    nested = NestedGrid(grid=grid, sides=1 + np.sqrt(counter.count(grid) / 50).astype(np.int64))
    row, column = np.divmod(np.arange(grid.cells), grid.columns)
    points = pa.table({"lon": longitudes, "lat": latitudes})
    cells = pa.table(
        {
            "cell": np.arange(grid.cells),
            "west": grid.column_edges[column],
            "south": grid.row_edges[row],
            "column_scale": nested.column_scales,
            "row_scale": nested.row_scales,
            "side": nested.sides,
            "first_leaf": nested.offsets[:-1],
        }
    )
    with duckdb.connect() as connection:
        connection.register("given_points", points)
        connection.register("given_cells", cells)
        connection.execute("create table points as from given_points; create table cells as from given_cells")
        assert np.array_equal(counter.count(nested), count_by_duckdb(connection, nested))
        joined = cpu_seconds(partial(count_by_duckdb, connection, nested), times=3)
    ours = cpu_seconds(partial(counter.count, nested))
    note = f"{longitudes.size / ours / 1e6:.0f} M points a second, {nested.cells:,} leaves"
    return [
        Row(name="AG second pass, 1e7 points", measured=joined / ours, target=8, unit="x DuckDB join", note=note),
    ]


def slanted_areas():
    """Areas that tile most of the domain with many short edges, as counties do."""
    seeds = np.random.default_rng(2).uniform([DOMAIN.west, DOMAIN.south], [DOMAIN.east, DOMAIN.north], (AREAS, 2))
    whole = shapely.box(*DOMAIN.bounds)
    tiles = shapely.get_parts(shapely.voronoi_polygons(shapely.multipoints(seeds), extend_to=whole))
    return shapely.segmentize(shapely.intersection(tiles, whole), 0.2)


def area_rows(longitudes, latitudes):
    """Points into areas, with the making of the index, against a tree of shapely."""
    shapes = slanted_areas()
    areas = Areas(shapes).public_partition(DOMAIN)
    counter = PointCounter(DOMAIN, ArrayPoints((longitudes, latitudes)))
    few = slice(0, SHAPELY_POINTS)
    tree, asked = shapely.STRtree(shapes), shapely.points(longitudes[few], latitudes[few])
    found = tree.query(asked, predicate="intersects")[1]
    some = PointCounter(DOMAIN, ArrayPoints((longitudes[few], latitudes[few])))
    assert np.array_equal(some.count(areas), np.bincount(found, minlength=areas.cells))  # none lies on a border
    with threads(1):
        ours = cpu_seconds(partial(counter.count, areas), times=3)
    by_tree = cpu_seconds(partial(tree.query, asked, predicate="intersects"), times=1)
    ratio = by_tree * (longitudes.size / SHAPELY_POINTS) / ours
    note = f"{longitudes.size / ours / 1e6:.0f} M points a second, {AREAS:,} areas of {len(areas.vertices):,} vertices"
    return [Row(name="counting on areas, 1e7 points", measured=ratio, target=10, unit="x shapely's STRtree", note=note)]


def rows():
    """Both passes, and areas."""
    longitudes, latitudes = clustered(np.random.default_rng(1), POINTS)
    few = longitudes[:NESTED_POINTS], latitudes[:NESTED_POINTS]
    return grid_rows(longitudes, latitudes) + nested_rows(*few) + area_rows(*few)
