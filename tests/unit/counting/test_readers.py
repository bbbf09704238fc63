"""Every reader gives the same counts, and no row stops any of them."""

import numpy as np
import pytest

from hushgrid.counting.counter import PointCounter
from hushgrid.counting.opening import open_points
from hushgrid.geometry.grid import Grid, NestedGrid
from tests.plain import PlainCounter
from tests.unit.counting.tables import DOMAIN, FORMS, HOSTILE, some_points

GRID = Grid(domain=DOMAIN, rows=7, columns=11)
NESTED = NestedGrid(grid=GRID, sides=1 + np.arange(GRID.cells) % 4)


def counter(points, form, folder):
    return PointCounter(DOMAIN, open_points(FORMS[form](points, folder), crs=DOMAIN.crs))


@pytest.fixture(params=FORMS)
def form(request):
    return request.param


@pytest.mark.parametrize("partition", [GRID, NESTED], ids=["grid", "nested grid"])
def test_counts_equal_a_plain_loop(form, partition, tmp_path):
    """Whatever the points come in, a cell holds what a loop over single points puts there."""
    points = some_points()

    counted = counter(points, form, tmp_path).count(partition)

    assert counted.dtype == np.int64
    np.testing.assert_array_equal(counted, PlainCounter(DOMAIN, tuple(points)).count(partition))


def test_rows_are_all_rows_and_the_total_those_inside(form, tmp_path):
    """Rows outside the domain and unreadable ones are rows, but not points."""
    points = some_points()
    plain = PlainCounter(DOMAIN, tuple(points))

    counting = counter(points, form, tmp_path)

    assert counting.rows() == plain.rows()
    assert counting.total() == plain.total()


def test_no_rows_give_zeros(form, tmp_path):
    """A table without rows is fine."""
    counting = counter(np.empty((0, 2)), form, tmp_path)

    assert counting.rows() == 0
    assert not counting.count(GRID).any()


@pytest.mark.parametrize("row", HOSTILE.values(), ids=HOSTILE)
def test_a_row_that_is_no_point_changes_no_count(form, row, tmp_path):
    """The counts with the row are those without it, and nothing is raised."""
    points = some_points(20)
    with_row = np.insert(points, 10, row, axis=0)

    before = counter(points, form, tmp_path)
    counts = before.count(NESTED)
    after = counter(with_row, form, tmp_path)

    np.testing.assert_array_equal(after.count(NESTED), counts)
    assert after.rows() == len(with_row)


@pytest.mark.parametrize("form", ["array", "pair of arrays", "pandas", "Arrow table", "Parquet"])
def test_single_precision_counts_where_the_double_of_it_lies(form, tmp_path):
    """A float32 is exact as a float64, and is binned as that."""
    with np.errstate(over="ignore"):
        points = some_points(500).astype(np.float32)

    counted = counter(points, form, tmp_path).count(NESTED)

    plain = PlainCounter(DOMAIN, tuple(points.astype(np.float64)))
    np.testing.assert_array_equal(counted, plain.count(NESTED))


@pytest.mark.parametrize("form", ["array", "pair of arrays", "pandas", "polars", "Arrow table", "Parquet", "CSV"])
@pytest.mark.parametrize("kind", ["int8", "uint16", "int64", "uint64"])
def test_integers_are_coordinates_too(form, kind, tmp_path):
    """Whole numbers, those beyond every double's reach included, are binned as float64."""
    largest = np.iinfo(kind).max
    points = np.array([[0, 1], [7, 2], [30, 15], [largest, largest - 1]], kind)

    counted = counter(points, form, tmp_path).count(GRID)

    plain = PlainCounter(DOMAIN, tuple(points.astype(np.float64)))
    np.testing.assert_array_equal(counted, plain.count(GRID))


def test_the_order_of_rows_changes_nothing(form, tmp_path):
    """Permuting the rows leaves every count where it is."""
    points = some_points()
    shuffled = np.random.default_rng(1).permutation(points)

    counts = counter(points, form, tmp_path).count(NESTED)

    np.testing.assert_array_equal(counter(shuffled, form, tmp_path).count(NESTED), counts)
