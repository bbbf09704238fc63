"""DPCube: a noisy grid, a kd partition that looks uniform on it, and a second count of every part.

Reference: Xiao, Xiong, Yuan: "Differentially Private Data Release through Multidimensional Partitioning", SDM 2010.
Aliases: the uniformity kd-tree, two-phase partitioning.
"""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from hushgrid.counting.counter import Counter
from hushgrid.geometry.grid import Grid
from hushgrid.geometry.guidelines import clamp_side, guideline_side
from hushgrid.geometry.tree import Lattice, Tree
from hushgrid.inference.least_squares import measurements_of_nodes
from hushgrid.inference.measurements import Measured
from hushgrid.inference.uniformity import uniform_parts
from hushgrid.methods.method import check_positive, check_side, record
from hushgrid.privacy.budget import Budget
from hushgrid.privacy.exact import Exactable, exact_share
from hushgrid.synopsis.synopsis import Synopsis


@dataclass(frozen=True, kw_only=True)
class DPCube:
    """A grid measured cell by cell, and once more part by part, where parts are cut on the noisy grid.

    Parameters
    ----------
    side : int, optional
        Cells per side of the grid; by default Guideline 1's.
    cell_share : float, or anything exact
        Share of the budget for the cells; the paper takes half.
    tolerance : float
        A part is cut while the counts of its cells vary more than so many times what noise and Poisson points explain.
        The paper leaves its threshold to the user; this one needs none in the unit of the data.
    c : float
        Constant of Guideline 1.

    Privacy
    -------
    The cells are disjoint: one measurement. The parts are a function of released cells, and disjoint: another one,
    counted from the data. The shares sum to what the size has left of ε.
    """

    name: ClassVar[str] = "dpcube"
    passes: ClassVar[int] = 1
    side: int | None = None
    cell_share: Exactable = 0.5
    tolerance: float = 2.0
    c: float = 10.0  # Qardaji et al. 2013, Guideline 1

    def __post_init__(self) -> None:
        check_side(self.side, name="side")
        exact_share(self.cell_share, name="cell_share")
        check_positive(self.tolerance, name="tolerance")
        check_positive(self.c, name="c")

    def release(self, counter: Counter, budget: Budget) -> Synopsis:
        """Publish a grid and its uniform parts."""
        side, notes = (self.side, ()) if self.side else self._guideline(counter, budget)
        share = exact_share(self.cell_share, name="cell_share")
        true_cells = counter.count(Grid(domain=counter.domain, rows=side, columns=side))
        cells = budget.measure(true_cells, share, purpose="cells")
        parts = uniform_parts(
            cells.values.reshape(side, side).astype(np.float64),
            noise_variance=float(cells.variances[0]),
            tolerance=self.tolerance,
        )
        lattice = Lattice(domain=counter.domain, columns=side, rows=side)
        tree = Tree(lattice=lattice, boxes=np.array(parts.boxes), splits=np.array(parts.splits))
        left, bottom = tree.boxes[tree.leaves].T[:2]
        order = bottom * side + left  # the cell that each leaf is
        first, stop = tree.runs
        running = np.concatenate([[0], np.cumsum(true_cells[order])])
        which = np.array(parts.parts)
        measured = budget.measure(running[stop[which]] - running[first[which]], 1 - share, purpose="parts")
        own = Measured(values=cells.values[order], rates=cells.rates, rate_index=cells.rate_index)
        return Synopsis.infer(
            tree,
            # The cells last: they are the leaves' own, also where a leaf is a part by itself.
            measurements_of_nodes(tree, np.concatenate([which, tree.leaves]), Measured.joined([measured, own])),
            inference="least-squares",
            claim=budget.claim(),
            method=record(self, *notes),
        )

    def _guideline(self, counter: Counter, budget: Budget) -> tuple[int, tuple[str, ...]]:
        return clamp_side(guideline_side(budget.noisy_size(counter), budget.epsilon, c=self.c))
