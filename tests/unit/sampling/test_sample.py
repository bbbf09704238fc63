"""Synthetic points: numbers, seeds, threads, and polygons that hold them."""

import sys

import geopandas
import numpy as np
import pytest
import shapely

from hushgrid.errors import ArgumentError, MissingExtraError
from hushgrid.geometry.domain import Domain
from hushgrid.geometry.grid import Grid, NestedGrid
from hushgrid.sampling.land import SMALLEST_SHARE
from hushgrid.sampling.points import running_numbers
from tests.plain import UNIT_SQUARE, leaf_of
from tests.synopses import synopsis_on

GRID = Grid(domain=UNIT_SQUARE, rows=4, columns=4)
EVEN = synopsis_on(GRID, values=np.full(16, 10))
NESTED = synopsis_on(NestedGrid(grid=Grid(domain=UNIT_SQUARE, rows=2, columns=2), sides=[1, 2, 3, 20]))


def by_leaf(synopsis, points):
    """Points in every leaf, one after the other."""
    leaves = [leaf_of(synopsis.partition, *point) for point in points.tolist()]
    return np.bincount(leaves, minlength=synopsis.partition.cells)


@pytest.mark.parametrize("size", [0, 1, 7, 160, 1000])
def test_there_are_as_many_points_as_asked_for(size):
    """All in the domain, each leaf within one of its share."""
    points = EVEN.sample(size, seed=1)

    assert points.shape == (size, 2)
    assert np.all((points >= 0) & (points <= 1))
    assert np.all(np.abs(by_leaf(EVEN, points) - size / 16) < 1)


def test_a_seed_gives_the_same_points_again():
    """Another seed others, and none others every time."""
    assert np.array_equal(NESTED.sample(100, seed=1), NESTED.sample(100, seed=1))
    assert not np.array_equal(NESTED.sample(100, seed=1), NESTED.sample(100, seed=2))
    assert not np.array_equal(NESTED.sample(100), NESTED.sample(100))


@pytest.mark.parametrize("within", [None, shapely.Point(0.5, 0.5).buffer(0.45)], ids=["everywhere", "land"])
def test_threads_do_not_matter(within, monkeypatch):
    """One, two or five of them place the same points."""
    drawn = []
    for threads in ("1", "2", "5"):
        monkeypatch.setenv("HUSHGRID_THREADS", threads)
        drawn.append(NESTED.sample(400_000, seed=3, within=within))

    assert np.array_equal(drawn[0], drawn[1])
    assert np.array_equal(drawn[0], drawn[2])


@pytest.mark.parametrize("size", [-1, 10**12, 2.5, "many", None, np.nan], ids=str)
def test_a_number_that_is_none_is_refused(size):
    """The message quotes the number, and says what is allowed."""
    with pytest.raises(ArgumentError, match="whole number from 0 to 1,000,000,000, got"):
        EVEN.sample(size)


@pytest.mark.parametrize("seed", [-1, 0.5, "x"], ids=str)
def test_a_seed_that_is_none_is_refused(seed):
    """The message quotes the seed, and says what is allowed."""
    with pytest.raises(ArgumentError, match="seed must be"):
        EVEN.sample(3, seed=seed)


def test_numbers_are_right_on_average():
    """Over offsets that are spread evenly, every leaf gets its share."""
    masses = np.random.default_rng(0).dirichlet(np.full(30, 0.3))
    offsets = (np.arange(1000) + 0.5) / 1000
    numbers = np.mean([np.diff(running_numbers(masses, 47, offset=offset), prepend=0) for offset in offsets], axis=0)

    assert np.allclose(numbers, 47 * masses, atol=2e-3)


def test_the_last_number_is_the_size_whatever_rounding_does():
    """Masses may sum to a little less or more than one, and the offset may round up."""
    for masses in (np.full(10, 0.1), np.full(3, 1 / 3) * (1 + 1e-15), np.array([0.5, 0.5, 0.0])):
        ends = running_numbers(masses, 10**9, offset=1 - 2.0**-53)
        assert ends[-1] == 10**9
        assert ends[np.flatnonzero(masses)[-1]] == 10**9


