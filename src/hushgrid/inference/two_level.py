"""Two-level inference and slopes inside leaves, for AG."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hushgrid.arrays import Floats, Indices
from hushgrid.geometry.domain import Domain
from hushgrid.geometry.grid import NestedGrid
from hushgrid.inference.splits import fit_coefficients


@dataclass(frozen=True, kw_only=True, eq=False)
class TwoLevels:
    """Leaf counts after two-level inference, with exact noise variances."""

    leaf_counts: Floats
    leaf_variances: Floats


def combined_variances(cell_variances: Floats, leaf_variances: Floats, leaves: NDArray[np.int64]) -> Floats:
    """Variance of each cell's combined count.

    A cell's own measurement and the sum of its leaves are averaged by inverse variance.
    """
    return np.asarray(1 / (1 / cell_variances + 1 / (leaves * leaf_variances)))


def reconcile(
    *,
    cell_values: NDArray[np.int64],
    cell_variances: Floats,
    leaf_values: NDArray[np.int64],
    leaf_variances: Floats,
    offsets: NDArray[np.int64],
) -> TwoLevels:
    """Least-squares counts of leaves on two levels.

    A cell's two measurements, its own v and the sum of its k leaves u, are averaged by inverse variance to v', and
    the difference is spread evenly: ``u' = u + (v' - sum u) / k``. (Qardaji et al. 2013, section IV-B; the division by
    k is missing in print.)

    Parameters
    ----------
    cell_values, cell_variances : arrays, shape (cells,)
        Measurement of each cell, and its variance; infinite where there is none.
    leaf_values : array, shape (leaves,)
        Measurements of the leaves; those of a cell lie from ``offsets[cell]`` to ``offsets[cell + 1]``.
    leaf_variances : array, shape (cells,)
        Variance of each leaf of a cell.

    Examples
    --------
    >>> levels = reconcile(
    ...     cell_values=np.array([10]), cell_variances=np.array([2.0]),
    ...     leaf_values=np.array([1, 2, 3, 0]), leaf_variances=np.array([0.5]), offsets=np.array([0, 4]),
    ... )
    >>> levels.leaf_counts
    array([1.5, 2.5, 3.5, 0.5])
    """
    leaves = np.diff(offsets)
    sums = np.add.reduceat(leaf_values, offsets[:-1]).astype(np.float64)
    sum_variances = leaves * leaf_variances
    cell_weights = sum_variances / (cell_variances + sum_variances)
    corrections = cell_weights * (cell_values - sums) / leaves
    combined = combined_variances(cell_variances, leaf_variances, leaves)
    each_leaf = leaf_variances * (1 - 1 / leaves) + combined / leaves**2
    return TwoLevels(
        leaf_counts=np.asarray(leaf_values + np.repeat(corrections, leaves), np.float64),
        leaf_variances=np.repeat(each_leaf, leaves),
    )


CountsIn = Callable[[Floats], Floats]

SMALLEST_MASS = 1e-9  # in points, of a square whose shares mean something


def nested_slopes(nested: NestedGrid, counts: Floats, leaf_variances: Floats, counts_in: CountsIn) -> Floats:
    """Density slopes inside every leaf, shape (leaves, 2).

    There is one along x and one along y, both from -1 to 1.

    The density at the place (U, V) in a leaf, both from 0 to 1, is the leaf's mean density times
    ``(1 + gx (2 U - 1)) (1 + gy (2 V - 1))``. A slope is ``-2 b F``, F the lean of what lies around the leaf. The
    coefficient b is what predicts, from the lean around squares of four leaves, how these leaves share their points:
    where noise hides that, it is small, and it is zero where there is nothing to learn from. Leaves whose count is not
    positive are flat.

    Parameters
    ----------
    counts, leaf_variances : array, shape (leaves,)
        Estimated counts, and variances of the measurements of the leaves.
    counts_in : callable
        Estimated counts of rectangles, shape (n,), where leaves are flat.
    """
    masses = np.maximum(counts, 0)
    leans = _leans(nested.bounds(), masses, nested.domain, counts_in)
    slopes = np.clip(-2 * _coefficient(nested, counts, leaf_variances, counts_in) * leans, -1, 1)
    slopes[masses == 0] = 0
    return np.asarray(slopes)


def _coefficient(nested: NestedGrid, counts: Floats, leaf_variances: Floats, counts_in: CountsIn) -> float:
    """The coefficient b, by ridge regression toward zero.

    West and south shares of squares are predicted from the leans around them.
    """
    squares = _squares(nested)
    squares = squares[counts[squares].sum(axis=(1, 2)) > SMALLEST_MASS]
    quarters = counts[squares]
    masses = quarters.sum(axis=(1, 2))
    boxes = np.concatenate(
        [nested.leaf_bounds(squares[:, 0, 0])[:, :2], nested.leaf_bounds(squares[:, 1, 1])[:, 2:]], axis=1
    )
    leans = _leans(boxes, masses, nested.domain, counts_in)
    firsts = np.stack([quarters[:, :, 0].sum(axis=1), quarters[:, 0].sum(axis=1)], axis=1)
    # The halves' difference is that of four measurements; what their cell's total corrects is alike on both sides.
    spreads = np.sqrt(leaf_variances[squares[:, 0, 0]]) / masses
    fitted = fit_coefficients(
        np.zeros(1), leans.reshape(-1, 1), (firsts / masses[:, None]).ravel(), np.repeat(spreads, 2)
    )
    return float(fitted[0])


def _squares(nested: NestedGrid) -> Indices:
    """All squares of four leaves, shape (squares, 2, 2).

    The leaves of a square lie in one first-level cell.
    """
    leaves = nested.sides**2
    side = np.repeat(nested.sides, leaves)
    row, column = np.divmod(np.arange(nested.cells) - np.repeat(nested.offsets[:-1], leaves), side)
    first = np.flatnonzero((row + 1 < side) & (column + 1 < side))
    return np.asarray(first[:, None, None] + side[first, None, None] * [[0], [1]] + [0, 1])


def _leans(boxes: Floats, masses: Floats, domain: Domain, counts_in: CountsIn) -> Floats:
    """Lean of what lies around boxes, shape (boxes, 2).

    The first is to the west, the second to the south, both from -1 to 1.

    ``(L - R) / (L + R + 2 D)``: D a box's own mass, L and R those of boxes of its size on either side, where negative
    estimates count as zero. Beyond the domain the box itself counts again.
    """
    leans = np.zeros((len(boxes), 2))
    for axis, (low, high) in enumerate(((domain.west, domain.east), (domain.south, domain.north))):
        extents = boxes[:, axis + 2] - boxes[:, axis]
        sides = []
        for shift in (-extents, extents):
            beside = boxes.copy()
            beside[:, [axis, axis + 2]] += shift[:, None]
            start, end = np.clip(beside[:, [axis, axis + 2]], low, high).T
            sides.append(np.maximum(counts_in(beside), 0) + (1 - (end - start) / extents) * masses)
        before, after = sides
        total = before + after + 2 * masses
        np.divide(before - after, total, out=leans[:, axis], where=total > 0)
    return leans
