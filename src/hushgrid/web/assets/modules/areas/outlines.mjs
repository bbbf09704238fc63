// Outlines of areas: runs of polygons, a polygon one of rings, the outer one first; rings are left open.

import { EARTH_RADIUS } from "../surfaces/release.mjs";

const RADIANS = Math.PI / 180;
const PARALLELS = 16; // on which two areas are compared
const SLIVER = 1e-3; // of the shorter span: simplified borders may overlap by as much

export class Outlines {
  /** Those of a level, by its number; areas.py writes them. */
  constructor(arrays, level, decimals) {
    this.xs = coordinates(arrays[`x${level}`], decimals);
    this.ys = coordinates(arrays[`y${level}`], decimals);
    this.ringStarts = startsOf(arrays[`rings${level}`]);
    this.polygonStarts = startsOf(arrays[`polygons${level}`]);
    this.areaStarts = startsOf(arrays[`areas${level}`]);
    this.count = this.areaStarts.length - 1;
    this.extents = Array.from({ length: this.count }, (_, area) => this.extent(area));
  }

  /** First and last ring of an area, half-open. */
  rings(area) {
    return [this.polygonStarts[this.areaStarts[area]], this.polygonStarts[this.areaStarts[area + 1]]];
  }

  /** First and last vertex of an area, half-open. */
  vertices(area) {
    return this.rings(area).map((ring) => this.ringStarts[ring]);
  }

  /** An area as lists of polygons, of rings, of [x, y]. */
  polygons(area) {
    const part = (starts, number, make) => {
      const [first, stop] = [starts[number], starts[number + 1]];
      return Array.from({ length: stop - first }, (_, i) => make(first + i));
    };
    const ring = (number) => part(this.ringStarts, number, (vertex) => [this.xs[vertex], this.ys[vertex]]);
    return part(this.areaStarts, area, (polygon) => part(this.polygonStarts, polygon, ring));
  }

  /** Whether an area holds a place: a ray from it to the east crosses the rings an odd number of times. */
  holds(area, x, y) {
    const [west, south, east, north] = this.extents[area];
    if (!(west <= x && x <= east && south <= y && y <= north)) return false;
    return this.crossings(area, y).filter((crossing) => x < crossing).length % 2 === 1;
  }

  /** Whether two areas overlap by more than a sliver: seen along some parallels through both. */
  overlap(one, other) {
    const [[west, south, east, north], [left, bottom, right, top]] = [this.extents[one], this.extents[other]];
    const [low, high] = [Math.max(south, bottom), Math.min(north, top)];
    if (Math.max(west, left) >= Math.min(east, right) || low >= high) return false;
    for (let i = 0; i < PARALLELS; i++) {
      const y = low + ((i + 0.5) / PARALLELS) * (high - low);
      const [mine, theirs] = [this.spans(one, y), this.spans(other, y)];
      for (const [a, b] of mine) {
        for (const [c, d] of theirs) {
          if (Math.min(b, d) - Math.max(a, c) > SLIVER * Math.min(b - a, d - c)) return true;
        }
      }
    }
    return false;
  }

  /** Where a parallel lies in an area, from x to x. */
  spans(area, y) {
    const crossings = this.crossings(area, y).sort((one, other) => one - other);
    return crossings.flatMap((x, i) => (i % 2 ? [[crossings[i - 1], x]] : []));
  }

  /** Where a parallel crosses the rings of an area. */
  crossings(area, y) {
    const [first, stop] = this.rings(area);
    const found = [];
    for (let ring = first; ring < stop; ring++) {
      const [start, end] = [this.ringStarts[ring], this.ringStarts[ring + 1]];
      for (let i = start, before = end - 1; i < end; before = i++) {
        const [y0, y1] = [this.ys[before], this.ys[i]];
        if (y0 > y === y1 > y) continue;
        found.push(this.xs[before] + ((y - y0) / (y1 - y0)) * (this.xs[i] - this.xs[before]));
      }
    }
    return found;
  }

  /** The first area that holds a place, or -1. */
  at(x, y) {
    for (let area = 0; area < this.count; area++) if (this.holds(area, x, y)) return area;
    return -1;
  }

  /** Ground area: km² on the sphere for degrees, else in squared units. Holes are taken off. */
  ground(area, geographic) {
    let sum = 0;
    for (let polygon = this.areaStarts[area]; polygon < this.areaStarts[area + 1]; polygon++) {
      const [outer, stop] = [this.polygonStarts[polygon], this.polygonStarts[polygon + 1]];
      for (let ring = outer; ring < stop; ring++) {
        const size = Math.abs(this.ringGround(ring, geographic));
        sum += ring === outer ? size : -size;
      }
    }
    return sum;
  }

  /** By Green's theorem, edge by edge; on the sphere an edge is straight in degrees, as borders in files are. */
  ringGround(ring, geographic) {
    const [start, end] = [this.ringStarts[ring], this.ringStarts[ring + 1]];
    let sum = 0;
    for (let i = start, before = end - 1; i < end; before = i++) {
      const across = this.xs[i] - this.xs[before];
      const middle = (this.ys[i] + this.ys[before]) / 2;
      const half = ((this.ys[i] - this.ys[before]) / 2) * RADIANS;
      // The mean of the sine along the edge.
      const height = Math.sin(middle * RADIANS) * (half === 0 ? 1 : Math.sin(half) / half);
      sum += across * (geographic ? height : middle - this.ys[start]);
    }
    return geographic ? EARTH_RADIUS ** 2 * RADIANS * sum : sum;
  }

  extent(area) {
    const [first, stop] = this.vertices(area);
    let [west, south, east, north] = [Infinity, Infinity, -Infinity, -Infinity];
    for (let i = first; i < stop; i++) {
      west = Math.min(west, this.xs[i]);
      east = Math.max(east, this.xs[i]);
      south = Math.min(south, this.ys[i]);
      north = Math.max(north, this.ys[i]);
    }
    return [west, south, east, north];
  }
}

/** Running sums of steps, in units of a power of ten; a quotient gives back decimals as they were. */
function coordinates(steps, decimals) {
  const unit = Number(`1e${Math.abs(decimals)}`);
  let sum = 0;
  return steps.map((step) => (decimals < 0 ? (sum += step) * unit : (sum += step) / unit));
}

export function startsOf(sizes) {
  const starts = new Float64Array(sizes.length + 1);
  for (let i = 0; i < sizes.length; i++) starts[i + 1] = starts[i] + sizes[i];
  return starts;
}