def test_land_holds_every_point_and_leaves_keep_theirs():
    """Leaves keep their points even where only a corner of them is land."""
    land = shapely.difference(shapely.box(-1, -1, 2, 2), shapely.Point(0.5, 0.5).buffer(0.32))
    points = EVEN.sample(16_000, seed=1, within=land)

    assert shapely.intersects_xy(land, *points.T).all()
    assert np.array_equal(by_leaf(EVEN, points), np.full(16, 1000))


def test_points_lie_evenly_on_the_land_of_a_leaf():
    """Half of them on either side of a line through the middle of a triangle that fills half a leaf."""
    one = synopsis_on(Grid(domain=UNIT_SQUARE, rows=1, columns=1), values=[5])
    points = one.sample(20_000, seed=2, within=shapely.Polygon([(0, 0), (1, 0), (0, 1)]))

    assert np.all(points.sum(axis=1) <= 1)
    assert abs(np.mean(points.sum(axis=1) < np.sqrt(0.5)) - 0.5) < 4 * 0.5 / np.sqrt(20_000)


def test_points_of_leaves_without_land_go_to_the_block_around():
    """The western half of the north-west quarter is sea: its points go to the rest of that quarter."""
    sea = shapely.box(-0.1, 0.5, 0.25, 1.1)
    points = EVEN.sample(1600, seed=1, within=shapely.difference(shapely.box(-1, -1, 2, 2), sea))
    expected = np.full((4, 4), 100)
    expected[2:, :2] = [0, 200]

    assert np.array_equal(by_leaf(EVEN, points).reshape(4, 4), expected)


def test_next_to_no_land_is_none():
    """A strip too thin to be found by trial; the points go to the other leaves."""
    strip = shapely.box(0, 0, 0.25 * SMALLEST_SHARE / 2, 0.25)
    points = EVEN.sample(100, seed=1, within=[strip, shapely.box(0.5, 0.5, 1, 1)])

    assert np.all(points >= 0.5)


def test_overlapping_and_crossed_polygons_are_one_land():
    """Counted once, repaired where need be."""
    bow = shapely.Polygon([(0, 0), (0.5, 0.5), (0.5, 0), (0, 0.5)])
    points = EVEN.sample(400, seed=1, within=[bow, bow, shapely.box(0.1, 0.1, 0.4, 0.4)])
    land = shapely.union_all([shapely.make_valid(bow), shapely.box(0.1, 0.1, 0.4, 0.4)])

    assert shapely.intersects_xy(land, *points.T).all()


def test_land_in_another_reference_system_is_transformed():
    """Land is transformed as counted polygons are."""
    town = synopsis_on(Grid(domain=Domain(west=-1, south=50, east=1, north=52), rows=2, columns=2))
    land = geopandas.GeoSeries([shapely.box(-0.5, 50.5, 0.5, 51.5)], crs="EPSG:4326")
    points = town.sample(500, seed=1, within=land.to_crs("EPSG:3857"))

    assert np.all(np.abs(points - [0, 51]) <= 0.5 + 1e-9)


@pytest.mark.parametrize(
    ("within", "match"),
    [
        (shapely.box(5, 5, 6, 6), "cover a part of the domain"),
        ([], "cover a part of the domain"),
        (shapely.Polygon(), "cover a part of the domain"),
        (shapely.Point(0.5, 0.5), "polygon 0 is a Point"),
        ("land.geojson", "not a geometry of shapely"),
    ],
    ids=["elsewhere", "none", "empty", "a-point", "a-path"],
)
def test_what_holds_no_points_is_refused(within, match):
    """Polygons that cannot hold points are refused."""
    with pytest.raises(ArgumentError, match=match):
        EVEN.sample(10, within=within)


def test_a_missing_library_is_named_with_its_extra(monkeypatch):
    """Only points on land ask for shapely."""
    monkeypatch.setitem(sys.modules, "shapely", None)

    assert len(EVEN.sample(3)) == 3
    with pytest.raises(MissingExtraError, match=r"hushgrid\[gis\]"):
        EVEN.sample(3, within=object())
