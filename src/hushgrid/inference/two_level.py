"""Constrained inference on two levels: what AG does with the counts of a cell and of its leaves."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hushgrid.arrays import Floats


@dataclass(frozen=True, kw_only=True, eq=False)
class TwoLevels:
    """Counts of leaves that add up to those of their cells, and the exact variances of their noise."""

    leaf_counts: Floats
    leaf_variances: Floats


def combined_variances(cell_variances: Floats, leaf_variances: Floats, leaves: NDArray[np.int64]) -> Floats:
    """Variance of each cell's count once its own measurement and the sum of its leaves are averaged."""
    return np.asarray(1 / (1 / cell_variances + 1 / (leaves * leaf_variances)))


def reconcile(
    *,
    cell_values: NDArray[np.int64],
    cell_variances: Floats,
    leaf_values: NDArray[np.int64],
    leaf_variances: Floats,
    offsets: NDArray[np.int64],
) -> TwoLevels:
    """Least-squares estimates of leaves from measurements of the leaves and of the cells they make up.

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
