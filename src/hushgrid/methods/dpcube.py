"""DPCube: a noisy grid, and counts of its uniform parts.

Reference: Xiao, Xiong, Yuan: "Differentially Private Data Release through Multidimensional Partitioning", SDM 2010.
Aliases: the uniformity kd-tree, two-phase partitioning.
"""

from dataclasses import dataclass, field
from typing import ClassVar, Self

import numpy as np

from hushgrid.arrays import Floats
from hushgrid.counting.counter import Counter
from hushgrid.geometry.grid import Grid
from hushgrid.geometry.guidelines import clamp_side, guideline_side
from hushgrid.geometry.tree import Lattice, Tree
from hushgrid.inference.least_squares import measurements_of_nodes
from hushgrid.inference.measurements import NoisyValues
from hushgrid.methods.method import Examples, check_positive, check_side, record
from hushgrid.privacy.budget import Budget
from hushgrid.privacy.exact import Exactable, exact_share
from hushgrid.synopsis.synopsis import Synopsis

Box = tuple[int, int, int, int]  # left, bottom, right, top


@dataclass(frozen=True, kw_only=True, eq=False)
class UniformParts:
    """A tree over the cells of a grid, breadth first.

    Nodes are cut in two down to parts, and parts divided into single cells.

    Parameters
    ----------
    boxes : list of boxes
        Of every node.
    splits : list of pairs
        Columns and rows each node is divided into; 0, 0 for a single cell.
    parts : list of int
        Nodes that are uniform parts; together they tile the grid.
    """

    boxes: list[Box] = field(default_factory=list)
    splits: list[tuple[int, int]] = field(default_factory=list)
    parts: list[int] = field(default_factory=list)


def uniform_parts(counts: Floats, *, noise_variance: float, tolerance: float) -> UniformParts:
    """Cut a grid into parts whose counts look uniform.

    Each cut explains most of how counts vary; a box is cut no further where the rest may well be noise.

    Parameters
    ----------
    counts : array, shape (rows, columns)
        Noisy counts of the cells.
    noise_variance : float
        Of each of them.
    tolerance : float
        A box is uniform if the variance of its counts is at most this many times that of noise and Poisson points.

    Examples
    --------
    >>> counts = np.array([[0.0, 0.0, 0.0, 50.0], [0.0, 0.0, 0.0, 50.0]])
    >>> tree = uniform_parts(counts, noise_variance=1.0, tolerance=2.0)
    >>> [tree.boxes[part] for part in tree.parts]
    [(0, 0, 3, 2), (3, 0, 4, 2)]
    """
    rows, columns = counts.shape
    tables = _padded(counts), _padded(counts**2)
    tree = UniformParts()
    level: list[tuple[Box, bool]] = [((0, 0, columns, rows), True)]  # whether a box may still be cut
    while level:
        below: list[tuple[Box, bool]] = []
        for box, open_ in level:
            left, bottom, right, top = box
            tree.boxes.append(box)
            if open_ and not _is_uniform(box, *tables, noise_variance, tolerance):
                axis, line = _best_cut(box, tables[0])
                tree.splits.append((2, 1) if axis == 0 else (1, 2))
                halves = [(left, bottom, line, top), (line, bottom, right, top)]
                if axis == 1:
                    halves = [(left, bottom, right, line), (left, line, right, top)]
                below += [(half, True) for half in halves]
                continue
            if open_:
                tree.parts.append(len(tree.boxes) - 1)
            single = (right - left) * (top - bottom) == 1
            tree.splits.append((0, 0) if single else (right - left, top - bottom))
            if not single:
                below += [((x, y, x + 1, y + 1), False) for y in range(bottom, top) for x in range(left, right)]
        level = below
    return tree


def _padded(values: Floats) -> Floats:
    return np.pad(values, ((1, 0), (1, 0))).cumsum(axis=0).cumsum(axis=1)


def _sum(table: Floats, box: Box) -> float:
    left, bottom, right, top = box
    return float(table[top, right] - table[top, left] - table[bottom, right] + table[bottom, left])


def _is_uniform(box: Box, sums: Floats, squares: Floats, noise_variance: float, tolerance: float) -> bool:
    left, bottom, right, top = box
    cells = (right - left) * (top - bottom)
    mean = _sum(sums, box) / cells
    variance = _sum(squares, box) / cells - mean**2
    return cells == 1 or variance <= tolerance * (noise_variance + max(mean, 0.0))


def _best_cut(box: Box, sums: Floats) -> tuple[int, int]:
    """Axis and line of the cut that explains most.

    The counts of both halves then vary least around their own means.
    """
    left, bottom, right, top = box
    across = sums[top, left : right + 1] - sums[bottom, left : right + 1]
    along = sums[bottom : top + 1, right] - sums[bottom : top + 1, left]
    gains = [_gains(across - across[0]), _gains(along - along[0])]
    axis = 0 if gains[0].max(initial=-np.inf) >= gains[1].max(initial=-np.inf) else 1
    return axis, (left, bottom)[axis] + 1 + int(np.argmax(gains[axis]))


def _gains(running: Floats) -> Floats:
    """Sum of squares that a cut at each line explains, up to a factor."""
    lines, last = np.arange(1, len(running) - 1), len(running) - 1
    return np.asarray(last * (running[1:-1] ** 2 / lines + (running[-1] - running[1:-1]) ** 2 / (last - lines)))


@dataclass(frozen=True, kw_only=True)
class DPCube:
    """A grid measured by cells, then by uniform parts.

    Parts are cut on the noisy grid.

    Parameters
    ----------
    side : int, optional
        Cells per side of the grid; by default Guideline 1's.
    cell_share : float, or anything exact
        Share of the budget for the cells; the paper takes half.
    tolerance : float
        A part is cut while the variance of its cells is above this multiple of noise and Poisson points.
        The paper leaves its threshold to the user; this one needs none in the unit of the data.
    c : float
        Constant of Guideline 1.

    Privacy
    -------
    The cells are disjoint: one measurement. The parts are a function of released cells, and disjoint: another one,
    counted from the data. The shares sum to what the size has left of ε.
    """

    name: ClassVar[str] = "dpcube"
    title: ClassVar[str] = "DPCube"
    gist: ClassVar[str] = "parts of a fine grid that look alike are joined, and counted again"
    examples: ClassVar[Examples] = Examples(small={"side": 4}, large={"side": 30})
    side: int | None = None
    cell_share: Exactable = 0.5
    tolerance: float = 2.0
    c: float = 10.0  # Qardaji et al. 2013, Guideline 1

    def __post_init__(self) -> None:
        check_side(self.side, name="side")
        exact_share(self.cell_share, name="cell_share")
        check_positive(self.tolerance, name="tolerance")
        check_positive(self.c, name="c")

    @classmethod
    def paper(cls) -> Self:
        """The paper's two halves of the budget, which are the default.

        The paper leaves grid and threshold to the user; both are ours.
        """
        return cls(cell_share=0.5)

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
        own = NoisyValues(values=cells.values[order], rates=cells.rates, rate_index=cells.rate_index)
        return Synopsis.infer(
            tree,
            # The cells last: they are the leaves' own, also where a leaf is a part by itself.
            measurements_of_nodes(tree, np.concatenate([which, tree.leaves]), NoisyValues.joined([measured, own])),
            inference="least-squares",
            claim=budget.claim(),
            method=record(self, *notes),
        )

    def _guideline(self, counter: Counter, budget: Budget) -> tuple[int, tuple[str, ...]]:
        wanted = guideline_side(budget.noisy_size(counter), budget.epsilon, c=self.c)
        return clamp_side(wanted, most_cells=budget.most_cells())
