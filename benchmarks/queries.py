"""Rectangle counts on UG and AG, against vectorised numpy and a loop over queries."""

import time
from fractions import Fraction

import numpy as np

from benchmarks.row import Row, best
from hushgrid.geometry.domain import Domain
from hushgrid.geometry.grid import Grid, NestedGrid
from hushgrid.inference.measurements import Measurements, NoisyValues, Regions
from hushgrid.synopsis.claim import Claim, MethodRecord
from hushgrid.synopsis.synopsis import Synopsis

DOMAIN = Domain(west=-126, south=17, east=-66, north=57)
QUERIES = 1_000_000
LOOPED = 300


def random_rects(rng, side):
    """Rectangles of a share `side` of the domain's width and height, anywhere inside it."""
    west = DOMAIN.west + rng.uniform(0, 1 - side, QUERIES) * DOMAIN.width
    south = DOMAIN.south + rng.uniform(0, 1 - side, QUERIES) * DOMAIN.height
    return np.stack([west, south, west + side * DOMAIN.width, south + side * DOMAIN.height], axis=1)


def uniform_grid(rng):
    """A release of UG with 316 x 316 cells."""
    grid = Grid(domain=DOMAIN, rows=316, columns=316)
    leaves = NoisyValues.at_one_rate(rng.poisson(10, grid.cells).astype(np.int64), Fraction(1))
    return Synopsis.infer(
        grid,
        Measurements.of_leaves(leaves),
        inference="direct",
        claim=Claim(epsilon=Fraction(1)),
        method=MethodRecord(name="ug"),
    )


def adaptive_grid(rng):
    """A release of AG with 79 x 79 first-level cells and sides as uneven as real data make them."""
    grid = Grid(domain=DOMAIN, rows=79, columns=79)
    nested = NestedGrid(grid=grid, sides=np.minimum(1 + rng.geometric(0.2, grid.cells), 40))
    leaves = NoisyValues.at_one_rate(rng.poisson(10, nested.cells).astype(np.int64), Fraction(1, 2))
    cells = NoisyValues.at_one_rate(np.add.reduceat(leaves.values, nested.offsets[:-1]), Fraction(1, 2))
    return Synopsis.infer(
        nested,
        Measurements(leaves=leaves, regions=Regions.between(nested.offsets), region_values=cells),
        inference="two-level",
        claim=Claim(epsilon=Fraction(1)),
        method=MethodRecord(name="ag"),
    )


def count_by_numpy(grid, counts, rects):
    """Bilinear interpolation of the summed-area table at the four corners, vectorised."""
    table = np.zeros((grid.rows + 1, grid.columns + 1))
    table[1:, 1:] = counts.reshape(grid.rows, grid.columns).cumsum(0).cumsum(1)
    u = np.clip((rects[:, [0, 2]] - grid.domain.west) * grid.column_scale, 0, grid.columns)
    v = np.clip((rects[:, [1, 3]] - grid.domain.south) * grid.row_scale, 0, grid.rows)
    i, j = np.minimum(u.astype(int), grid.columns - 1), np.minimum(v.astype(int), grid.rows - 1)
    a, b = u - i, v - j

    def corner(x, y):
        ci, cj, ca, cb = i[:, x], j[:, y], a[:, x], b[:, y]
        low = table[cj, ci] * (1 - ca) + table[cj, ci + 1] * ca
        high = table[cj + 1, ci] * (1 - ca) + table[cj + 1, ci + 1] * ca
        return low * (1 - cb) + high * cb

    return corner(1, 1) - corner(0, 1) - corner(1, 0) + corner(0, 0)


def count_by_loop(bounds, counts, rects):
    """Covered share of every leaf, one query after the other."""
    west, south, east, north = bounds.T
    areas = (east - west) * (north - south)
    out = []
    for rect in rects:
        width = np.minimum(east, rect[2]) - np.maximum(west, rect[0])
        height = np.minimum(north, rect[3]) - np.maximum(south, rect[1])
        out.append(np.sum(np.maximum(width, 0) * np.maximum(height, 0) / areas * counts))
    return np.array(out)


def rows():
    """UG and AG, a million rectangles of 5 % side each."""
    rng = np.random.default_rng(0)
    rects = random_rects(rng, 0.05)
    flat, nested = uniform_grid(rng), adaptive_grid(rng)
    assert np.allclose(flat.count(rects), count_by_numpy(flat.partition, flat.counts, rects))
    ours = best(lambda: flat.count(rects))
    numpys = best(lambda: count_by_numpy(flat.partition, flat.counts, rects), times=3)
    bounds, few = nested.partition.bounds(), rects[:LOOPED]
    assert np.allclose(nested.count(few), count_by_loop(bounds, nested.counts, few))
    adaptive = best(lambda: nested.count(rects))
    start = time.perf_counter()
    count_by_loop(bounds, nested.counts, few)
    looped = (time.perf_counter() - start) / LOOPED
    intervals = best(lambda: nested.answer(rects), times=3)
    return [
        Row(
            name="UG queries, 1e6 rectangles, m = 316",
            measured=numpys / ours,
            target=5,
            unit="x vectorised numpy",
            note=f"{QUERIES / ours / 1e6:.1f} M a second",
        ),
        Row(
            name="AG queries, 1e6 rectangles of 5 % side",
            measured=QUERIES / adaptive / 1e6,
            target=1.5,
            unit="M a second",
            note=f"{looped / (adaptive / QUERIES):,.0f} x a numpy loop over queries; "
            f"{QUERIES / intervals / 1e6:.2f} M a second with intervals; {nested.partition.cells:,} leaves",
        ),
    ]
