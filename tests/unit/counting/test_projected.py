"""Points transformed to the domain's reference system before they are counted."""

import sys

import numpy as np
import pyarrow as pa
import pyproj
import pytest

from hushgrid.counting.counter import PointCounter
from hushgrid.counting.memory import ArrayPoints, TablePoints
from hushgrid.counting.opening import check_place, check_reachable, projected
from hushgrid.errors import ArgumentError, MissingExtraError
from hushgrid.geometry.domain import Domain
from hushgrid.geometry.grid import Grid

METRES = Domain(west=560_000, south=4_480_000, east=620_000, north=4_530_000, crs="EPSG:32618")
DEGREES = Domain(west=-75, south=40, east=-73, north=41)


def some_points(size=2000):
    """Longitudes and latitudes around the domain, some of them outside."""
    return np.random.default_rng(0).normal((-73.9, 40.7), 0.3, (size, 2))


def moved(source):
    """All points of a source, in order."""
    blocks = [block for part in source.parts() for block in part]
    return np.concatenate([np.column_stack([block.longitudes, block.latitudes]) for block in blocks])


def test_points_are_where_pyproj_puts_them():
    """Places agree with pyproj to a millimetre, and so do counts."""
    source = projected(ArrayPoints(some_points()), domain=METRES)
    expected = np.column_stack(pyproj.Proj("EPSG:32618")(*some_points().T))
    grid = Grid(domain=METRES, rows=3, columns=4)
    x, y = expected.T
    true_counts, _, _ = np.histogram2d(y, x, bins=(grid.row_edges, grid.column_edges))

    assert np.allclose(moved(source), expected, atol=1e-3)
    assert source.rows() == 2000
    assert np.array_equal(PointCounter(METRES, source).count(grid), true_counts.ravel())


def test_axes_come_east_first_whatever_the_authority_says():
    """EPSG:4326 is written latitude first by its authority, and not here."""
    by_code = projected(ArrayPoints(some_points()), crs="EPSG:4326", domain=METRES)

    assert np.allclose(moved(by_code), moved(projected(ArrayPoints(some_points()), domain=METRES)), atol=1e-6)


@pytest.mark.parametrize("crs", ["OGC:CRS84", "EPSG:4326"])
def test_where_nothing_is_to_do_nothing_is_done(crs):
    """The source comes back as it is."""
    source = ArrayPoints(some_points())

    assert projected(source, crs=crs, domain=DEGREES) is source
    assert projected(source, crs="EPSG:32618", domain=METRES) is source


@pytest.mark.parametrize(
    "bad",
    [(np.nan, 40.0), (-74.0, np.nan), (np.inf, 40.0), (1e308, -1e308), (-74.0, 95.0), (500.0, 40.0)],
    ids=["nan", "half-nan", "infinite", "huge", "beyond-the-pole", "around-the-world"],
)
def test_a_row_that_cannot_be_transformed_touches_no_other(bad):
    """It is not an error, and changes no bit of another row, wherever it stands."""
    good = some_points(200)
    alone = moved(projected(ArrayPoints(good), domain=METRES))
    for place in (0, 100, 200):
        with_bad = moved(projected(ArrayPoints(np.insert(good, place, bad, axis=0)), domain=METRES))
        assert np.array_equal(np.delete(with_bad, place, axis=0), alone)


def test_rows_are_transformed_one_by_one():
    """Rows in any order and in parts of any size have the same places."""
    points = some_points(300)
    order = np.random.default_rng(1).permutation(300)
    whole = moved(projected(ArrayPoints(points), domain=METRES))

    assert np.array_equal(moved(projected(ArrayPoints(points[order]), domain=METRES)), whole[order])
    assert np.array_equal(
        np.concatenate([moved(projected(ArrayPoints(points[[row]]), domain=METRES)) for row in range(300)]), whole
    )


def test_single_precision_and_users_are_kept():
    """Coordinates are doubles from here on; ids stay with their rows."""
    table = pa.table({"lon": pa.array([-73.9, -74.0], pa.float32()), "lat": [40.7, 40.6], "who": ["a", "b"]})
    source = projected(TablePoints.of_frame(table, crs=DEGREES.crs, user="who"), domain=METRES)
    (block,) = (block for part in source.parts() for block in part)

    assert block.longitudes.dtype == np.float64
    assert len(block.users) == 2
    assert block.share == 1


