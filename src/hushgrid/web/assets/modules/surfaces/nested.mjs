// A grid whose cells are divided again, after two-level inference, its leaves flat or sloping. Coordinates are in units
// of first-level cells.

import { blockSum, cellOf, spreadOf, summedArea, visitBlocks } from "./blocks.mjs";
import { WHOLE } from "./region.mjs";
import { Slopes } from "./slopes.mjs";

export class Nested {
  constructor(facts, arrays) {
    Object.assign(this, { columns: facts.columns, rows: facts.rows, clumping: facts.clumping });
    this.sides = Int32Array.from(arrays.sides);
    this.offsets = offsetsOf(this.sides);
    this.counts = arrays.counts.map((units) => units * facts.step);
    this.slopes = arrays.tiltsX && new Slopes(arrays);
    this.size = this.counts.length;
    this.leafVariances = arrays.leafVariance.map((index) => facts.leafVariances[index]);
    this.cellVariances = arrays.cellVariance.map((index) => facts.cellVariances[index]);
    this.countTable = summedArea(totals(this.counts, this.offsets), this.columns, this.rows);
    this.varianceTable = summedArea(this.cellVariances, this.columns, this.rows);
  }

  get cells() {
    return this.size;
  }

  measure(region) {
    const sums = { estimate: 0, noise: 0, spread: 0 };
    visitBlocks(
      region,
      this.columns,
      this.rows,
      (...block) => this.whole(block, sums),
      (part, column, row) => this.cut(part, column, row, sums),
    );
    return sums;
  }

  whole(block, sums) {
    sums.estimate += blockSum(this.countTable, this.columns, ...block);
    sums.noise += blockSum(this.varianceTable, this.columns, ...block);
  }

  /**
   * Add the leaves of a cell that is cut. With weights w on its k leaves, W their sum, the noise has variance
   * V_leaf (sum w**2 - W**2/k) + (W/k)**2 V_cell.
   */
  cut(part, column, row, sums) {
    const cell = row * this.columns + column;
    const side = this.sides[cell];
    let [weights, squares] = [0, 0];
    eachLeaf(part, column, row, side, (place, inside, box) => {
      const leaf = this.offsets[cell] + place;
      const count = this.counts[leaf];
      const weight = inside === WHOLE ? 1 : inside.share(...box);
      const sloped = this.slopes && inside !== WHOLE;
      sums.estimate += count * (sloped ? this.slopes.share(leaf, inside.moments(...box)) : weight);
      sums.spread += weight * (1 - weight) * spreadOf(count, this.clumping);
      weights += weight;
      squares += weight * weight;
    });
    const share = weights / (side * side);
    sums.noise += this.leafVariances[cell] * Math.max(squares - share * weights, 0);
    sums.noise += share * share * this.cellVariances[cell];
    return weights;
  }

  count(leaf) {
    return this.counts[leaf];
  }

  variance(leaf) {
    const cell = this.parent(leaf);
    const leaves = this.sides[cell] ** 2;
    return this.leafVariances[cell] * (1 - 1 / leaves) + this.cellVariances[cell] / (leaves * leaves);
  }

  box(leaf) {
    const cell = this.parent(leaf);
    const [row, column] = [Math.floor(cell / this.columns), cell % this.columns];
    const [side, place] = [this.sides[cell], leaf - this.offsets[cell]];
    const [down, across] = [Math.floor(place / side), place % side];
    return [column + across / side, row + down / side, column + (across + 1) / side, row + (down + 1) / side];
  }

  cellAt(x, y) {
    const [column, row] = [cellOf(x, this.columns), cellOf(y, this.rows)];
    const cell = row * this.columns + column;
    const side = this.sides[cell];
    return this.offsets[cell] + cellOf((y - row) * side, side) * side + cellOf((x - column) * side, side);
  }

  /** First-level cell that a leaf belongs to. */
  parent(leaf) {
    let [low, high] = [0, this.sides.length];
    while (high - low > 1) {
      const middle = (low + high) >> 1;
      if (this.offsets[middle] <= leaf) low = middle;
      else high = middle;
    }
    return low;
  }
}

function offsetsOf(sides) {
  const offsets = new Int32Array(sides.length + 1);
  sides.forEach((side, cell) => (offsets[cell + 1] = offsets[cell] + side * side));
  return offsets;
}

function totals(counts, offsets) {
  return Float64Array.from({ length: offsets.length - 1 }, (_, cell) => {
    let total = 0;
    for (let leaf = offsets[cell]; leaf < offsets[cell + 1]; leaf++) total += counts[leaf];
    return total;
  });
}

/** Call `visit(place, inside, box)` for the leaves of a cell that a region touches: which, the part inside, bounds. */
function eachLeaf(part, column, row, side, visit) {
  for (let down = 0; down < side; down++) {
    const [bottom, top] = [row + down / side, row + (down + 1) / side];
    const strip = part.clip(column, bottom, column + 1, top);
    for (let across = 0; strip !== null && across < side; across++) {
      const [left, right] = [column + across / side, column + (across + 1) / side];
      const box = [left, bottom, right, top];
      const inside = strip === WHOLE ? WHOLE : strip.clip(...box);
      if (inside !== null) visit(down * side + across, inside, box);
    }
  }
}
