"""The counting kernels, point by point on edges, and at every length around a block."""

import numpy as np
import pytest

from hushgrid.counting.cell_loops import BLOCK
from hushgrid.counting.counter import tally_for
from hushgrid.counting.source import Block
from hushgrid.geometry import cells
from hushgrid.geometry.domain import Domain
from hushgrid.geometry.grid import Grid, NestedGrid
from tests.plain import leaf_of

DOMAINS = {
    "the world": Domain(west=-180, south=-90, east=180, north=90),
    "bounds that are no binary fractions": Domain(west=-74.26, south=40.48, east=-73.70, north=40.92),
    "one third": Domain(west=1 / 3, south=-1 / 3, east=2 / 3, north=1 / 3),
    "far from zero": Domain(west=4e5, south=5.2e6, east=4.1e5, north=5.3e6, crs="EPSG:32633"),
}
SIDES = [1, 2, 3, 7, 316, 3600]


@pytest.fixture(params=DOMAINS.values(), ids=DOMAINS)
def domain(request):
    return request.param


def counted(partition, longitudes, latitudes):
    """Counts of the partition's cells, and of the points outside."""
    true_counts = np.zeros(partition.cells + 1, np.int64)
    tally_for(partition)(Block.of(np.asarray(longitudes), np.asarray(latitudes), 1.0), true_counts)
    return true_counts[:-1], true_counts[-1]


def around(edges):
    """Every edge, and the doubles next to it on both sides."""
    return np.concatenate([np.nextafter(edges, -np.inf), edges, np.nextafter(edges, np.inf)])


def numpy_cells(grid, longitudes, latitudes):
    """Cells by the shared expression, in numpy; points outside are left out."""
    west, south, east, north = grid.domain.bounds
    inside = (longitudes >= west) & (longitudes <= east) & (latitudes >= south) & (latitudes <= north)
    column = cells.cell(longitudes[inside], west, grid.column_scale, grid.columns)
    row = cells.cell(latitudes[inside], south, grid.row_scale, grid.rows)
    return row * grid.columns + column


@pytest.mark.parametrize("side", SIDES)
def test_points_on_column_edges_fall_where_the_shared_expression_says(domain, side):
    """On, just below and just above every column edge, kernel and numpy agree."""
    grid = Grid(domain=domain, rows=1, columns=side)
    longitudes = around(grid.column_edges)
    latitudes = np.full(longitudes.size, domain.north)

    inside, outside = counted(grid, longitudes, latitudes)

    np.testing.assert_array_equal(inside, np.bincount(numpy_cells(grid, longitudes, latitudes), minlength=side))
    assert outside == 2


@pytest.mark.parametrize("side", SIDES)
def test_points_on_row_edges_fall_where_the_shared_expression_says(domain, side):
    """On, just below and just above every row edge, kernel and numpy agree."""
    grid = Grid(domain=domain, rows=side, columns=1)
    latitudes = around(grid.row_edges)
    longitudes = np.full(latitudes.size, domain.east)

    inside, outside = counted(grid, longitudes, latitudes)

    np.testing.assert_array_equal(inside, np.bincount(numpy_cells(grid, longitudes, latitudes), minlength=side))
    assert outside == 2


def test_decimal_points_agree_with_a_plain_loop():
    """Coordinates with one decimal, of which a third lie on the cell edges of 3,600 columns, are counted alike."""
    grid = Grid(domain=DOMAINS["the world"], rows=2, columns=3600)
    longitudes = np.arange(-1800, 1801) / 10
    latitudes = np.resize([-0.1, 0.0, 0.1], longitudes.size)

    inside, outside = counted(grid, longitudes, latitudes)

    plain = [leaf_of(grid, *point) for point in zip(longitudes, latitudes, strict=True)]
    np.testing.assert_array_equal(inside, np.bincount(plain, minlength=grid.cells))
    assert outside == 0


def test_points_on_leaf_edges_agree_with_a_plain_loop(domain):
    """On, just below and just above the edges of both levels, the nested kernel puts points where the loop does."""
    grid = Grid(domain=domain, rows=3, columns=5)
    nested = NestedGrid(grid=grid, sides=1 + np.arange(grid.cells) % 6)
    bounds = nested.bounds()
    longitudes, latitudes = around(np.unique(bounds[:, [0, 2]])), around(np.unique(bounds[:, [1, 3]]))
    mesh = [mesh.ravel() for mesh in np.meshgrid(longitudes, latitudes)]

    inside, outside = counted(nested, *mesh)

    plain = [leaf_of(nested, *point) for point in zip(*mesh, strict=True)]
    np.testing.assert_array_equal(
        inside, np.bincount([leaf for leaf in plain if leaf is not None], minlength=nested.cells)
    )
    assert outside == plain.count(None)


def test_upper_edges_belong_to_the_last_row_and_column(domain):
    """The north-eastern corner is in the last cell, at every level."""
    grid = Grid(domain=domain, rows=4, columns=3)
    nested = NestedGrid(grid=grid, sides=np.full(grid.cells, 3))

    for partition in (grid, nested):
        inside, outside = counted(partition, [domain.east], [domain.north])
        assert (np.flatnonzero(inside), outside) == (partition.cells - 1, 0)


@pytest.mark.parametrize("size", [0, 1, BLOCK - 1, BLOCK, BLOCK + 1, 3 * BLOCK + 5])
@pytest.mark.parametrize("strided", [False, True], ids=["columns", "rows"])
def test_every_length_is_counted_whole(size, strided):
    """No point is lost or doubled at the end of a block, with any stride."""
    points = np.random.default_rng(0).uniform(-0.1, 1.1, (size, 2))
    longitudes, latitudes = points.T if strided else np.ascontiguousarray(points.T)
    grid = Grid(domain=Domain(west=0, south=0, east=1, north=1), rows=5, columns=9)
    nested = NestedGrid(grid=grid, sides=np.full(grid.cells, 2))

    inside, outside = counted(grid, longitudes, latitudes)
    leaves, leaves_outside = counted(nested, longitudes, latitudes)

    np.testing.assert_array_equal(inside, np.bincount(numpy_cells(grid, longitudes, latitudes), minlength=grid.cells))
    np.testing.assert_array_equal(leaves.reshape(-1, 4).sum(axis=1), inside)
    assert inside.sum() + outside == leaves.sum() + leaves_outside == size


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf, 1e308, -1e308, 5e9, -5e9])
@pytest.mark.parametrize("precision", [np.float32, np.float64])
def test_what_is_no_number_or_far_away_is_outside(bad, precision):
    """Coordinates that no integer can hold reach no cell."""
    with np.errstate(over="ignore"):
        longitudes, latitudes = np.array([[bad, 0.5, bad], [0.5, bad, bad]]).astype(precision)
    grid = Grid(domain=Domain(west=0, south=0, east=1, north=1), rows=3, columns=3)
    nested = NestedGrid(grid=grid, sides=np.full(grid.cells, 2))

    for partition in (grid, nested):
        inside, outside = counted(partition, longitudes, latitudes)
        assert (inside.sum(), outside) == (0, 3)


def test_single_precision_is_widened_before_it_is_binned():
    """The float32 nearest to 0.1 lies above the edge at 0.1, and is counted above it."""
    grid = Grid(domain=Domain(west=0, south=0, east=1, north=1), rows=1, columns=10)

    inside, _ = counted(grid, np.array([0.1], np.float32), np.array([0.5], np.float32))

    assert np.flatnonzero(inside) == leaf_of(grid, float(np.float32(0.1)), 0.5)
