"""The density of a nested grid whose leaves slope."""

from functools import cached_property

import numpy as np

from hushgrid.arrays import Floats
from hushgrid.compiled import run_in_slices
from hushgrid.inference.two_level import nested_slopes
from hushgrid.kernels.sloped_nested_answers import tilt_on_nested
from hushgrid.synopsis.nested_surface import NestedSurface
from hushgrid.synopsis.surface import SMALLEST_SLICE


class SlopedNestedSurface(NestedSurface):
    """A nested grid; inside a leaf the density is linear along x times linear along y.

    At the place (U, V) of a leaf, both from 0 to 1, it is the leaf's mean density times
    ``(1 + gx (2 U - 1)) (1 + gy (2 V - 1))``. Variances are those of flat leaves.
    """

    @cached_property
    def slopes(self) -> Floats:
        """Slopes gx and gy of every leaf, learned from the counts of all, from -1 to 1, shape (leaves, 2)."""
        leaf_variances = np.repeat(self._leaf_variances, self._nested.sides**2)
        return nested_slopes(self._nested, self._counts, leaf_variances, super().counts)

    def counts(self, rects: Floats) -> Floats:
        """Estimated points in each rectangle, shape (n,)."""
        out = super().counts(rects)
        leaves = (self._nested.offsets, self._counts, self.slopes)

        def work(first: int, stop: int) -> None:
            tilt_on_nested(rects, first, stop, *self._layout, *leaves, out)

        run_in_slices(work, len(rects), smallest=SMALLEST_SLICE)
        return out