@pytest.mark.parametrize("crs", ["EPSG:999999", "nowhere", ""])
def test_a_system_that_is_none_is_refused(crs):
    """An unknown system is refused by its name, before a row is looked at."""
    with pytest.raises(ArgumentError, match="PROJ cannot transform"):
        projected(ArrayPoints(some_points()), crs=crs, domain=METRES)
    with pytest.raises(ArgumentError, match="PROJ cannot transform"):
        check_reachable(crs, METRES)
    check_reachable("EPSG:4326", METRES)
    check_reachable("OGC:CRS84", DEGREES)


def test_the_source_is_checked_through_the_wrapper():
    """A file that has changed is noticed."""

    class Changed(ArrayPoints):
        def check_unchanged(self):
            raise RuntimeError

    with pytest.raises(RuntimeError):
        projected(Changed(some_points()), domain=METRES).check_unchanged()


def test_a_missing_library_is_named_with_its_extra(monkeypatch):
    """Only points in another system ask for pyproj."""
    monkeypatch.setitem(sys.modules, "pyproj", None)

    with pytest.raises(MissingExtraError, match=r"need pyproj: pip install 'hushgrid\[gis\]'"):
        projected(ArrayPoints(some_points()), domain=METRES)


def place(bounds, crs="OGC:CRS84"):
    west, south, east, north = bounds
    return Domain(west=west, south=south, east=east, north=north, crs=crs)


PARIS, PARIS_IN_METRES = (2.2, 48.8, 2.4, 48.9), (641_000.0, 6_855_000.0, 656_000.0, 6_867_000.0)
FRANCE, NEW_YORK_ZONE = "EPSG:2154", "EPSG:32618"
WELL_PLACED = {
    "degrees for points in metres": (place(PARIS), FRANCE),
    "metres": (place(PARIS_IN_METRES, FRANCE), FRANCE),
    "metres for points in degrees": (place(PARIS_IN_METRES, FRANCE), "OGC:CRS84"),
    "the zone of Oslo for Bergen": (place((5.2, 60.3, 5.4, 60.5)), "EPSG:25833"),
    "islands beyond the 180th meridian": (place((-177, -44, -176, -43)), "EPSG:2193"),
    "the North Pole": (place((-1e6, -1e6, 1e6, 1e6), "EPSG:3413"), "EPSG:3413"),
    "degrees by another name": (place((-74, 40, -73, 41), "EPSG:4269"), "EPSG:4269"),
    "metres from a street corner": (place((0, 0, 50, 80), "+proj=tmerc +lat_0=48.8 +lon_0=2.3"), "OGC:CRS84"),
}


@pytest.mark.parametrize(("domain", "crs"), WELL_PLACED.values(), ids=WELL_PLACED)
def test_a_domain_near_where_its_systems_are_used_is_fine(domain, crs):
    """Nobody is stopped for living at the edge of a zone."""
    check_place(crs, domain)


MISPLACED = {
    "degrees in metres": (place(PARIS, FRANCE), FRANCE, {"domain": place(PARIS), "crs": FRANCE}, "look like degrees"),
    "degrees in metres, points in degrees": (
        place(PARIS, FRANCE), "OGC:CRS84", {"domain": place(PARIS)}, "look like degrees"
    ),
    "latitude first": (
        place((48.8, 2.2, 48.9, 2.4)), FRANCE, {"domain": place(PARIS)}, "where the system of the points EPSG:2154 is"
    ),
    "metres of another system": (
        place(PARIS_IN_METRES, NEW_YORK_ZONE), FRANCE, {"domain": place(PARIS_IN_METRES, FRANCE)}, "lies far from"
    ),
    "another continent": (place((-74, 40, -73, 41)), FRANCE, {}, "is used, -9.86,41.15,10.38,51.56"),
    "beyond the Earth": (place((1e9, 1e9, 2e9, 2e9), FRANCE), FRANCE, {}, "where the system EPSG:2154 is used"),
}  # fmt: skip


@pytest.mark.parametrize(("domain", "crs", "instead", "words"), MISPLACED.values(), ids=MISPLACED)
def test_a_domain_far_from_where_its_systems_are_used_is_refused(domain, crs, instead, words):
    """With what was likely meant, which is fine."""
    with pytest.raises(ArgumentError, match=words) as caught:
        check_place(crs, domain)

    assert caught.value.instead == instead
    if instead:
        check_place(instead.get("crs", crs), instead["domain"])
