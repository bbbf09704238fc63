// The law of the noise in sums of areas: its variance, its fourth cumulant, and how wide that makes an interval.
//
// As in noise_law.py: going up the tree of areas, the estimate of a node from itself and below has the error
// u = w e + (1 - w) U, of its own noise e and of the sum U of its children's u; going down, what a node has beyond its
// children's estimates is shared by them.

import { startsOf } from "./outlines.mjs";

export class TreeNoise {
  /** `children` of every node, breadth first; `own` precision and fourth cumulant of each node's own measurements. */
  constructor(children, own) {
    const nodes = children.length;
    this.own = own;
    this.parents = parentsOf(children);
    this.leaves = leavesOf(children, this.parents);
    const below = new Float64Array(nodes);
    const totals = new Float64Array(nodes); // variances of all children together
    for (let node = nodes - 1; node >= 0; node--) {
      below[node] = 1 / (own[node][0] + (children[node] ? 1 / totals[node] : 0));
      if (node) totals[this.parents[node]] += below[node];
    }
    this.weights = below.map((variance, node) => own[node][0] * variance); // w: of a node's own noise
    this.shares = below.map((variance, node) => (node ? variance / totals[this.parents[node]] : 0)); // of a surplus
  }

  /** Variance and fourth cumulant of a sum over leaves, by number. */
  ofSum(numbers) {
    const { own, parents, shares, weights } = this;
    const last = parents.length - 1;
    const final = new Float64Array(last + 1);
    for (const leaf of numbers) final[this.leaves[leaf]] = 1;
    for (let node = last; node > 0; node--) final[parents[node]] += final[node] * shares[node];
    const subtree = new Float64Array(last + 1);
    let [variance, fourth] = [0, 0];
    for (let node = 0; node <= last; node++) {
      const above = parents[node];
      subtree[node] = node ? final[node] - final[above] + subtree[above] * (1 - weights[above]) : final[0];
      const [precision, cumulant] = own[node];
      const weight = subtree[node] * weights[node];
      if (precision > 0) variance += (weight * weight) / precision;
      fourth += weight ** 4 * cumulant;
    }
    return [variance, fourth];
  }
}

function parentsOf(children) {
  const parents = new Int32Array(children.length).fill(-1);
  let next = 1;
  children.forEach((count, node) => {
    for (let i = 0; i < count; i++) parents[next++] = node;
  });
  return parents;
}

/** The nodes that are leaves, from left to right. */
function leavesOf(children, parents) {
  const sizes = Float64Array.from(children, (count) => (count ? 0 : 1));
  for (let node = children.length - 1; node > 0; node--) sizes[parents[node]] += sizes[node];
  const first = new Float64Array(children.length);
  const firstChildren = startsOf(children);
  const leaves = [];
  for (let node = 0; node < children.length; node++) {
    let place = first[node];
    for (let child = 1 + firstChildren[node]; child < 1 + firstChildren[node + 1]; child++) {
      first[child] = place;
      place += sizes[child];
    }
    if (!children[node]) leaves[first[node]] = node;
  }
  return leaves;
}

/** Half width in standard deviations by excess kurtosis, known for a normal law and for two Laplace noises and one. */
export function reachOfNoise(excess, [normal, both, one]) {
  const place = Math.min(Math.max(excess, 0), 3) / 1.5;
  return normal + place * (both - normal) + ((place * (place - 1)) / 2) * (one - 2 * both + normal);
}
