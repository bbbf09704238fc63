"""A tree as steps down, each of which cuts in two or four: what an engine can do with joins."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hushgrid.arrays import Indices
from hushgrid.geometry.tree import RIGHT, TOP, Tree

NO_LINE = 2**31  # beyond every lattice: no column or row reaches it


@dataclass(frozen=True, kw_only=True, eq=False)
class Cuts:
    """One step down, for every place that a point may have come to.

    Parameters
    ----------
    column_lines, row_lines : arrays of int, shape (places,)
        The lines of the lattice that a place is cut at; `NO_LINE` where it is not.
    south_west, south_east, north_west, north_east : arrays of int, shape (places,)
        Places of the next step that points go on to; of the last step, leaves. A point whose column reaches the line
        goes east, one whose row does goes north.
    """

    column_lines: Indices
    row_lines: Indices
    south_west: Indices
    south_east: Indices
    north_west: Indices
    north_east: Indices


def tree_cuts(tree: Tree) -> list[Cuts]:
    """Steps from the root to the leaves: the children of a node are halved along both axes until one is left.

    Examples
    --------
    >>> from hushgrid.geometry.domain import Domain
    >>> from hushgrid.geometry.pyramid import pyramid
    >>> (cuts,) = tree_cuts(pyramid(Domain(west=0, south=0, east=1, north=1), [2]))
    >>> cuts.column_lines, cuts.south_east, cuts.north_west
    (array([1]), array([1]), array([2]))
    """
    steps: list[Cuts] = []
    blocks = _Blocks.of_children(tree, np.array([0]))
    while blocks.divisible.any():
        cuts, blocks = blocks.halved()
        steps.append(cuts)
    return [*steps[:-1], blocks.numbered(steps[-1])] if steps else []


@dataclass(frozen=True, kw_only=True, eq=False)
class _Blocks:
    """Rectangles of children of nodes, by their columns and rows among the children; a leaf is a block of itself."""

    tree: Tree
    nodes: Indices  # whose children; of a leaf, itself
    lows: Indices  # first column and row, shape (blocks, 2)
    highs: Indices  # end of the columns and rows

    @classmethod
    def of_children(cls, tree: Tree, nodes: Indices) -> "_Blocks":
        """All children of nodes."""
        return cls(tree=tree, nodes=nodes, lows=np.zeros((len(nodes), 2), np.int64), highs=tree.splits[nodes])

    @property
    def divisible(self) -> NDArray[np.bool_]:
        """Which blocks hold more than one child, along each axis, shape (blocks, 2)."""
        return self.highs - self.lows > 1

    def halved(self) -> tuple[Cuts, "_Blocks"]:
        """Every block of several children cut in the middle of either axis, and the blocks that come of it."""
        wide, tall = self.divisible.astype(np.int64).T
        middles = (self.lows + self.highs) // 2
        parts = (1 + wide) * (1 + tall)
        first = np.cumsum(parts) - parts
        columns, rows = self._lines(middles)
        cuts = Cuts(
            column_lines=np.where(wide, columns, NO_LINE),
            row_lines=np.where(tall, rows, NO_LINE),
            south_west=first,
            south_east=first + wide,
            north_west=first + tall * (1 + wide),
            north_east=first + tall * (1 + wide) + wide,
        )
        whole = np.repeat(np.arange(len(parts)), parts)
        north, east = np.divmod(np.arange(len(whole)) - first[whole], 1 + wide[whole])
        upper = np.stack([east, north], axis=1) == 1
        lower = ~upper & self.divisible[whole]
        lows = np.where(upper, middles[whole], self.lows[whole])
        highs = np.where(lower, middles[whole], self.highs[whole])
        return cuts, _Blocks(tree=self.tree, nodes=self.nodes[whole], lows=lows, highs=highs).entered()

    def numbered(self, cuts: Cuts) -> Cuts:
        """The cuts that led to these blocks, which are leaves, with the numbers of the leaves in place of theirs."""
        numbers = np.empty(self.tree.nodes, np.int64)
        numbers[self.tree.leaves] = np.arange(self.tree.cells)
        leaves = numbers[self.nodes]
        names = ("south_west", "south_east", "north_west", "north_east")
        ends = {name: leaves[getattr(cuts, name)] for name in names}
        return Cuts(column_lines=cuts.column_lines, row_lines=cuts.row_lines, **ends)

    def _lines(self, middles: Indices) -> tuple[Indices, Indices]:
        """Lines of the lattice before the middle children; where there is no middle, any line."""
        first, columns = self.tree.first_children[self.nodes], self.tree.splits[self.nodes, 0]
        last = self.tree.nodes - 1
        before_column = np.clip(first + middles[:, 0] - 1, 0, last)
        before_row = np.clip(first + (middles[:, 1] - 1) * columns, 0, last)
        return self.tree.boxes[before_column, RIGHT], self.tree.boxes[before_row, TOP]

    def entered(self) -> "_Blocks":
        """The same, with blocks of one child replaced by the children of that child."""
        single = np.flatnonzero((self.highs - self.lows == 1).all(axis=1))
        offsets = self.lows[single, 1] * self.tree.splits[self.nodes[single], 0] + self.lows[single, 0]
        nodes, lows, highs = self.nodes.copy(), self.lows.copy(), self.highs.copy()
        nodes[single] = self.tree.first_children[nodes[single]] + offsets
        lows[single], highs[single] = 0, self.tree.splits[nodes[single]]
        return _Blocks(tree=self.tree, nodes=nodes, lows=lows, highs=highs)
