// Places that were counted by themselves, and the cells around them. Places are made of convex pieces.

import { spreadOf } from "./blocks.mjs";
import { NEARLY_ALL, Polygon, ringArea, WHOLE } from "./region.mjs";

const LEAST_FREE = 1e-6; // of a cell: less is rounding, and the places cover all of it

export class Places {
  /** `figures` are those of the page, and `toRing` brings a flat list of coordinates into units of the surface. */
  constructor(figures, clumping, toRing) {
    Object.assign(this, figures, { clumping });
    this.pieces = figures.pieces.map(([place, ...flat]) => ({ place, polygon: new Polygon([toRing(flat)]) }));
    this.sizes = new Float64Array(this.values.length);
    for (const { place, polygon } of this.pieces) this.sizes[place] += areaOf(polygon);
  }

  /** Count, spread, and the second and fourth cumulants of the noise in what a region covers of the places. */
  measure(region) {
    const covered = new Float64Array(this.sizes.length);
    for (const { place, polygon } of this.pieces) {
      const common = commonPart(region, polygon);
      if (common !== null) covered[place] += areaOf(common);
    }
    const sums = { estimate: 0, spread: 0, known: 0, fourth: 0 };
    covered.forEach((area, place) => {
      if (area === 0) return;
      const share = area >= NEARLY_ALL * this.sizes[place] ? 1 : area / this.sizes[place];
      sums.estimate += share * this.values[place];
      sums.spread += share * (1 - share) * spreadOf(this.values[place], this.clumping);
      sums.known += share ** 2 * this.variance;
      sums.fourth += share ** 4 * this.fourthCumulant;
    });
    return sums;
  }

  /** Standard deviations that an interval extends for noise of these cumulants: as `reach_of_noise` has it. */
  reach(known, fourth, floor) {
    const [normal, both, one] = this.reaches;
    const place = Math.min(Math.max(fourth / Math.max(known, floor) ** 2, 0), 3) / 1.5;
    return normal + place * (both - normal) + ((place * (place - 1)) / 2) * (one - 2 * both + normal);
  }

  /** Leaves of a tree that places cut: what lies in places, and the shares of area and points that do not. */
  holesIn(tree) {
    const holes = new Map();
    const add = (node, part) => {
      if (part === null) return;
      if (tree.splits.columns[node] > 0) {
        const inside = part === WHOLE ? new Polygon([ringOfBox(...tree.box(node))]) : part;
        tree.eachChild(node, inside, add);
        return;
      }
      const hole = holes.get(node) ?? { pieces: [], area: 1, mass: 1 };
      hole.pieces.push(part === WHOLE ? new Polygon([ringOfBox(...tree.box(node))]) : part);
      holes.set(node, hole);
    };
    for (const { polygon } of this.pieces) add(0, polygon.clip(...tree.box(0)));
    for (const [node, hole] of holes) {
      for (const piece of hole.pieces) {
        const { area, mass } = tree.sharesOf(node, piece);
        hole.area -= area;
        hole.mass -= mass;
      }
      if (hole.area <= LEAST_FREE) hole.area = hole.mass = 0;
    }
    return holes;
  }
}

/** Nodes all of whose leaves are covered by places. */
export function coveredBy(holes, tree) {
  const covered = new Set([...holes].filter(([, hole]) => hole.area === 0).map(([node]) => node));
  for (let node = tree.size - 1; covered.size && node >= 0; node--) {
    const children = tree.splits.columns[node] * tree.splits.rows[node];
    let inside = 0;
    for (let child = tree.first[node]; child < tree.first[node] + children; child++) inside += covered.has(child);
    if (children > 0 && inside === children) covered.add(node);
  }
  return covered;
}

/** What a part of a leaf covers of that which places leave free, by area and by points. */
export function freeShares(tree, node, part, hole) {
  const shares = tree.sharesOf(node, part);
  for (const piece of hole.pieces) {
    const common = commonPart(part, piece);
    if (common === null) continue;
    const { area, mass } = tree.sharesOf(node, common);
    shares.area -= area;
    shares.mass -= mass;
  }
  return { area: ofFree(shares.area, hole.area), mass: ofFree(shares.mass, hole.mass) };
}

function ofFree(share, free) {
  return free > 0 ? Math.min(Math.max(share, 0) / free, 1) : 0;
}

/** The part of a region inside a convex piece, null if there is none. */
function commonPart(region, piece) {
  if (region.right <= piece.left || piece.right <= region.left) return null;
  if (region.top <= piece.bottom || piece.top <= region.bottom) return null;
  let rings = region.rings ?? [ringOfBox(region.left, region.bottom, region.right, region.top)];
  const [edges] = piece.rings;
  for (let i = 0, before = edges.length - 2; i < edges.length; before = i, i += 2) {
    const line = [edges[before], edges[before + 1], edges[i], edges[i + 1]];
    rings = rings.map((ring) => leftOf(ring, ...line)).filter((ring) => ring.length > 4);
  }
  return rings.length ? new Polygon(rings) : null;
}

/** The part of a ring to the left of a line (Sutherland and Hodgman 1974). */
function leftOf(ring, x0, y0, x1, y1) {
  const kept = [];
  const side = (i) => (x1 - x0) * (ring[i + 1] - y0) - (y1 - y0) * (ring[i] - x0);
  let before = ring.length - 2;
  let from = side(before);
  for (let here = 0; here < ring.length; here += 2) {
    const to = side(here);
    if ((from > 0 && to < 0) || (from < 0 && to > 0)) {
      const share = from / (from - to);
      kept.push(ring[before] + share * (ring[here] - ring[before]));
      kept.push(ring[before + 1] + share * (ring[here + 1] - ring[before + 1]));
    }
    if (to >= 0) kept.push(ring[here], ring[here + 1]);
    [before, from] = [here, to];
  }
  return kept;
}

function ringOfBox(left, bottom, right, top) {
  return [left, bottom, right, bottom, right, top, left, top];
}

function areaOf({ rings }) {
  return rings.reduce((sum, ring) => sum + ringArea(ring, ring[0], ring[1]), 0);
}
