"""Finds the cell of a point in any engine.

By expressions and joins that narwhals translates. They give the cell that `hushgrid.geometry.cells` gives, in float64,
bit for bit. They are also total: no value of a row can make an engine raise an error, not even one whose arithmetic
checks for overflow and underflow, as PostgreSQL's does.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from hushgrid.arrays import Indices
from hushgrid.counting.engine.engine import LATITUDE, LONGITUDE, Engine, Frame
from hushgrid.counting.quadtree import Refinement
from hushgrid.geometry import cells
from hushgrid.geometry.domain import Domain
from hushgrid.geometry.grid import Grid, GroupedGrid, NestedGrid
from hushgrid.geometry.partition import Partition
from hushgrid.geometry.quadrants import DEEPEST, Quadrants, gather_bits, scatter_bits
from hushgrid.geometry.tree import RIGHT, TOP, Tree


def cell_expression(coordinate: nw.Expr, low: nw.Expr, scale: nw.Expr, count: int | nw.Expr) -> nw.Expr:
    """Index of the cell that holds a coordinate.

    The coordinate lies in the domain, the index in 0 to ``count - 1``.

    A distance below half a cell is made half a cell. It lies in the first cell either way, because product and floor
    never fall as the distance grows, and the product with the scale can no longer underflow to zero. Nor can anything
    overflow: the distance is at most the extent of the domain, the product about `count`.
    """
    half_a_cell = 0.5 / scale
    distance = (coordinate - low).clip(lower_bound=half_a_cell)
    return (distance * scale).floor().cast(nw.Int64).clip(upper_bound=count - 1)


def place_expressions(engine: Engine, domain: Domain, *, columns: int, rows: int) -> tuple[nw.Expr, nw.Expr]:
    """Column and row of a point on a grid.

    The grid covers the whole domain.
    """
    west, south, east, north = domain.bounds
    column_scale, row_scale = float(cells.scale(west, east, columns)), float(cells.scale(south, north, rows))
    return (
        cell_expression(nw.col(LONGITUDE), engine.number(west), engine.number(column_scale), columns),
        cell_expression(nw.col(LATITUDE), engine.number(south), engine.number(row_scale), rows),
    )


def inside(engine: Engine, domain: Domain, longitude: nw.Expr, latitude: nw.Expr) -> nw.Expr:
    """Whether a point lies in the domain.

    Edges belong to it; NaN does not, wherever an engine sorts it. Any double is compared and subtracted from itself
    without an error.
    """
    west, south, east, north = map(engine.number, domain.bounds)
    # DuckDB drops a comparison, or a test for NaN, that holds by the statistics of a Parquet file: they leave NaN out.
    zero = engine.number(0.0)
    is_number = (longitude - longitude == zero) & (latitude - latitude == zero)
    return is_number & (longitude >= west) & (longitude <= east) & (latitude >= south) & (latitude <= north)


NO_LINE = 2**31  # beyond every lattice: no column or row reaches it


@dataclass(frozen=True, kw_only=True, eq=False)
class Cuts:
    """One step down the tree, from every place.

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
    """Steps from the root to the leaves.

    The children of a node are halved along both axes until one is left.

    Examples
    --------
    >>> from hushgrid.geometry.domain import Domain
    >>> from hushgrid.methods.pyramids import pyramid
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
    """Rectangles of children of nodes.

    Given by their columns and rows among the children; a leaf is a block of itself.
    """

    tree: Tree
    nodes: Indices  # parents of the children; a leaf is its own
    lows: Indices  # first column and row, shape (blocks, 2)
    highs: Indices  # end of the columns and rows

    @classmethod
    def of_children(cls, tree: Tree, nodes: Indices) -> "_Blocks":
        """Blocks of all children of nodes."""
        return cls(tree=tree, nodes=nodes, lows=np.zeros((len(nodes), 2), np.int64), highs=tree.splits[nodes])

    @property
    def divisible(self) -> NDArray[np.bool_]:
        """Which blocks hold several children, shape (blocks, 2).

        Along each axis.
        """
        return self.highs - self.lows > 1

    def halved(self) -> tuple[Cuts, "_Blocks"]:
        """Cut blocks of several children in the middle.

        Along either axis. Gives the cuts, and the blocks that come of them.
        """
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
        """Let the cuts lead to numbers of leaves.

        These are the cuts that led to these blocks, all of them leaves.
        """
        numbers = np.empty(self.tree.nodes, np.int64)
        numbers[self.tree.leaves] = np.arange(self.tree.cells)
        leaves = numbers[self.nodes]
        names = ("south_west", "south_east", "north_west", "north_east")
        ends = {name: leaves[getattr(cuts, name)] for name in names}
        return Cuts(column_lines=cuts.column_lines, row_lines=cuts.row_lines, **ends)

    def _lines(self, middles: Indices) -> tuple[Indices, Indices]:
        """Lines of the lattice before the middle children.

        Where there is no middle, any line.
        """
        first, columns = self.tree.first_children[self.nodes], self.tree.splits[self.nodes, 0]
        last = self.tree.nodes - 1
        before_column = np.clip(first + middles[:, 0] - 1, 0, last)
        before_row = np.clip(first + (middles[:, 1] - 1) * columns, 0, last)
        return self.tree.boxes[before_column, RIGHT], self.tree.boxes[before_row, TOP]

    def entered(self) -> "_Blocks":
        """Replace blocks of one child by its children."""
        single = np.flatnonzero((self.highs - self.lows == 1).all(axis=1))
        offsets = self.lows[single, 1] * self.tree.splits[self.nodes[single], 0] + self.lows[single, 0]
        nodes, lows, highs = self.nodes.copy(), self.lows.copy(), self.highs.copy()
        nodes[single] = self.tree.first_children[nodes[single]] + offsets
        lows[single], highs[single] = 0, self.tree.splits[nodes[single]]
        return _Blocks(tree=self.tree, nodes=nodes, lows=lows, highs=highs)


CELL = "cell"
SIDE = 1 << DEEPEST  # of the finest lattice of quadtree cells


def _grid_cells(engine: Engine, points: Frame, grid: Grid) -> Frame:
    column, row = place_expressions(engine, grid.domain, columns=grid.columns, rows=grid.rows)
    return points.select((row * grid.columns + column).alias(CELL))


def _nested_grid_cells(engine: Engine, points: Frame, nested: NestedGrid) -> Frame:
    return _leaf_cells(engine, points, nested, nested.offsets[:-1])


def _grouped_grid_cells(engine: Engine, points: Frame, grouped: GroupedGrid) -> Frame:
    return _leaf_cells(engine, points, grouped.nested, grouped.cell_offsets)


def _leaf_cells(engine: Engine, points: Frame, nested: NestedGrid, offsets: Indices) -> Frame:
    """Joins points with the first-level cells.

    These bring the factors of their leaves along, bit for bit.
    """
    grid = nested.grid
    row, column = np.divmod(np.arange(grid.cells), grid.columns)
    first_level = engine.table(
        {
            "parent": np.arange(grid.cells),
            "west": grid.column_edges[column],
            "south": grid.row_edges[row],
            "column_scale": nested.column_scales,
            "row_scale": nested.row_scales,
            "side": nested.sides,
            "first_leaf": offsets,
        }
    )
    across, along = place_expressions(engine, grid.domain, columns=grid.columns, rows=grid.rows)
    side = nw.col("side")
    leaf_column = cell_expression(nw.col(LONGITUDE), nw.col("west"), nw.col("column_scale"), side)
    leaf_row = cell_expression(nw.col(LATITUDE), nw.col("south"), nw.col("row_scale"), side)
    return (
        points.with_columns(parent=along * grid.columns + across)
        .join(first_level, on="parent", how="inner")
        .select((nw.col("first_leaf") + leaf_row * side + leaf_column).alias(CELL))
    )


def _quadrant_cells(engine: Engine, points: Frame, quadrants: Quadrants) -> Frame:
    """Joins points with the cells of each level.

    By what shifting leaves of the finest column and row: the two halves of the point's Morton code, before its bits are
    interleaved.
    """
    placed = _on_finest_lattice(engine, points, quadrants.domain)
    found = []
    for level in map(int, np.unique(quadrants.levels)):
        of_level = np.flatnonzero(quadrants.levels == level)
        name, number = f"place_{level}", f"cell_{level}"
        cells = engine.table({name: _places(quadrants.codes[of_level], level), number: of_level})
        placed = placed.with_columns(_place_at(level).alias(name))
        placed = _joined(placed, cells, on=name, how="left")
        found.append(nw.col(number))
    return placed.select(nw.coalesce(*found).alias(CELL)).filter(~nw.col(CELL).is_null())


def _on_finest_lattice(engine: Engine, points: Frame, domain: Domain) -> Frame:
    column, row = place_expressions(engine, domain, columns=SIDE, rows=SIDE)
    return points.select(column.alias("column"), row.alias("row"))


def _places(codes: Indices, level: int) -> Indices:
    """Quadtree cells of a level, numbered row by row."""
    return (gather_bits(codes >> 1) << level) + gather_bits(codes)


def _place_at(level: int) -> nw.Expr:
    """The quadtree cell of a finest column and row."""
    size = 1 << (DEEPEST - level)
    return (nw.col("row") // size) * (1 << level) + nw.col("column") // size


def _part_corners(engine: Engine, points: Frame, refinement: Refinement) -> Frame:
    """Finds the south-western finest cell of each part.

    By a join with the cells that are in parts, or by none if that is the whole domain. Bits are interleaved here, in
    `numbers_of`: in SQL that would take dozens of steps a point.
    """
    if refinement.level == 0:
        level = int(refinement.steps[0])
        column, row = place_expressions(engine, refinement.domain, columns=1 << level, rows=1 << level)
        size = 1 << (DEEPEST - level)
        return points.select(((row * SIDE + column) * size).alias(CELL))
    placed = _on_finest_lattice(engine, points, refinement.domain)
    sizes = 1 << (DEEPEST - refinement.level - refinement.steps)
    cells = engine.table({"place": _places(refinement.codes, refinement.level), "part_size": sizes})
    placed = _joined(placed.with_columns(_place_at(refinement.level).alias("place")), cells, on="place", how="inner")
    part_size = nw.col("part_size")
    corner = (nw.col("row") // part_size * SIDE + nw.col("column") // part_size) * part_size
    return placed.select(corner.alias(CELL))


def _tree_cells(engine: Engine, points: Frame, tree: Tree) -> Frame:
    """Takes points down the tree, one join a step."""
    column, row = place_expressions(engine, tree.domain, columns=tree.lattice.columns, rows=tree.lattice.rows)
    placed = points.select(column.alias("column"), row.alias("row"), nw.lit(0, nw.Int64).alias(CELL))
    for cuts in tree_cuts(tree):
        table = engine.table({CELL: np.arange(len(cuts.column_lines)), **vars(cuts)})
        north = nw.col("row") >= nw.col("row_lines")
        west = nw.when(north).then(nw.col("north_west")).otherwise(nw.col("south_west"))
        east = nw.when(north).then(nw.col("north_east")).otherwise(nw.col("south_east"))
        onward = nw.when(nw.col("column") >= nw.col("column_lines")).then(east).otherwise(west)
        placed = _joined(placed, table, on=CELL, how="inner").select("column", "row", onward.alias(CELL))
    return placed.select(CELL)


def _joined(points: Frame, table: Frame, *, on: str, how: Literal["inner", "left"]) -> Frame:
    # Selecting all twice changes nothing, but keeps Ibis from merging this join with the next, which it gets wrong.
    return points.join(table, on=on, how=how).select(nw.all()).select(nw.all())


KINDS: Mapping[type, Callable[[Engine, Frame, Any], Frame]] = {
    Grid: _grid_cells,
    NestedGrid: _nested_grid_cells,
    GroupedGrid: _grouped_grid_cells,
    Tree: _tree_cells,
    Quadrants: _quadrant_cells,
    Refinement: _part_corners,
}


def cell_keys(engine: Engine, points: Frame, partition: Partition | Refinement) -> Frame:
    """The cell of each point, in a column `cell`.

    Points in none of the cells are left out. What is in the column are whole numbers that `numbers_of` understands.

    Parameters
    ----------
    points : Frame
        Longitudes and latitudes in the domain, and no others.
    """
    for kind, query in KINDS.items():
        if isinstance(partition, kind):
            return query(engine, points, partition)
    msg = f"points can be counted on {', '.join(kind.__name__ for kind in KINDS)}; got a {type(partition).__name__}."
    raise TypeError(msg)


def numbers_of(keys: Indices, partition: Partition | Refinement) -> Indices:
    """Numbers of the cells that an engine has keys of."""
    if isinstance(partition, Refinement):
        return partition.parts_at(scatter_bits(keys // SIDE) << 1 | scatter_bits(keys % SIDE))
    return keys
