"""A grid of equal cells."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from hushgrid.errors import ArgumentError
from hushgrid.geometry import cells
from hushgrid.geometry.domain import Domain

CELL_LIMIT = 2**26  # cells of any partition; a size asked for beyond it is an error
GUIDELINE_CELL_LIMIT = 2**24  # cells of a partition sized from released values; beyond it the size is clamped


@dataclass(frozen=True, kw_only=True)
class Grid:
    """Equal cells in rows from south to north and columns from west to east, numbered row by row.

    Examples
    --------
    >>> grid = Grid(domain=Domain(west=0, south=0, east=4, north=2), rows=2, columns=2)
    >>> grid.bounds()
    array([[0., 0., 2., 1.],
           [2., 0., 4., 1.],
           [0., 1., 2., 2.],
           [2., 1., 4., 2.]])
    """

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

    @cached_property
    def column_edges(self) -> NDArray[np.float64]:
        """West edges of the columns, and the east edge of the last, shape (columns + 1,)."""
        return cells.edge(self.domain.west, self.domain.east, self.columns, np.arange(self.columns + 1))

    @cached_property
    def row_edges(self) -> NDArray[np.float64]:
        """South edges of the rows, and the north edge of the last, shape (rows + 1,)."""
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
        """West, south, east, north of the cells `first` to `stop`, shape (cells, 4)."""
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
