"""The density of areas, summed over rectangles."""

from functools import cached_property

import numpy as np

from hushgrid.arrays import Floats
from hushgrid.geometry.areas import Patchwork
from hushgrid.inference.measurements import Measurements
from hushgrid.synopsis.area_surface import AreaSurface
from hushgrid.synopsis.cover import Cover
from hushgrid.synopsis.outlines import import_shapely

RECTS_AT_ONCE = 2**16


class PatchworkSurface:
    """Areas after independent measurements at one rate; a rectangle is asked about as the polygon that it is."""

    def __init__(self, patchwork: Patchwork, measurements: Measurements, counts: Floats) -> None:
        self._patchwork = patchwork
        self._measurements = measurements
        self._counts = counts

    def counts(self, rects: Floats) -> Floats:
        """Estimated points in each rectangle, shape (n,)."""
        return np.concatenate([np.empty(0), *(self._areas.counts(cover) for cover in self._covers(rects))])

    def variances(self, rects: Floats) -> tuple[Floats, Floats]:
        """Variance of each estimate by noise, and by spread of the points inside cut areas, shape (n,) each."""
        parts = [np.empty((2, 0)), *(np.stack(self._areas.variances(cover)) for cover in self._covers(rects))]
        noise, spread = np.concatenate(parts, axis=1)
        return noise, spread

    def _covers(self, rects: Floats) -> list[Cover]:
        shapely = import_shapely()
        west, south, east, north = self._patchwork.domain.bounds
        within = np.clip(rects, (west, south, west, south), (east, north, east, north))  # they may have no end
        boxes = shapely.box(*within.T)
        boxes[shapely.area(boxes) == 0] = None  # all outside
        return [
            self._areas.cover(boxes[first : first + RECTS_AT_ONCE]) for first in range(0, len(boxes), RECTS_AT_ONCE)
        ]

    @cached_property
    def _areas(self) -> AreaSurface:
        return AreaSurface(self._patchwork, self._measurements, self._counts)
