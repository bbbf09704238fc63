"""Quadtree cells that grow, and what was observed of them.

All of it is released values: it says what is known so far of the cells that a method may still divide.
"""

from dataclasses import dataclass, fields

import numpy as np
from numpy.typing import NDArray

from hushgrid.arrays import Floats, Indices
from hushgrid.geometry.quadrants import QuadrantNodes, Quadrants, divide_cells, join_cells, pick_cells
from hushgrid.geometry.tree import Tree
from hushgrid.inference import least_squares as trees
from hushgrid.inference.least_squares import measurements_of_nodes
from hushgrid.inference.measurements import Measurements, NoisyValues
from hushgrid.inference.splits import split_masses


class Frontier:
    """Cells that tile the domain, and what was observed.

    Some cells are live: they may still be observed and divided.

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
        self._picked: Quadrants | None = cells
        none = np.empty(0, np.int64)
        self._observations = Observations(none, none, none.astype(np.float64), none.astype(np.float64))

    @property
    def live_cells(self) -> Quadrants:
        """Cells that may be observed and divided."""
        if self._picked is None:
            self._picked = pick_cells(self._cells, self._live)
        return self._picked

    def divide(self, steps: Indices) -> Indices:
        """Replace live cells by parts, and say whose they are.

        Each part lies as many levels below its live cell as `steps` says.
        """
        down = np.zeros(self._cells.cells, np.int64)
        down[self._live] = steps
        self._cells, whole = divide_cells(self._cells, down)
        before = np.cumsum(self._live) - 1
        self._live = self._live[whole]
        self._picked = None
        return np.asarray(before[whole][self._live])

    def observe(self, measured: NoisyValues) -> None:
        """Note what was measured of the live cells."""
        cells = self.live_cells
        self._observations = self._observations.joined(
            Observations(cells.levels, cells.codes, measured.values.astype(np.float64), 1 / measured.variances)
        )

    def keep(self, still: NDArray[np.bool_]) -> None:
        """Let the other live cells rest."""
        self._live[self._live] = still
        self._picked = None

    def estimates(self) -> Floats:
        """Masses of the live cells by Bayes' rule."""
        tree = QuadrantNodes(self._cells)
        values, precisions = self._observations.by_node(tree)
        sums, variances = np.empty((2, tree.nodes))
        trees.gather_up(values, precisions, tree.first_children, tree.child_counts, sums, variances)
        masses = split_masses(tree, sums, variances).masses[tree.leaves[self._live]]
        self._fold(tree, (values, precisions), (sums, 1 / variances))
        return masses

    def _fold(self, tree: QuadrantNodes, own: tuple[Floats, Floats], known: tuple[Floats, Floats]) -> None:
        """Make one cell of each node without live cells.

        Values and precisions of the nodes come twice: from a node itself, and from itself and below.
        """
        first, stop = tree.runs
        running = np.concatenate([[0], np.cumsum(self._live)])
        live = running[stop] > running[first]
        kept = np.append(True, live[tree.parents[1:]])
        whole = ~live | (tree.child_counts == 0)
        values, precisions = (np.where(whole, below, alone)[kept] for alone, below in zip(own, known, strict=True))
        self._observations = Observations(tree.depths[kept], tree.codes[kept], values, precisions)
        leaves = np.flatnonzero(kept & whole)
        leaves = leaves[np.argsort(first[leaves])]
        self._cells = self._cells.others(tree.depths[leaves], tree.codes[leaves])
        self._live = live[leaves]


@dataclass(frozen=True)
class Observations:
    """Observed values of quadtree cells, with precisions.

    A precision is zero where nothing was observed. A cell may occur several times.
    """

    levels: Indices
    codes: Indices
    values: Floats
    precisions: Floats

    def joined(self, other: "Observations") -> "Observations":
        """These and others."""
        return Observations(*(np.concatenate([getattr(self, name), getattr(other, name)]) for name in OBSERVED))

    def by_node(self, tree: QuadrantNodes) -> tuple[Floats, Floats]:
        """Mean of each node's values, and its precision."""
        nodes = tree.find(self.levels, self.codes)
        precisions, weighted = (
            np.asarray(np.bincount(nodes, weights, minlength=tree.nodes), np.float64)
            for weights in (self.precisions, self.precisions * self.values)
        )
        return np.divide(weighted, precisions, out=np.zeros(tree.nodes), where=precisions > 0), precisions


OBSERVED = [field.name for field in fields(Observations)]


class Survey:
    """All cells, and all that was measured of them.

    Some cells have budget left, the others have ended. It holds released values alone.
    """

    def __init__(self, cells: Quadrants) -> None:
        self.frontier = Frontier(cells)
        self._ended: list[Quadrants] = []
        self._cells: list[Quadrants] = []
        self._measured: list[NoisyValues] = []

    @property
    def live_cells(self) -> Quadrants:
        """Cells with budget left."""
        return self.frontier.live_cells

    @property
    def cells(self) -> int:
        """Number of cells, with and without."""
        return self.live_cells.cells + sum(ended.cells for ended in self._ended)

    def divide(self, steps: Indices) -> Indices:
        """Replace live cells by parts, as `Frontier.divide` does."""
        return self.frontier.divide(steps)

    def add(self, measured: NoisyValues) -> None:
        """Note what was measured of the live cells."""
        self._cells.append(self.live_cells)
        self._measured.append(measured)
        self.frontier.observe(measured)

    def keep(self, still: NDArray[np.bool_]) -> None:
        """Let the other live cells stay as they are."""
        self._ended.append(pick_cells(self.live_cells, ~still))
        self.frontier.keep(still)

    def result(self) -> tuple[Tree, Measurements]:
        """The tree of the ended cells, and its measurements."""
        ended = join_cells(self._ended)
        nodes = QuadrantNodes(ended)
        tree = nodes.tree(ended.domain)
        levels, codes = (
            np.concatenate([getattr(cells, name) for cells in self._cells]) for name in ("levels", "codes")
        )
        return tree, measurements_of_nodes(tree, nodes.find(levels, codes), NoisyValues.joined(self._measured))
