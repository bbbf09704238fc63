// Rectangles and polygons that are asked about, clipped to smaller and smaller boxes.
//
// `clip` gives null where a region leaves a box alone, WHOLE where it covers it, else the part inside. `moments` are
// the integrals of 1, U, V and U V over a region inside a box, U and V from 0 to 1 across the box.

export const WHOLE = Symbol("all of the box");

export const NEARLY_ALL = 1 - 1e-12; // of a box: what clipping a polygon rounds away

export class Box {
  constructor(left, bottom, right, top) {
    Object.assign(this, { left, bottom, right, top });
  }

  clip(left, bottom, right, top) {
    const inside = new Box(
      Math.max(this.left, left),
      Math.max(this.bottom, bottom),
      Math.min(this.right, right),
      Math.min(this.top, top),
    );
    if (!(inside.left < inside.right && inside.bottom < inside.top)) return null;
    const whole = inside.left === left && inside.right === right && inside.bottom === bottom && inside.top === top;
    return whole ? WHOLE : inside;
  }

  share(left, bottom, right, top) {
    return ((this.right - this.left) / (right - left)) * ((this.top - this.bottom) / (top - bottom));
  }

  moments(left, bottom, right, top) {
    const [low, high] = [(this.left - left) / (right - left), (this.right - left) / (right - left)];
    const [below, above] = [(this.bottom - bottom) / (top - bottom), (this.top - bottom) / (top - bottom)];
    const [across, along] = [high - low, above - below];
    const [x, y] = [(across * (high + low)) / 2, (along * (above + below)) / 2];
    return { area: across * along, x: x * along, y: across * y, xy: x * y };
  }
}

/** A polygon: rings of x, y, x, y, ..., outlines against the clock and holes with it. */
export class Polygon {
  constructor(rings) {
    this.rings = rings;
    [this.left, this.bottom, this.right, this.top] = extent(rings);
  }

  clip(left, bottom, right, top) {
    if (this.right <= left || right <= this.left || this.top <= bottom || top <= this.bottom) return null;
    const rings = this.rings.map((ring) => clipRing(ring, left, bottom, right, top)).filter((ring) => ring.length > 4);
    const area = rings.reduce((sum, ring) => sum + ringArea(ring, left, bottom), 0);
    if (!(area > 0)) return null;
    return area >= NEARLY_ALL * (right - left) * (top - bottom) ? WHOLE : new Polygon(rings);
  }

  share(left, bottom, right, top) {
    const area = this.rings.reduce((sum, ring) => sum + ringArea(ring, left, bottom), 0);
    return area / ((right - left) * (top - bottom));
  }

  /** By Green's theorem: each edge adds the integral over the triangle it makes with the corner of the box. */
  moments(left, bottom, right, top) {
    const sums = { area: 0, x: 0, y: 0, xy: 0 };
    for (const ring of this.rings) {
      let u0 = (ring[ring.length - 2] - left) / (right - left);
      let v0 = (ring[ring.length - 1] - bottom) / (top - bottom);
      for (let i = 0; i < ring.length; i += 2) {
        const u1 = (ring[i] - left) / (right - left);
        const v1 = (ring[i + 1] - bottom) / (top - bottom);
        const cross = u0 * v1 - u1 * v0;
        sums.area += cross / 2;
        sums.x += (cross * (u0 + u1)) / 6;
        sums.y += (cross * (v0 + v1)) / 6;
        sums.xy += (cross * (u0 * (2 * v0 + v1) + u1 * (v0 + 2 * v1))) / 24;
        [u0, v0] = [u1, v1];
      }
    }
    return sums;
  }
}

/** Area a ring encloses, positive against the clock; seen from a corner nearby, so that little is rounded away. */
export function ringArea(ring, left = 0, bottom = 0) {
  let sum = 0;
  let x0 = ring[ring.length - 2] - left;
  let y0 = ring[ring.length - 1] - bottom;
  for (let i = 0; i < ring.length; i += 2) {
    const x1 = ring[i] - left;
    const y1 = ring[i + 1] - bottom;
    sum += x0 * y1 - x1 * y0;
    x0 = x1;
    y0 = y1;
  }
  return sum / 2;
}

function extent(rings) {
  let [left, bottom, right, top] = [Infinity, Infinity, -Infinity, -Infinity];
  for (const ring of rings) {
    for (let i = 0; i < ring.length; i += 2) {
      left = Math.min(left, ring[i]);
      right = Math.max(right, ring[i]);
      bottom = Math.min(bottom, ring[i + 1]);
      top = Math.max(top, ring[i + 1]);
    }
  }
  return [left, bottom, right, top];
}

/** The part of a ring inside a box, one side after the other (Sutherland and Hodgman 1974). */
function clipRing(ring, left, bottom, right, top) {
  const west = clipSide(ring, 0, left, 1);
  const east = clipSide(west, 0, right, -1);
  const south = clipSide(east, 1, bottom, 1);
  return clipSide(south, 1, top, -1);
}

/** The part of a ring where a coordinate is above a limit, or below it for `sign` -1. */
function clipSide(ring, axis, limit, sign) {
  const kept = [];
  const other = 1 - axis;
  let before = ring.length - 2;
  for (let here = 0; here < ring.length; here += 2) {
    const from = sign * (ring[before + axis] - limit);
    const to = sign * (ring[here + axis] - limit);
    if ((from > 0 && to < 0) || (from < 0 && to > 0)) {
      const crossing = ring[before + other] + (from / (from - to)) * (ring[here + other] - ring[before + other]);
      if (axis === 0) kept.push(limit, crossing);
      else kept.push(crossing, limit);
    }
    if (to >= 0) kept.push(ring[here], ring[here + 1]);
    before = here;
  }
  return kept;
}
