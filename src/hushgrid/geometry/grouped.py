"""A nested grid whose undivided cells are put into groups: the partition of DAG."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from hushgrid.arrays import Indices
from hushgrid.errors import ArgumentError
from hushgrid.geometry.domain import Domain
from hushgrid.geometry.nested import NestedGrid

DIVIDED = -1  # in place of a group


@dataclass(frozen=True, kw_only=True, eq=False)
class GroupedGrid:
    """A nested grid, and the group of each first-level cell that is not divided.

    A *block* is a divided cell or a group. Leaves are numbered block by block, so that every block is one contiguous
    run of them; blocks come in the order of their first cells, cells of a group and leaves of a cell row by row.

    Parameters
    ----------
    nested : NestedGrid
    groups : array of int, shape (first-level cells,)
        `DIVIDED` for cells of more than one leaf, else the number of the cell's group.

    Examples
    --------
    >>> from hushgrid.geometry.grid import Grid
    >>> grid = Grid(domain=Domain(west=0, south=0, east=3, north=1), rows=1, columns=3)
    >>> grouped = GroupedGrid(nested=NestedGrid(grid=grid, sides=[1, 2, 1]), groups=[0, -1, 0])
    >>> grouped.offsets, grouped.leaf_order
    (array([0, 2, 6]), array([0, 5, 1, 2, 3, 4]))
    """

    nested: NestedGrid
    groups: Indices

    def __post_init__(self) -> None:
        groups = np.array(self.groups, dtype=np.int64)
        if groups.shape != self.nested.sides.shape or not np.array_equal(groups == DIVIDED, self.nested.sides > 1):
            msg = "a grouped grid needs a group for every first-level cell that is not divided, and for no other."
            raise ArgumentError(msg)
        if np.any(groups < DIVIDED) or np.any(groups >= len(groups)):
            msg = "the groups of a grouped grid are numbered from 0, and are no more than its cells."
            raise ArgumentError(msg)
        groups.flags.writeable = False
        object.__setattr__(self, "groups", groups)

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, GroupedGrid) and self.nested == other.nested and np.array_equal(self.groups, other.groups)
        )

    __hash__ = None  # type: ignore[assignment]  # compares by the contents of an array

    @property
    def domain(self) -> Domain:
        """The rectangle the leaves tile."""
        return self.nested.domain

    @property
    def cells(self) -> int:
        """Number of leaf cells."""
        return self.nested.cells

    @cached_property
    def _first_cells(self) -> Indices:
        """First cell of the block of every first-level cell, shape (first-level cells,)."""
        cells = np.arange(len(self.groups))
        earliest = np.full(len(self.groups), len(self.groups))
        grouped = self.groups != DIVIDED
        np.minimum.at(earliest, self.groups[grouped], cells[grouped])
        return np.where(grouped, earliest[self.groups], cells)

    @cached_property
    def cell_order(self) -> Indices:
        """First-level cells, block by block, shape (first-level cells,)."""
        return np.argsort(self._first_cells, kind="stable")

    @cached_property
    def offsets(self) -> Indices:
        """First leaf of every block, and the number of leaves, shape (blocks + 1,)."""
        sizes = np.bincount(self._first_cells, self.nested.sides**2).astype(np.int64)
        return np.concatenate([[0], np.cumsum(sizes[sizes > 0])])

    @cached_property
    def cell_offsets(self) -> Indices:
        """First leaf of every first-level cell, shape (first-level cells,)."""
        sizes = self.nested.sides[self.cell_order] ** 2
        offsets = np.empty_like(sizes)
        offsets[self.cell_order] = np.cumsum(sizes) - sizes
        return offsets

    @cached_property
    def leaf_order(self) -> Indices:
        """Leaf of the nested grid that each leaf is, shape (leaves,)."""
        moved = (self.nested.offsets[:-1] - self.cell_offsets)[self.cell_order]
        return np.arange(self.cells) + np.repeat(moved, self.nested.sides[self.cell_order] ** 2)

    @cached_property
    def block_groups(self) -> Indices:
        """Group of every block, or `DIVIDED`, shape (blocks,)."""
        return self.groups[np.unique(self._first_cells)]

    def bounds(self, first: int = 0, stop: int | None = None) -> NDArray[np.float64]:
        """West, south, east, north of the leaves `first` to `stop`, shape (leaves, 4)."""
        return self.nested.leaf_bounds(self.leaf_order[first:stop])
