// Sums over cells in rows and columns, by halving blocks of them until a region covers a block or misses it.

import { WHOLE } from "./region.mjs";

/**
 * Call `whole(left, bottom, right, top)` for blocks of cells that a region covers, half-open, and
 * `cut(part, column, row)` for cells that it cuts. Coordinates are in units of cells.
 */
export function visitBlocks(region, columns, rows, whole, cut) {
  const visit = (around, left, bottom, right, top) => {
    const part = around.clip(left, bottom, right, top);
    if (part === null) return;
    if (part === WHOLE) {
      whole(left, bottom, right, top);
    } else if (right - left === 1 && top - bottom === 1) {
      cut(part, left, bottom);
    } else if (right - left >= top - bottom) {
      const middle = (left + right) >> 1;
      visit(part, left, bottom, middle, top);
      visit(part, middle, bottom, right, top);
    } else {
      const middle = (bottom + top) >> 1;
      visit(part, left, bottom, right, middle);
      visit(part, left, middle, right, top);
    }
  };
  visit(region, 0, 0, columns, rows);
}

/** Summed-area table of rows of values, with a first row and column of zeros. */
export function summedArea(values, columns, rows) {
  const width = columns + 1;
  const table = new Float64Array(width * (rows + 1));
  for (let row = 0; row < rows; row++) {
    let running = 0;
    for (let column = 0; column < columns; column++) {
      running += values[row * columns + column];
      const here = (row + 1) * width + column + 1;
      table[here] = table[here - width] + running;
    }
  }
  return table;
}

/** Sum of a block of cells, half-open. */
export function blockSum(table, columns, left, bottom, right, top) {
  const width = columns + 1;
  const upper = table[top * width + right] - table[top * width + left];
  return upper - (table[bottom * width + right] - table[bottom * width + left]);
}

/** The cell that holds a position, among so many. */
export function cellOf(position, count) {
  return Math.min(Math.max(Math.floor(position), 0), count - 1);
}

/** Variance scale of the points inside a cell that a region cuts: its count m, and clumps, m + c m**2. */
export function spreadOf(count, clumping) {
  const points = Math.max(count, 0);
  return points + clumping * points * points;
}
