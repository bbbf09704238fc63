// Slopes inside leaves: at the place U, V of a leaf, both from 0 to 1, the density is its mean times
// (1 + gx (2 U - 1)) (1 + gy (2 V - 1)).

export class Slopes {
  /** From tilts, which are slopes times counts. */
  constructor({ counts, tiltsX, tiltsY }) {
    const slopes = (tilts) => tilts.map((tilt, leaf) => (counts[leaf] ? tilt / counts[leaf] : 0));
    Object.assign(this, { x: slopes(tiltsX), y: slopes(tiltsY) });
  }

  /** Share of a leaf's mass in a region of these moments. */
  share(leaf, { area, x, y, xy }) {
    const [gx, gy] = [this.x[leaf], this.y[leaf]];
    return (1 - gx) * (1 - gy) * area + 2 * gx * (1 - gy) * x + 2 * gy * (1 - gx) * y + 4 * gx * gy * xy;
  }
}
