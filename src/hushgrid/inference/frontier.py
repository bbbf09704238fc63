"""What is known of a quadtree while it grows: as much of it as the next decisions need."""

from dataclasses import astuple, dataclass, replace

import numpy as np
from numpy.typing import NDArray

from hushgrid.arrays import Floats, Indices
from hushgrid.geometry.quadrants import (
    Quadrants,
    cells_of_nodes,
    divide_cells,
    nodes_of_cells,
    pick_cells,
    quadrant_tree,
)
from hushgrid.geometry.tree import Tree
from hushgrid.inference import least_squares as trees
from hushgrid.inference.measurements import Measured
from hushgrid.inference.splits import split_masses


class Frontier:
    """Cells that tile the domain, the live ones among them, and what has been observed of all that lies above.

    A part of the tree in which nothing is live any more is folded into one cell, and all that was measured there into
    one observation of it: for the cells elsewhere that says as much. So the cost of a round is in proportion to the
    cells that live, not to all there have been.

    Parameters
    ----------
    cells : Quadrants
        That tile the domain, all live.
    """

    def __init__(self, cells: Quadrants) -> None:
        self._cells = cells
        self._live = np.ones(cells.cells, bool)
        none = np.empty(0, np.int64)
        self._observations = Observations(none, none, none.astype(np.float64), none.astype(np.float64))

    @property
    def live_cells(self) -> Quadrants:
        """Cells that may be observed and divided."""
        return pick_cells(self._cells, self._live)

    def divide(self, steps: Indices) -> Indices:
        """Replace each live cell by its parts so many levels down, and say which live cell each part lies in."""
        down = np.zeros(self._cells.cells, np.int64)
        down[self._live] = steps
        self._cells, whole = divide_cells(self._cells, down)
        before = np.cumsum(self._live) - 1
        self._live = self._live[whole]
        return np.asarray(before[whole][self._live])

    def observe(self, measured: Measured) -> None:
        """Note what was measured of the live cells."""
        cells = self.live_cells
        self._observations = self._observations.joined(
            Observations(cells.levels, cells.codes, measured.values.astype(np.float64), 1 / measured.variances)
        )

    def keep(self, still: NDArray[np.bool_]) -> None:
        """Let the other live cells rest."""
        self._live[self._live] = still

    def estimates(self) -> Floats:
        """Masses of the live cells by Bayes' rule, from everything observed so far."""
        tree = quadrant_tree(self._cells)
        values, precisions = self._observations.by_node(tree)
        sums, variances = np.empty((2, tree.nodes))
        trees.gather_up(values, precisions, tree.first_children, tree.child_counts, sums, variances)
        masses = split_masses(tree, sums, variances).masses[tree.leaves[self._live]]
        self._fold(tree, (values, precisions), (sums, 1 / variances))
        return masses

    def _fold(self, tree: Tree, own: tuple[Floats, Floats], known: tuple[Floats, Floats]) -> None:
        """Keep the nodes with something live, and their children; the others are whole cells from now on.

        Values and precisions of the nodes come twice: from a node itself, and from itself and below.
        """
        first, stop = tree.runs
        running = np.concatenate([[0], np.cumsum(self._live)])
        live = running[stop] > running[first]
        kept = np.append(True, live[tree.parents[1:]])
        whole = ~live | (tree.child_counts == 0)
        levels, codes = cells_of_nodes(tree)
        values, precisions = (np.where(whole, below, alone)[kept] for alone, below in zip(own, known, strict=True))
        self._observations = Observations(levels[kept], codes[kept], values, precisions)
        leaves = np.flatnonzero(kept & whole)
        leaves = leaves[np.argsort(first[leaves])]
        self._cells = replace(self._cells, levels=levels[leaves], codes=codes[leaves])
        self._live = live[leaves]


@dataclass(frozen=True)
class Observations:
    """Values of quadtree cells with their precisions, zero where nothing was observed; a cell may occur often."""

    levels: Indices
    codes: Indices
    values: Floats
    precisions: Floats

    def joined(self, other: "Observations") -> "Observations":
        """These and others."""
        return Observations(*(np.concatenate(pair) for pair in zip(astuple(self), astuple(other), strict=True)))

    def by_node(self, tree: Tree) -> tuple[Floats, Floats]:
        """Mean of what was observed of each node, by precision, and its precision."""
        nodes = nodes_of_cells(tree, self.levels, self.codes)
        precisions, weighted = (
            np.asarray(np.bincount(nodes, weights, minlength=tree.nodes), np.float64)
            for weights in (self.precisions, self.precisions * self.values)
        )
        return np.divide(weighted, precisions, out=np.zeros(tree.nodes), where=precisions > 0), precisions
