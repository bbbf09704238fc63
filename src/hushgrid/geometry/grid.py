"""Grids: uniform (UG), nested (AG) and grouped (DAG)."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from hushgrid.arrays import Indices
from hushgrid.errors import ArgumentError
from hushgrid.geometry import cells
from hushgrid.geometry.domain import Domain
from hushgrid.geometry.partition import Layout, same_structure

CELL_LIMIT = 2**26  # cells of any partition; a size asked for beyond it is an error
GUIDELINE_CELL_LIMIT = 2**24  # cells of a partition sized from released values, unless a method or request has another


@dataclass(frozen=True, kw_only=True)
class Grid:
    """Equal cells in rows and columns.

    Rows go from south to north, columns from west to east; cells are numbered row by row.

    Examples
    --------
    >>> grid = Grid(domain=Domain(west=0, south=0, east=4, north=2), rows=2, columns=2)
    >>> grid.bounds()
    array([[0., 0., 2., 1.],
           [2., 0., 4., 1.],
           [0., 1., 2., 2.],
           [2., 1., 4., 2.]])
    """

    kind: ClassVar[str] = "grid"
    tiles: ClassVar[bool] = True
    names: ClassVar[tuple[str, ...]] = ()
    layout_types: ClassVar[Mapping[str, type[np.generic]]] = {}
    layout: ClassVar[Layout] = {}
    domain: Domain
    rows: int
    columns: int

    def __post_init__(self) -> None:
        if self.rows < 1 or self.columns < 1:
            msg = f"a grid has at least one row and one column, got rows={self.rows}, columns={self.columns}."
            raise ArgumentError(msg)
        check_cells(self.rows * self.columns, what=f"Grid of {self.rows} by {self.columns} cells")

    @property
    def cells(self) -> int:
        """Number of cells."""
        return self.rows * self.columns

    @property
    def shape(self) -> dict[str, int]:
        """Rows, columns and cells."""
        return {"rows": self.rows, "columns": self.columns, "cells": self.cells}

    @classmethod
    def from_layout(cls, domain: Domain, shape: Mapping[str, Any], _layout: Layout) -> Self:
        """The grid of these rows and columns."""
        return cls(domain=domain, rows=shape["rows"], columns=shape["columns"])

    @property
    def details(self) -> dict[str, Any]:
        """Rows and columns."""
        return {"rows": self.rows, "columns": self.columns}

    @property
    def words(self) -> str:
        """Its shape in words."""
        return f"grid {self.columns} x {self.rows}, {self.cells:,} cells"

    @cached_property
    def column_edges(self) -> NDArray[np.float64]:
        """Edges of the columns, west to east, shape (columns + 1,)."""
        return cells.edge(self.domain.west, self.domain.east, self.columns, np.arange(self.columns + 1))

    @cached_property
    def row_edges(self) -> NDArray[np.float64]:
        """Edges of the rows, south to north, shape (rows + 1,)."""
        return cells.edge(self.domain.south, self.domain.north, self.rows, np.arange(self.rows + 1))

    @property
    def column_scale(self) -> float:
        """Columns per unit of longitude or easting."""
        return float(cells.scale(self.domain.west, self.domain.east, self.columns))

    @property
    def row_scale(self) -> float:
        """Rows per unit of latitude or northing."""
        return float(cells.scale(self.domain.south, self.domain.north, self.rows))

    def bounds(self, first: int = 0, stop: int | None = None) -> NDArray[np.float64]:
        """Bounds of cells `first` to `stop`, shape (cells, 4)."""
        row, column = np.divmod(np.arange(first, self.cells if stop is None else stop), self.columns)
        corners = (
            self.column_edges[column],
            self.row_edges[row],
            self.column_edges[column + 1],
            self.row_edges[row + 1],
        )
        return np.stack(corners, axis=1)


def check_cells(count: int, *, what: str) -> None:
    """Refuse a partition that would not fit in memory."""
    if count > CELL_LIMIT:
        msg = f"{what} is over the limit of {CELL_LIMIT:,}. Pass a smaller size, or lower epsilon."
        raise ArgumentError(msg)


@dataclass(frozen=True, kw_only=True, eq=False)
class NestedGrid:
    """A grid whose cells are divided into leaf cells.

    A first-level cell holds ``sides[cell]`` by ``sides[cell]`` of them.

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

    kind: ClassVar[str] = "nested-grid"
    tiles: ClassVar[bool] = True
    names: ClassVar[tuple[str, ...]] = ()
    layout_types: ClassVar[Mapping[str, type[np.generic]]] = {"side": np.int64}
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

    __eq__ = same_structure
    __hash__ = None  # type: ignore[assignment]  # compares by the contents of an array

    @property
    def domain(self) -> Domain:
        """The rectangle the leaves tile."""
        return self.grid.domain

    @property
    def cells(self) -> int:
        """Number of leaf cells."""
        return int(self.offsets[-1])

    @property
    def shape(self) -> dict[str, int]:
        """Rows and columns of the first level; leaves."""
        return {**self.grid.shape, "cells": self.cells}

    @property
    def layout(self) -> Layout:
        """The side of each first-level cell."""
        return {"side": self.sides}

    @classmethod
    def from_layout(cls, domain: Domain, shape: Mapping[str, Any], layout: Layout) -> Self:
        """The nested grid of these rows, columns and sides."""
        return cls(grid=Grid.from_layout(domain, shape, {}), sides=layout["side"])

    @property
    def details(self) -> dict[str, Any]:
        """Smallest and largest side; rows and columns."""
        return {
            "smallest_side": int(self.sides.min()),
            "largest_side": int(self.sides.max()),
            **self.grid.details,
        }

    @property
    def words(self) -> str:
        """Its shape in words."""
        grid, least, most = self.grid, self.sides.min(), self.sides.max()
        parts = f"{least} x {least}" if least == most else f"{least} x {least} to {most} x {most}"
        return f"grid {grid.columns} x {grid.rows}, each cell divided into {parts}, {self.cells:,} leaf cells"

    @cached_property
    def offsets(self) -> NDArray[np.int64]:
        """First leaf of each first-level cell, and the end.

        Shape (grid.cells + 1,).
        """
        return np.concatenate([[0], np.cumsum(self.sides**2)])

    @cached_property
    def column_scales(self) -> NDArray[np.float64]:
        """Leaf columns per unit of easting, by first-level cell."""
        column = np.arange(self.grid.cells) % self.grid.columns
        edges = self.grid.column_edges
        return cells.scale(edges[column], edges[column + 1], self.sides)

    @cached_property
    def row_scales(self) -> NDArray[np.float64]:
        """Leaf rows per unit of northing, by first-level cell."""
        row = np.arange(self.grid.cells) // self.grid.columns
        edges = self.grid.row_edges
        return cells.scale(edges[row], edges[row + 1], self.sides)

    def bounds(self, first: int = 0, stop: int | None = None) -> NDArray[np.float64]:
        """Bounds of leaves `first` to `stop`, shape (leaves, 4)."""
        return self.leaf_bounds(np.arange(first, self.cells if stop is None else stop))

    def leaf_bounds(self, leaf: NDArray[np.int64]) -> NDArray[np.float64]:
        """Bounds of the leaves of these numbers, shape (leaves, 4)."""
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


