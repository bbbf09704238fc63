"""From the points of a frame to the cells of a partition: one entry for each kind of partition."""

from collections.abc import Callable, Mapping
from typing import Any, Literal

import narwhals as nw
import numpy as np

from hushgrid.arrays import Indices
from hushgrid.counting.engine.cell_of_point import LATITUDE, LONGITUDE, cell, place
from hushgrid.counting.engine.engine import Engine, Frame
from hushgrid.counting.engine.tree_cuts import tree_cuts
from hushgrid.geometry.grid import Grid, GroupedGrid, NestedGrid
from hushgrid.geometry.partition import Partition
from hushgrid.geometry.quadrants import DEEPEST, Quadrants, gather_bits
from hushgrid.geometry.tree import Tree

CELL = "cell"


def _grid_cells(engine: Engine, points: Frame, grid: Grid) -> Frame:
    column, row = place(engine, grid.domain, columns=grid.columns, rows=grid.rows)
    return points.select((row * grid.columns + column).alias(CELL))


def _nested_grid_cells(engine: Engine, points: Frame, nested: NestedGrid) -> Frame:
    return _leaf_cells(engine, points, nested, nested.offsets[:-1])


def _grouped_grid_cells(engine: Engine, points: Frame, grouped: GroupedGrid) -> Frame:
    return _leaf_cells(engine, points, grouped.nested, grouped.cell_offsets)


def _leaf_cells(engine: Engine, points: Frame, nested: NestedGrid, offsets: Indices) -> Frame:
    """Joins the points with the first-level cells, which bring the factors of their leaves along, bit for bit."""
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
    across, along = place(engine, grid.domain, columns=grid.columns, rows=grid.rows)
    side = nw.col("side")
    leaf_column = cell(nw.col(LONGITUDE), nw.col("west"), nw.col("column_scale"), side)
    leaf_row = cell(nw.col(LATITUDE), nw.col("south"), nw.col("row_scale"), side)
    return (
        points.with_columns(parent=along * grid.columns + across)
        .join(first_level, on="parent", how="inner")
        .select((nw.col("first_leaf") + leaf_row * side + leaf_column).alias(CELL))
    )


def _quadrant_cells(engine: Engine, points: Frame, quadrants: Quadrants) -> Frame:
    """Joins the points with the cells of each level, by what shifting leaves of the finest column and row.

    These are the two halves of the point's Morton code, before its bits are interleaved.
    """
    column, row = place(engine, quadrants.domain, columns=1 << DEEPEST, rows=1 << DEEPEST)
    placed = points.select(column.alias("column"), row.alias("row"))
    found = []
    for level in map(int, np.unique(quadrants.levels)):
        of_level = np.flatnonzero(quadrants.levels == level)
        codes = quadrants.codes[of_level]
        name, number = f"place_{level}", f"cell_{level}"
        cells = engine.table({name: (gather_bits(codes >> 1) << level) + gather_bits(codes), number: of_level})
        size = 1 << (DEEPEST - level)
        placed = placed.with_columns(((nw.col("row") // size) * (1 << level) + nw.col("column") // size).alias(name))
        placed = _joined(placed, cells, on=name, how="left")
        found.append(nw.col(number))
    return placed.select(nw.coalesce(*found).alias(CELL)).filter(~nw.col(CELL).is_null())


def _tree_cells(engine: Engine, points: Frame, tree: Tree) -> Frame:
    """Takes the points down the tree, one join for each step."""
    column, row = place(engine, tree.domain, columns=tree.lattice.columns, rows=tree.lattice.rows)
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
}


def cell_numbers(engine: Engine, points: Frame, partition: Partition) -> Frame:
    """A frame of one column, `cell`: the cell that each point lies in. Points in none of the cells are left out.

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
