// A tree of boxes after least squares, its leaves flat or sloping. Coordinates are in units of the tree's lattice.

import { spreadOf } from "./blocks.mjs";
import { freeShares } from "./placed.mjs";
import { WHOLE } from "./region.mjs";
import { Slopes } from "./slopes.mjs";
import { boxesOf, countsOf, finalVariances, firstChildrenOf, variancesBelow } from "./tree_nodes.mjs";

export class Tree {
  constructor(facts, arrays) {
    Object.assign(this, { columns: facts.columns, rows: facts.rows, clumping: facts.clumping });
    this.dividedFurther = facts.dividedFurther ?? false; // by a public prior, below what was measured
    this.splits = { columns: Int32Array.from(arrays.splitColumns), rows: Int32Array.from(arrays.splitRows) };
    this.first = firstChildrenOf(this.splits);
    this.size = this.first.length;
    this.cells = arrays.counts.length;
    this.boxes = boxesOf(this.splits, this.first, arrays, this);
    this.counts = countsOf(this.splits, this.first, arrays.counts, facts.step);
    this.leaves = leafNumbers(this.splits);
    this.slopes = arrays.tiltsX && new Slopes(arrays);
    const precisions = arrays.precision.map((index) => facts.precisions[index]);
    this.below = variancesBelow(this.splits, this.first, precisions);
    this.variances = finalVariances(this.splits, this.first, this.below);
    this.holes = new Map(); // leaves that places cut
    this.covered = new Set(); // nodes all of whose leaves they cover
  }

  /**
   * Leaves weigh their covered share w. Going up, the children c of a node have the mean weight m = sum s_c w_c, s the
   * shares of a surplus they take; beyond m times the node's count they add variance sum V_c (w_c - m)**2.
   */
  measure(region) {
    const sums = { estimate: 0, noise: 0, spread: 0 };
    const part = region.clip(...this.box(0));
    const weight = this.weigh(0, part, sums);
    if (this.below.variances[0] < Infinity) sums.noise += this.below.variances[0] * weight * weight;
    return sums;
  }

  /** Add what a part of a node counts, and give the node's mean weight. */
  weigh(node, part, sums) {
    if (part === null || this.covered.has(node)) return 0;
    if (part === WHOLE) {
      sums.estimate += this.counts[node];
      return 1;
    }
    return this.splits.columns[node] === 0 ? this.cutLeaf(node, part, sums) : this.cutNode(node, part, sums);
  }

  cutLeaf(node, part, sums) {
    const hole = this.holes.get(node);
    const { area, mass } = hole ? freeShares(this, node, part, hole) : this.sharesOf(node, part);
    sums.estimate += this.counts[node] * mass;
    if (!this.isBelowMeasured(node)) sums.spread += this.spreadOfPart(node, area);
    return area;
  }

  /** Shares of a leaf's area and of its points that a part of it has. */
  sharesOf(node, part) {
    const box = this.box(node);
    const area = part.share(...box);
    return { area, mass: this.slopes ? this.slopes.share(this.leaves[node], part.moments(...box)) : area };
  }

  cutNode(node, part, sums) {
    const { variances, known, unknown } = this.below;
    let [mean, linear, square] = [0, 0, 0];
    this.eachChild(node, part, (child, inside) => {
      const weight = this.weigh(child, inside, sums);
      const variance = variances[child];
      if (unknown[node] === 0) mean += (weight * variance) / known[node];
      else if (variance === Infinity) mean += weight / unknown[node];
      if (variance < Infinity) {
        linear += variance * weight;
        square += variance * weight * weight;
      }
    });
    sums.noise += Math.max(square - 2 * mean * linear + mean * mean * known[node], 0);
    const isMeasuredLeaf = this.isBelowMeasured(this.first[node]) && !this.isBelowMeasured(node);
    if (isMeasuredLeaf) sums.spread += this.spreadOfPart(node, mean);
    return mean;
  }

  /** Whether a node is part of a leaf that was measured as a whole: how points lie in the leaf is uncertain as a whole. */
  isBelowMeasured(node) {
    return this.dividedFurther && this.below.variances[node] === Infinity;
  }

  spreadOfPart(node, weight) {
    return weight * (1 - weight) * spreadOf(this.counts[node], this.clumping);
  }

  /** Call `visit(child, part)` for the children that a part of a node touches. */
  eachChild(node, part, visit) {
    const { boxes, first } = this;
    const [columns, rows] = [this.splits.columns[node], this.splits.rows[node]];
    const start = first[node];
    const west = this.firstBeyond(start, 1, columns, 2, part.left);
    for (let row = this.firstBeyond(start, columns, rows, 3, part.bottom); row < rows; row++) {
      const [bottom, top] = [boxes[4 * (start + row * columns) + 1], boxes[4 * (start + row * columns) + 3]];
      if (bottom >= part.top) break;
      const strip = part.clip(boxes[4 * node], bottom, boxes[4 * node + 2], top);
      for (let child = start + row * columns + west; strip !== null && child < start + (row + 1) * columns; child++) {
        if (boxes[4 * child] >= part.right) break;
        visit(child, strip === WHOLE ? WHOLE : strip.clip(...this.box(child)));
      }
    }
  }

  /** First of `count` nodes, a stride apart, whose edge on a side lies beyond a line. */
  firstBeyond(start, stride, count, side, line) {
    let [low, high] = [0, count];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.boxes[4 * (start + middle * stride) + side] > line) high = middle;
      else low = middle + 1;
    }
    return low;
  }

  count(node) {
    return this.counts[node];
  }

  variance(node) {
    return this.variances[node];
  }

  box(node) {
    const { boxes } = this;
    return [boxes[4 * node], boxes[4 * node + 1], boxes[4 * node + 2], boxes[4 * node + 3]];
  }

  cellAt(x, y) {
    let node = 0;
    while (this.splits.columns[node] > 0) {
      const [columns, rows] = [this.splits.columns[node], this.splits.rows[node]];
      const column = Math.min(this.firstBeyond(this.first[node], 1, columns, 2, x), columns - 1);
      const row = Math.min(this.firstBeyond(this.first[node], columns, rows, 3, y), rows - 1);
      node = this.first[node] + row * columns + column;
    }
    return node;
  }
}

/** Number of every node among the leaves; -1 for inner nodes. */
function leafNumbers(splits) {
  let leaves = 0;
  return splits.columns.map((columns) => (columns > 0 ? -1 : leaves++));
}
