"""Grids over grids: what hierarchy, HB and quadtree share.

Points are counted once, on the finest grid.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Self

import numpy as np
from numpy.typing import NDArray

from hushgrid.arrays import Indices
from hushgrid.counting.counter import Counter
from hushgrid.geometry.domain import Domain
from hushgrid.geometry.grid import Grid
from hushgrid.geometry.tree import BOTTOM, LEFT, Lattice, Tree, full_tree
from hushgrid.inference.least_squares import measurements_of_nodes
from hushgrid.inference.measurements import Measurements, NoisyValues
from hushgrid.privacy.budget import Budget


def pyramid(domain: Domain, sides: Sequence[int]) -> Tree:
    """Tree of square grids, each finer than the last.

    Its root is the whole domain, its leaves are the cells of the last grid.

    Parameters
    ----------
    sides : sequence of int
        Cells per side of the grids; each is a multiple of the one before.

    Examples
    --------
    >>> pyramid(Domain(west=0, south=0, east=1, north=1), [3, 6]).levels
    array([ 0,  1, 10, 46])
    """
    lattice = Lattice(domain=domain, columns=sides[-1], rows=sides[-1])
    ratios = [fine // coarse for coarse, fine in zip([1, *sides], sides, strict=False)]
    return full_tree(lattice, [(ratio, ratio) for ratio in ratios if ratio > 1])


def grid_sides(side: int, branching: int, levels: int) -> list[int]:
    """Sides of the grids, coarsest first.

    Each is `branching` times the one before, and the last is `side`.

    Examples
    --------
    >>> grid_sides(360, 2, 3)
    [90, 180, 360]
    """
    return [side // branching**above for above in range(levels - 1, -1, -1)]


def nodes_of_pyramid(sides: Sequence[int]) -> int:
    """Number of nodes of the tree of such grids.

    Examples
    --------
    >>> nodes_of_pyramid([3, 6]), nodes_of_pyramid([1, 2])
    (46, 5)
    """
    return sum(side**2 for side in {1, *sides})


def base_grid(tree: Tree) -> Grid:
    """The last grid, which is counted on faster than a tree."""
    return Grid(domain=tree.domain, rows=tree.lattice.rows, columns=tree.lattice.columns)


def base_cells(tree: Tree) -> NDArray[np.int64]:
    """Cell of the base grid of each leaf.

    Examples
    --------
    >>> base_cells(pyramid(Domain(west=0, south=0, east=1, north=1), [2, 4]))[:8]
    array([0, 1, 4, 5, 2, 3, 6, 7])
    """
    boxes = tree.boxes[tree.leaves]
    return np.asarray(boxes[:, BOTTOM] * tree.lattice.columns + boxes[:, LEFT])


def measure_levels(
    budget: Budget, tree: Tree, true_counts: NDArray[np.int64], shares: Sequence[Fraction]
) -> Measurements:
    """Noisy counts of the lowest levels of a tree.

    Parameters
    ----------
    true_counts : array of int, shape (leaves,)
        Exact counts of the leaves, in leaf order.
    shares : sequence of Fraction
        Share of the budget for each level, the leaves' last; levels above these are not measured.

    Privacy
    -------
    (sum of shares · ε)-DP: the nodes of a level are disjoint, so that one record changes one count of each level by
    one, and the levels compose.
    """
    first_leaf, end_leaf = tree.runs
    running = np.concatenate([[0], np.cumsum(true_counts)])
    true_sums = running[end_leaf] - running[first_leaf]
    edges = tree.levels[-1 - len(shares) :]
    parts = [
        budget.measure(true_sums[first:stop], share, purpose=f"level of {stop - first:,} cells")
        for first, stop, share in zip(edges[:-1], edges[1:], shares, strict=True)
    ]
    return measurements_of_nodes(tree, np.arange(edges[0], edges[-1]), NoisyValues.joined(parts))


@dataclass(frozen=True, kw_only=True, eq=False)
class GridSums:
    """True counts of boxes of a grid, from one pass.

    It stands in for a counter where a tree grows on the grid's lines.

    Parameters
    ----------
    lattice : Lattice
        The grid.
    true_sums : array of int, shape (rows + 1, columns + 1)
        Points below and left of each crossing of lines; exact, hence private.
    """

    lattice: Lattice
    true_sums: Indices = field(repr=False)

    @classmethod
    def of(cls, counter: Counter, *, side: int) -> Self:
        """Count on a grid of so many cells a side."""
        true_sums = np.zeros((side + 1, side + 1), np.int64)
        true_counts = counter.count(Grid(domain=counter.domain, rows=side, columns=side))
        true_sums[1:, 1:] = true_counts.reshape(side, side)
        for axis in (0, 1):
            np.cumsum(true_sums, axis=axis, out=true_sums)
        return cls(lattice=Lattice(domain=counter.domain, columns=side, rows=side), true_sums=true_sums)

    def total(self) -> int:
        """True number of points in the domain."""
        return int(self.true_sums[-1, -1])

    def count(self, partition: Tree) -> Indices:
        """True number of points in every leaf."""
        left, bottom, right, top = partition.boxes[partition.leaves].T
        sums = self.true_sums
        return np.asarray(sums[top, right] - sums[top, left] - sums[bottom, right] + sums[bottom, left])