DIVIDED = -1  # in place of a group


@dataclass(frozen=True, kw_only=True, eq=False)
class GroupedGrid:
    """A nested grid whose undivided cells are grouped.

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

    kind: ClassVar[str] = "grouped-grid"
    tiles: ClassVar[bool] = True
    names: ClassVar[tuple[str, ...]] = ()
    layout_types: ClassVar[Mapping[str, type[np.generic]]] = {"side": np.int64, "group": np.int64}
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

    __eq__ = same_structure
    __hash__ = None  # type: ignore[assignment]  # compares by the contents of an array

    @property
    def domain(self) -> Domain:
        """The rectangle the leaves tile."""
        return self.nested.domain

    @property
    def cells(self) -> int:
        """Number of leaf cells."""
        return self.nested.cells

    @property
    def shape(self) -> dict[str, int]:
        """Rows and columns of the first level; leaves."""
        return self.nested.shape

    @property
    def layout(self) -> Layout:
        """The side and the group of each first-level cell."""
        return {"side": self.nested.sides, "group": self.groups}

    @classmethod
    def from_layout(cls, domain: Domain, shape: Mapping[str, Any], layout: Layout) -> Self:
        """The grouped grid of these rows, columns, sides and groups."""
        return cls(nested=NestedGrid.from_layout(domain, shape, layout), groups=layout["group"])

    @property
    def details(self) -> dict[str, Any]:
        """Number of groups; details of the nested grid."""
        return {"groups": int(self.groups.max()) + 1, **self.nested.details}

    @property
    def words(self) -> str:
        """Its shape in words."""
        groups = int(self.groups.max()) + 1
        return f"{self.nested.words}, those not divided in {groups:,} {'group' if groups == 1 else 'groups'}"

    @cached_property
    def _first_cells(self) -> Indices:
        """First cell of the block of each first-level cell."""
        cells = np.arange(len(self.groups))
        earliest = np.full(len(self.groups), len(self.groups))
        grouped = self.groups != DIVIDED
        np.minimum.at(earliest, self.groups[grouped], cells[grouped])
        return np.where(grouped, earliest[self.groups], cells)

    @cached_property
    def cell_order(self) -> Indices:
        """First-level cells, block by block."""
        return np.argsort(self._first_cells, kind="stable")

    @cached_property
    def offsets(self) -> Indices:
        """First leaf of each block, and the end, shape (blocks + 1,)."""
        sizes = np.bincount(self._first_cells, self.nested.sides**2).astype(np.int64)
        return np.concatenate([[0], np.cumsum(sizes[sizes > 0])])

    @cached_property
    def cell_offsets(self) -> Indices:
        """First leaf of each first-level cell."""
        sizes = self.nested.sides[self.cell_order] ** 2
        offsets = np.empty_like(sizes)
        offsets[self.cell_order] = np.cumsum(sizes) - sizes
        return offsets

    @cached_property
    def leaf_order(self) -> Indices:
        """Number of each leaf in the nested grid."""
        moved = (self.nested.offsets[:-1] - self.cell_offsets)[self.cell_order]
        return np.arange(self.cells) + np.repeat(moved, self.nested.sides[self.cell_order] ** 2)

    @cached_property
    def block_groups(self) -> Indices:
        """Group of every block, or `DIVIDED`, shape (blocks,)."""
        return self.groups[np.unique(self._first_cells)]

    def bounds(self, first: int = 0, stop: int | None = None) -> NDArray[np.float64]:
        """Bounds of leaves `first` to `stop`, shape (leaves, 4)."""
        return self.nested.leaf_bounds(self.leaf_order[first:stop])
