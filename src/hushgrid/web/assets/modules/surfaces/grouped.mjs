// A nested grid whose undivided cells are tied together in groups: these have their noise in common.

import { Nested } from "./nested.mjs";

export class Grouped extends Nested {
  constructor(facts, arrays) {
    super(facts, arrays);
    this.groups = Int32Array.from(arrays.groups);
    this.memberVariances = arrays.memberVariance.map((index) => facts.memberVariances[index]);
    this.groupVariances = arrays.groupVariance.map((index) => facts.groupVariances[index]);
    this.groupSizes = new Float64Array(this.groupVariances.length);
    for (const group of this.groups) if (group >= 0) this.groupSizes[group] += 1;
  }

  measure(region) {
    this.met = new Map();
    const sums = super.measure(region);
    for (const [group, [weights, squares]] of this.met) sums.noise += this.groupNoise(group, weights, squares);
    return sums;
  }

  whole(block, sums) {
    super.whole(block, sums);
    const [left, bottom, right, top] = block;
    for (let row = bottom; row < top; row++) {
      for (let cell = row * this.columns + left; cell < row * this.columns + right; cell++) this.meet(cell, 1);
    }
  }

  cut(part, column, row, sums) {
    const weight = super.cut(part, column, row, sums);
    this.meet(row * this.columns + column, weight);
  }

  variance(leaf) {
    const group = this.groups[this.parent(leaf)];
    return group < 0 ? super.variance(leaf) : this.groupNoise(group, 1, 1);
  }

  meet(cell, weight) {
    const group = this.groups[cell];
    if (group < 0) return;
    const [weights, squares] = this.met.get(group) ?? [0, 0];
    this.met.set(group, [weights + weight, squares + weight * weight]);
  }

  /** As for the leaves of a cell: V_member (sum w**2 - W**2/k) + (W/k)**2 V_group. */
  groupNoise(group, weights, squares) {
    const share = weights / this.groupSizes[group];
    const apart = this.memberVariances[group] * Math.max(squares - share * weights, 0);
    return apart + share * share * this.groupVariances[group];
  }
}
