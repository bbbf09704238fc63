// A grid of equal cells, measured each by itself or through the wavelet coefficients of all of them.

import { blockSum, cellOf, spreadOf, summedArea, visitBlocks } from "./blocks.mjs";

export class Grid {
  constructor(facts, arrays) {
    Object.assign(this, { columns: facts.columns, rows: facts.rows, padded: facts.padded });
    this.noise = facts.variance;
    this.clumping = facts.clumping;
    this.counts = arrays.counts.map((units) => units * facts.step);
    this.size = this.counts.length;
    this.table = summedArea(this.counts, this.columns, this.rows);
  }

  get cells() {
    return this.size;
  }

  measure(region) {
    const sums = { estimate: 0, noise: 0, spread: 0 };
    const weights = this.padded && new Float64Array(this.padded[0] * this.padded[1]);
    let squares = 0;
    visitBlocks(
      region,
      this.columns,
      this.rows,
      (left, bottom, right, top) => {
        sums.estimate += blockSum(this.table, this.columns, left, bottom, right, top);
        squares += (right - left) * (top - bottom);
        for (let row = bottom; weights && row < top; row++) {
          weights.fill(1, row * this.padded[0] + left, row * this.padded[0] + right);
        }
      },
      (part, column, row) => {
        const count = this.counts[row * this.columns + column];
        const weight = part.share(column, row, column + 1, row + 1);
        sums.estimate += weight * count;
        sums.spread += weight * (1 - weight) * spreadOf(count, this.clumping);
        squares += weight * weight;
        if (weights) weights[row * this.padded[0] + column] = weight;
      },
    );
    sums.noise = this.noise * (weights ? haarEnergy(weights, ...this.padded) : squares);
    return sums;
  }

  count(cell) {
    return this.counts[cell];
  }

  variance() {
    return this.noise * (this.padded ? cellEnergy(this.padded[0]) * cellEnergy(this.padded[1]) : 1);
  }

  box(cell) {
    const [row, column] = [Math.floor(cell / this.columns), cell % this.columns];
    return [column, row, column + 1, row + 1];
  }

  cellAt(x, y) {
    return cellOf(y, this.rows) * this.columns + cellOf(x, this.columns);
  }
}

/** Sum of the squared weights of all Haar coefficients in a sum of cells with these weights. */
function haarEnergy(weights, columns, rows) {
  const line = new Float64Array(Math.max(columns, rows));
  for (let row = 0; row < rows; row++) transform(weights, row * columns, 1, columns, line);
  for (let column = 0; column < columns; column++) transform(weights, column, columns, rows, line);
  return weights.reduce((sum, weight) => sum + weight * weight, 0);
}

/** Replace weights of cells by those of their coefficients: left half minus right half of a block, over its size. */
function transform(values, start, stride, cells, line) {
  for (let i = 0; i < cells; i++) line[i] = values[start + i * stride];
  for (let count = cells; count > 1; count /= 2) {
    const size = (2 * cells) / count;
    for (let i = 0; i < count / 2; i++) {
      const [left, right] = [line[2 * i], line[2 * i + 1]];
      values[start + (count / 2 + i) * stride] = (left - right) / size;
      line[i] = left + right;
    }
  }
  values[start] = line[0] / cells;
}

/** Variance of one restored cell along an axis, for coefficients of variance one. */
function cellEnergy(cells) {
  return (1 + 2 / (cells * cells)) / 3;
}
