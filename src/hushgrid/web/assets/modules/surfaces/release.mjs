// A release that answers: what the page and the tests ask.

import { Grid } from "./grid.mjs";
import { Grouped } from "./grouped.mjs";
import { Nested } from "./nested.mjs";
import { coveredBy, Places } from "./placed.mjs";
import { Box, Polygon, ringArea, WHOLE } from "./region.mjs";
import { Tree } from "./tree.mjs";

const SURFACES = { grid: Grid, nested: Nested, grouped: Grouped, tree: Tree };
export const EARTH_RADIUS = 6371.0088; // km, the mean of the ellipsoid

export class Release {
  constructor(facts, arrays) {
    this.facts = facts;
    this.surface = new SURFACES[facts.kind](facts, arrays);
    const [west, south, east, north] = facts.domain;
    this.scale = { x: facts.columns / (east - west), y: facts.rows / (north - south) };
    if (facts.countedPlaces) {
      this.places = new Places(facts.countedPlaces, facts.clumping, (flat) => this.inUnits(flat));
      this.surface.holes = this.places.holesIn(this.surface);
      this.surface.covered = coveredBy(this.surface.holes, this.surface);
    }
  }

  /** Estimate, low and high of a rectangle. */
  answerBox(...bounds) {
    return bounded(this.estimateBox(...bounds));
  }

  /** Estimate, low and high of a polygon: an outline, then its holes, each a list of [x, y]. */
  answerPolygon(rings) {
    return this.answerPolygons([rings]);
  }

  answerPolygons(polygons) {
    return bounded(this.estimatePolygons(polygons));
  }

  /** Estimate, low and high of one cell. */
  answerCell(cell) {
    const box = new Box(...this.surface.box(cell));
    if (this.places) return bounded(this.estimateRegion(box));
    const sums = { estimate: this.surface.count(cell), noise: this.surface.variance(cell), spread: 0 };
    return bounded(this.estimate(sums, this.areaShare(box)));
  }

  estimateBox(west, south, east, north) {
    return this.estimateRegion(new Box(this.toX(west), this.toY(south), this.toX(east), this.toY(north)));
  }

  estimatePolygons(polygons) {
    const flat = polygons.flatMap((rings) => rings.map((ring, hole) => this.turned(ring, hole > 0)));
    return this.estimateRegion(new Polygon(flat));
  }

  estimateRegion(region) {
    const around = this.surface.measure(region);
    if (!this.places) return this.estimate(around, this.areaShare(region));
    const placed = this.places.measure(region);
    const sums = { ...placed, noise: around.noise, estimate: around.estimate + placed.estimate };
    return this.estimate({ ...sums, spread: around.spread + placed.spread }, this.areaShare(region));
  }

  /** A count, its variances by noise and by spread, and half of its interval: as `Estimates` has them. */
  estimate(sums, areaShare) {
    const { factor, floor, allRecords } = this.facts;
    const estimate = factor * sums.estimate;
    const [noise, even] = [factor * factor * sums.noise, factor * factor * sums.spread + floor];
    const missed = this.missedVariance(estimate);
    const known = factor ** 2 * (sums.known ?? 0);
    const half = Math.hypot(
      this.reach(areaShare) * Math.sqrt(noise + even),
      (allRecords?.reach ?? 0) * Math.sqrt(missed),
      (this.places?.reach(known, factor ** 4 * (sums.fourth ?? 0), floor) ?? 0) * Math.sqrt(known),
    );
    return { estimate, noise: noise + known, spread: even + missed, half };
  }

  /** Variance by records that were not kept: as `AllRecords.variances` has it. */
  missedVariance(estimate) {
    if (!this.facts.allRecords) return 0;
    const { total, uneven, regional, regionSizes, totalError } = this.facts.allRecords;
    const inside = Math.min(Math.max(estimate, 0), Math.max(total, 0));
    const elsewhere = 1 - inside / Math.max(total, 1);
    const ofBlocks = regional.map((each, level) => each * Math.min(inside / regionSizes[level], 1));
    const forEach = ofBlocks.reduce((sum, each) => sum + each, uneven);
    return inside * elsewhere * forEach + (totalError * inside) ** 2;
  }

  /** Share of the domain that a region covers. */
  areaShare(region) {
    const domain = [0, 0, this.facts.columns, this.facts.rows];
    const inside = region.clip(...domain);
    if (inside === null) return 0;
    return inside === WHOLE ? 1 : inside.share(...domain);
  }

  /** Standard deviations that the interval of such an area extends to either side. */
  reach(areaShare) {
    const { halvings, reaches } = this.facts;
    const place = Math.log2(areaShare) / 2;
    const above = halvings.findIndex((halving) => place < halving);
    if (above < 0) return reaches[reaches.length - 1];
    if (above === 0) return reaches[0];
    const share = (place - halvings[above - 1]) / (halvings[above] - halvings[above - 1]);
    return reaches[above - 1] + share * (reaches[above] - reaches[above - 1]);
  }

  /** The cell that holds a place, or -1 outside the domain. */
  cellAt(x, y) {
    const [west, south, east, north] = this.facts.domain;
    if (!(west <= x && x <= east && south <= y && y <= north)) return -1;
    return this.surface.cellAt(this.toX(x), this.toY(y));
  }

  /** West, south, east, north of a cell. */
  boundsOf(cell) {
    const [west, south] = this.facts.domain;
    const [left, bottom, right, top] = this.surface.box(cell);
    const { x, y } = this.scale;
    return [west + left / x, south + bottom / y, west + right / x, south + top / y];
  }

  /** Ground area of a cell: km² on the sphere for degrees, else in squared units of the domain. */
  areaOf(cell) {
    return groundArea(this.boundsOf(cell), this.facts.geographic);
  }

  toX(x) {
    return (x - this.facts.domain[0]) * this.scale.x;
  }

  toY(y) {
    return (y - this.facts.domain[1]) * this.scale.y;
  }

  /** A flat list of coordinates in units of the surface. */
  inUnits(flat) {
    return flat.map((value, i) => (i % 2 ? this.toY(value) : this.toX(value)));
  }

  /** A ring in units of the surface, against the clock for outlines and with it for holes. */
  turned(ring, hole) {
    const flat = ring.flatMap(([x, y]) => [this.toX(x), this.toY(y)]);
    if (ringArea(flat, flat[0], flat[1]) > 0 !== hole) return flat;
    return [...ring].reverse().flatMap(([x, y]) => [this.toX(x), this.toY(y)]);
  }
}

/** Estimate, low and high: an interval never goes below zero. */
export function bounded({ estimate, half }) {
  return { estimate, low: Math.max(estimate - half, 0), high: Math.max(estimate + half, 0) };
}

/** Area of a box of degrees on the sphere, in km², or of a box of plain units. */
export function groundArea([west, south, east, north], geographic) {
  if (!geographic) return (east - west) * (north - south);
  const radians = Math.PI / 180;
  const height = Math.sin(north * radians) - Math.sin(south * radians);
  return EARTH_RADIUS ** 2 * (east - west) * radians * height;
}
