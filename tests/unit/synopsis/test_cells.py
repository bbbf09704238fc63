"""Cells as well-known binary, against shapely."""

import numpy as np
import shapely

from hushgrid.geometry.domain import Domain
from hushgrid.geometry.grid import Grid
from hushgrid.synopsis.cells import polygons

BOUNDS = Grid(domain=Domain(west=-180, south=-90, east=180, north=90), rows=3, columns=5).bounds()


def test_polygons_are_the_boxes_shapely_makes():
    """Byte for byte, a cell is what shapely writes for the same ring."""
    expected = [shapely.to_wkb(shapely.box(*cell, ccw=True).normalize()) for cell in BOUNDS]

    found = [shapely.to_wkb(shapely.from_wkb(wkb).normalize()) for wkb in polygons(BOUNDS).to_pylist()]

    assert found == expected


def test_rings_are_closed_and_counterclockwise():
    """GeoParquet files that say so must be so."""
    rings = [shapely.from_wkb(wkb).exterior for wkb in polygons(BOUNDS).to_pylist()]

    assert all(ring.is_closed and ring.is_ccw for ring in rings)


def test_coordinates_are_kept_to_the_bit():
    """Neighbouring cells share their corners exactly."""
    awkward = np.array([[0.1 + 0.2, -0.0, 1 / 3 + 1, 5e-324]])

    corners = shapely.get_coordinates(shapely.from_wkb(polygons(awkward).to_pylist()))

    assert set(corners[:, 0]) == {0.1 + 0.2, 1 / 3 + 1}
    assert set(corners[:, 1]) == {0.0, 5e-324}


def test_no_cells_make_no_polygons():
    """An empty array is fine."""
    assert len(polygons(np.empty((0, 4)))) == 0
