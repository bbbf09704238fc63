"""A grid whose cells are divided again, each by a grid of its own: the partition of AG."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from hushgrid.errors import ArgumentError
from hushgrid.geometry import cells
from hushgrid.geometry.domain import Domain
from hushgrid.geometry.grid import Grid, check_cells


@dataclass(frozen=True, kw_only=True, eq=False)
class NestedGrid:
    """A first-level grid with each cell divided into ``sides[cell]`` by ``sides[cell]`` leaf cells.

    Leaves are numbered by first-level cell, and row by row inside it, so that every first-level cell is one
    contiguous run of leaves.

    Examples
    --------
    >>> grid = Grid(domain=Domain(west=0, south=0, east=4, north=1), rows=1, columns=2)
    >>> NestedGrid(grid=grid, sides=[1, 2]).bounds()
    array([[0. , 0. , 2. , 1. ],
           [2. , 0. , 3. , 0.5],
           [3. , 0. , 4. , 0.5],
           [2. , 0.5, 3. , 1. ],
           [3. , 0.5, 4. , 1. ]])
    """

    grid: Grid
    sides: NDArray[np.int64]

    def __post_init__(self) -> None:
        sides = np.array(self.sides, dtype=np.int64)
        if sides.shape != (self.grid.cells,) or sides.min() < 1:
            msg = f"a nested grid needs one side of at least 1 for each of its {self.grid.cells} first-level cells."
            raise ArgumentError(msg)
        # As floats first: a hostile file may claim sides whose squares overflow.
        leaves = float(np.sum(sides.astype(np.float64) ** 2))
        check_cells(int(leaves), what=f"Nested grid of {leaves:,.0f} leaf cells")
        sides.flags.writeable = False
        object.__setattr__(self, "sides", sides)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, NestedGrid) and self.grid == other.grid and np.array_equal(self.sides, other.sides)

    __hash__ = None  # type: ignore[assignment]  # compares by the contents of an array

    @property
    def domain(self) -> Domain:
        """The rectangle the leaves tile."""
        return self.grid.domain

    @property
    def cells(self) -> int:
        """Number of leaf cells."""
        return int(self.offsets[-1])

    @cached_property
    def offsets(self) -> NDArray[np.int64]:
        """First leaf of every first-level cell, and the number of leaves, shape (grid.cells + 1,)."""
        return np.concatenate([[0], np.cumsum(self.sides**2)])

    @cached_property
    def column_scales(self) -> NDArray[np.float64]:
        """Leaf columns per unit of longitude or easting inside each first-level cell."""
        column = np.arange(self.grid.cells) % self.grid.columns
        edges = self.grid.column_edges
        return cells.scale(edges[column], edges[column + 1], self.sides)

    @cached_property
    def row_scales(self) -> NDArray[np.float64]:
        """Leaf rows per unit of latitude or northing inside each first-level cell."""
        row = np.arange(self.grid.cells) // self.grid.columns
        edges = self.grid.row_edges
        return cells.scale(edges[row], edges[row + 1], self.sides)

    def bounds(self, first: int = 0, stop: int | None = None) -> NDArray[np.float64]:
        """West, south, east, north of the leaves `first` to `stop`, shape (leaves, 4)."""
        return self.leaf_bounds(np.arange(first, self.cells if stop is None else stop))

    def leaf_bounds(self, leaf: NDArray[np.int64]) -> NDArray[np.float64]:
        """West, south, east, north of the leaves of these numbers, shape (leaves, 4)."""
        parent = np.searchsorted(self.offsets, leaf, side="right") - 1
        side = self.sides[parent]
        row, column = np.divmod(leaf - self.offsets[parent], side)
        parent_row, parent_column = np.divmod(parent, self.grid.columns)
        west, east = self.grid.column_edges[parent_column], self.grid.column_edges[parent_column + 1]
        south, north = self.grid.row_edges[parent_row], self.grid.row_edges[parent_row + 1]
        corners = (
            cells.edge(west, east, side, column),
            cells.edge(south, north, side, row),
            cells.edge(west, east, side, column + 1),
            cells.edge(south, north, side, row + 1),
        )
        return np.stack(corners, axis=1)
