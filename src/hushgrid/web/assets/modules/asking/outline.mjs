// What can be said of an outline before anything is counted in it.

const ENOUGH = 200; // points of a ring

/** Whether no two edges of a ring of [x, y] meet, but neighbours at their ends. */
export function isSimple(ring) {
  const count = ring.length;
  for (let i = 0; i < count; i++) {
    for (let j = i + 1; j < count; j++) {
      if (j === i + 1 || (i === 0 && j === count - 1)) continue;
      if (cross(ring[i], ring[(i + 1) % count], ring[j], ring[(j + 1) % count])) return false;
    }
  }
  return true;
}

/** A ring with more points on its edges, unless it has many: what is straight in degrees is not so on the map. */
export function dense(ring) {
  const parts = Math.ceil(ENOUGH / ring.length);
  return ring.flatMap(([x0, y0], i) => {
    const [x1, y1] = ring[(i + 1) % ring.length];
    return Array.from({ length: parts }, (_, k) => [x0 + ((x1 - x0) * k) / parts, y0 + ((y1 - y0) * k) / parts]);
  });
}

/** West, south, east, north of a ring. */
export function extentOf(ring) {
  const start = [Infinity, Infinity, -Infinity, -Infinity];
  return ring.reduce(
    ([west, south, east, north], [x, y]) => [
      Math.min(west, x),
      Math.min(south, y),
      Math.max(east, x),
      Math.max(north, y),
    ],
    start,
  );
}

function cross(a, b, c, d) {
  const [one, two, three, four] = [side(c, d, a), side(c, d, b), side(a, b, c), side(a, b, d)];
  return one * two <= 0 && three * four <= 0 && !(one === 0 && two === 0 && apart(a, b, c, d));
}

function side([ax, ay], [bx, by], [x, y]) {
  return Math.sign((bx - ax) * (y - ay) - (by - ay) * (x - ax));
}

function apart([ax, ay], [bx, by], [cx, cy], [dx, dy]) {
  return Math.max(ax, bx) < Math.min(cx, dx) || Math.max(cx, dx) < Math.min(ax, bx)
    || Math.max(ay, by) < Math.min(cy, dy) || Math.max(cy, dy) < Math.min(ay, by);
}
