"""Estimated densities over a domain that can be summed over rectangles.

Inside a leaf the density is flat. There is one kind of surface for each kind of partition; each knows the exact
variance of the noise in such a sum, covariances included, and a variance for what flatness gets wrong in the leaves a
query cuts.
"""

from typing import Protocol

import numpy as np

from hushgrid.arrays import Floats

SMALLEST_SLICE = 4096  # rectangles a thread is worth starting for
CLUMPING = 0.3  # points inside a leaf vary far more than a Poisson count: m + 0.3 m**2 (docs/decisions/0004)


class Surface(Protocol):
    """A density that sums over rectangles. Implemented by `GridSurface` and `NestedSurface`."""

    def counts(self, rects: Floats) -> Floats:
        """Estimated points in each rectangle, shape (n,)."""

    def variances(self, rects: Floats) -> tuple[Floats, Floats]:
        """Variance of each estimate by noise, and by spread of the points inside cut leaves, shape (n,) each."""


def spread(counts: Floats) -> Floats:
    """Variance scale of the points inside a leaf; a query that covers a share w of it has ``w (1 - w)`` times this."""
    points = np.maximum(counts, 0)
    return points + CLUMPING * points**2


def summed_area(values: Floats) -> Floats:
    """Summed-area table, flat, of an array of shape (rows, columns), with a first row and column of zeros.

    Examples
    --------
    >>> summed_area(np.array([[1.0, 2.0], [3.0, 4.0]])).reshape(3, 3)
    array([[ 0.,  0.,  0.],
           [ 0.,  1.,  3.],
           [ 0.,  4., 10.]])
    """
    rows, columns = values.shape
    table = np.zeros((rows + 1, columns + 1))
    np.cumsum(values, axis=0, out=table[1:, 1:])
    np.cumsum(table[1:, 1:], axis=1, out=table[1:, 1:])
    return table.ravel()
