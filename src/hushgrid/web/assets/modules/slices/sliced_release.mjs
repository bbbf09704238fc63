// A release of slices that answers as one of a whole does: for the slices that are shown, or for others.

import { arraysOf } from "../payload.mjs";
import { bounded, Release } from "../surfaces/release.mjs";

export class SlicedRelease {
  constructor(facts, arrays, axes) {
    const { parts, total, common, alike, free } = facts.slices;
    const release = (part, number) => new Release({ ...facts, ...part }, arraysOf(arrays, `${number}.`));
    Object.assign(this, { facts, axes, alike, parts: parts.map(release) });
    this.common = { ...common, free, floor: facts.floor };
    this.total = total && release(total, parts.length);
  }

  /** Those that are shown; where it is all of them and there is a total, that. */
  get shown() {
    if (this.total && this.axes.isAll) return [this.total];
    return this.axes.members().map((member) => this.parts[member]);
  }

  answerBox(...bounds) {
    return this.answer((release) => release.estimateBox(...bounds));
  }

  answerPolygons(polygons, chosen) {
    return this.answer((release) => release.estimatePolygons(polygons), chosen);
  }

  /** The answer to a question, of the slices that are shown or of another choice. */
  answer(estimate, chosen = this.axes.chosen) {
    const members = this.axes.members(chosen);
    const together = summed(members.map((member) => estimate(this.parts[member])), this.common);
    if (!this.total || members.length < this.parts.length) return bounded(together);
    return bounded(reconciled(estimate(this.total), together, this.alike));
  }

  /** The cell that holds a place, in the first of those that are shown. */
  cellAt(x, y) {
    return this.shown[0].cellAt(x, y);
  }

  areaOf(cell) {
    return this.shown[0].areaOf(cell);
  }

  /** What all that is shown has in that cell. */
  answerCell(cell) {
    const [one, ...others] = this.shown;
    return others.length || one === this.total ? this.answerBox(...one.boundsOf(cell)) : one.answerCell(cell);
  }
}

/**
 * As `summed` in Python has it: noise and what is uneven inside leaves are independent from slice to slice, but for the
 * shares that slices have in common of their errors.
 */
export function summed(parts, common) {
  if (parts.length === 1) return parts[0];
  const [uneven, squares] = [new Variances(), new Variances()];
  let [estimate, noise] = [0, 0];
  for (const part of parts) {
    estimate += part.estimate;
    noise += part.noise;
    uneven.add(Math.max(part.spread - common.floor, 0), common.spread);
    squares.add(part.half ** 2, shareOf(part, common));
  }
  return { estimate, noise, spread: uneven.ofSum + parts.length * common.floor, half: Math.sqrt(squares.ofSum) };
}

/** Share of the variance of one slice's errors that all of them have in common. */
function shareOf(part, common) {
  const variance = part.noise + part.spread;
  if (common.followed === 0) return (common.spread * Math.max(part.spread - common.floor, 0)) / variance;
  return common.followed * Math.max(1 - part.half ** 2 / (common.free ** 2 * variance), 0);
}

/** Variances of the parts of a sum, each with the share of it that they have in common. */
class Variances {
  constructor() {
    Object.assign(this, { alone: 0, alike: 0 });
  }

  add(variance, share) {
    this.alone += (1 - share) * variance;
    this.alike += Math.sqrt(share * variance);
  }

  get ofSum() {
    return this.alone + this.alike ** 2;
  }
}

/** As `reconciled` in Python has it: the total and the sum of slices, each by how narrow its interval is. */
export function reconciled(released, together, alike) {
  const weight = together.half ** 2 / (released.half ** 2 + together.half ** 2);
  const [first, second] = [weight * released.half, (1 - weight) * together.half];
  return {
    estimate: weight * released.estimate + (1 - weight) * together.estimate,
    noise: weight ** 2 * released.noise + (1 - weight) ** 2 * together.noise,
    spread: (weight * Math.sqrt(released.spread) + (1 - weight) * Math.sqrt(together.spread)) ** 2,
    half: Math.sqrt(first ** 2 + second ** 2 + 2 * alike * first * second),
  };
}

/** What a release of one slice estimates for a query, or for all of the map without one. */
export function estimateOf(release, query) {
  if (!query) return release.estimateBox(...release.facts.domain);
  return query.kind === "box" ? release.estimateBox(...query.bounds) : release.estimatePolygons(query.polygons);
}
