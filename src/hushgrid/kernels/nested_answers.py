"""Sums over rectangles on nested grids: whole first-level cells from one summed-area table, the rim from the leaves'.

Each first-level cell has a summed-area table of its leaves, one after the other in a flat array. Only the cells on the
rim of a rectangle are entered.
"""

from hushgrid.arrays import Floats, Indices
from hushgrid.compiled import compiled
from hushgrid.kernels.answers import covered, separable_sum, squared, weight


@compiled
def block_sum(table: Floats, columns: int, left: int, right: int, bottom: int, top: int) -> float:
    """Sum of whole cells, columns `left` to `right` and rows `bottom` to `top`, half-open."""
    if left >= right or bottom >= top:
        return 0.0
    width = columns + 1
    upper = table[top * width + right] - table[top * width + left]
    total: float = upper - (table[bottom * width + right] - table[bottom * width + left])
    return total


@compiled
def next_on_rim(column: int, row: int, right: int, bottom: int, top: int) -> int:
    """Column after `column` among the border cells of a block: inner rows have only their two ends."""
    if row in (bottom, top) or column == right:
        return column + 1
    return right


@compiled
def count_on_nested(
    rects: Floats,
    first: int,
    stop: int,
    west: float,
    south: float,
    columns: int,
    rows: int,
    column_scale: float,
    row_scale: float,
    column_edges: Floats,
    row_edges: Floats,
    sides: Indices,
    column_scales: Floats,
    row_scales: Floats,
    cell_table: Floats,
    leaf_tables: Floats,
    table_starts: Indices,
    out: Floats,
) -> None:
    """Estimated counts: whole first-level cells from their own table, those on the rim from their leaves' tables."""
    for number in range(first, stop):
        low_x, low_y, high_x, high_y = rects[number, 0], rects[number, 1], rects[number, 2], rects[number, 3]
        across = covered(low_x, high_x, west, column_scale, columns)
        along = covered(low_y, high_y, south, row_scale, rows)
        left, right = across[0], min(across[1], columns - 1)
        bottom, top = along[0], min(along[1], rows - 1)
        total = block_sum(cell_table, columns, left + 1, right, bottom + 1, top)
        for row in range(bottom, top + 1):
            column = left
            while column <= right:
                cell = row * columns + column
                side = sides[cell]
                leaf_columns = covered(low_x, high_x, column_edges[column], column_scales[cell], side)
                leaf_rows = covered(low_y, high_y, row_edges[row], row_scales[cell], side)
                total += separable_sum(leaf_tables, table_starts[cell], side, side, leaf_columns, leaf_rows)
                column = next_on_rim(column, row, right, bottom, top)
        out[number] = total


@compiled
def vary_on_nested(
    rects: Floats,
    first: int,
    stop: int,
    west: float,
    south: float,
    columns: int,
    rows: int,
    column_scale: float,
    row_scale: float,
    column_edges: Floats,
    row_edges: Floats,
    sides: Indices,
    column_scales: Floats,
    row_scales: Floats,
    cell_variances: Floats,
    leaf_variances: Floats,
    variance_table: Floats,
    spread_tables: Floats,
    table_starts: Indices,
    noise: Floats,
    spread: Floats,
) -> None:
    """Variances after two-level inference.

    With weights w on the k leaves of a first-level cell, W their sum, the estimate is ``sum (w - W/k) u + (W/k) v'``;
    its two parts are uncorrelated, so its variance is ``V_leaf (sum w**2 - W**2/k) + (W/k)**2 V_cell``.
    """
    for number in range(first, stop):
        low_x, low_y, high_x, high_y = rects[number, 0], rects[number, 1], rects[number, 2], rects[number, 3]
        across = covered(low_x, high_x, west, column_scale, columns)
        along = covered(low_y, high_y, south, row_scale, rows)
        left, right = across[0], min(across[1], columns - 1)
        bottom, top = along[0], min(along[1], rows - 1)
        noise_sum = block_sum(variance_table, columns, left + 1, right, bottom + 1, top)
        spread_sum = 0.0
        for row in range(bottom, top + 1):
            column = left
            while column <= right:
                cell = row * columns + column
                side = sides[cell]
                leaves = side * side
                leaf_columns = covered(low_x, high_x, column_edges[column], column_scales[cell], side)
                leaf_rows = covered(low_y, high_y, row_edges[row], row_scales[cell], side)
                columns_squared, rows_squared = squared(leaf_columns), squared(leaf_rows)
                share = weight(leaf_columns) * weight(leaf_rows) / leaves
                squares = weight(columns_squared) * weight(rows_squared)
                noise_sum += leaf_variances[cell] * max(squares - share * share * leaves, 0.0)
                noise_sum += share * share * cell_variances[cell]
                start = table_starts[cell]
                spread_sum += separable_sum(spread_tables, start, side, side, leaf_columns, leaf_rows)
                spread_sum -= separable_sum(spread_tables, start, side, side, columns_squared, rows_squared)
                column = next_on_rim(column, row, right, bottom, top)
        noise[number] = noise_sum
        spread[number] = max(spread_sum, 0.0)


@compiled
def nested_tables(values: Floats, sides: Indices, offsets: Indices, table_starts: Indices, out: Floats) -> None:
    """Fill one summed-area table for each first-level cell, one after the other in a flat array of zeros."""
    for cell in range(len(sides)):
        side = sides[cell]
        width = side + 1
        for row in range(side):
            running = 0.0
            for column in range(side):
                running += values[offsets[cell] + row * side + column]
                here = table_starts[cell] + (row + 1) * width + column + 1
                out[here] = out[here - width] + running
