"""Estimated densities that can be summed over rectangles.

There is one kind of surface for each kind of partition, and another where the density slopes inside leaves. Each knows
the variance of the noise in such a sum, covariances included, and a variance for what the density gets wrong in the
leaves that a query cuts.
"""

from typing import Protocol

import numpy as np

from hushgrid.arrays import Floats

SMALLEST_SLICE = 4096  # rectangles a thread is worth starting for
FLAT = np.empty((0, 2))  # stands for slopes that are all zero
CLUMPING = 0.3  # points inside a leaf vary far more than a Poisson count: m + 0.3 m**2 (docs/decisions/0004)


class Surface(Protocol):
    """A density that sums over rectangles.

    There is an implementation for each kind of partition: see `hushgrid.answering.surfaces`.
    """

    def counts(self, rects: Floats) -> Floats:
        """Estimated points in each rectangle, shape (n,)."""

    def variances(self, rects: Floats) -> tuple[Floats, Floats]:
        """Variances by noise and by spread, shape (n,) each.

        Spread is what the density gets wrong about the points inside the leaves that a rectangle cuts.
        """


def spread(counts: Floats) -> Floats:
    """Variance scale of the points inside a leaf.

    A query that covers a share w of the leaf has ``w (1 - w)`` times this.
    """
    points = np.maximum(counts, 0)
    return points + CLUMPING * points**2


def summed_area(values: Floats) -> Floats:
    """Summed-area table of a grid, as a flat array.

    The grid has shape (rows, columns). The table has a first row and column of zeros.

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
