// What a release knows, as a picture: fine where counts are sure, smooth where they are not; picture.py says how.

const OWN = 0.75; // of a part's density is its own block's, the rest its neighbour's
const UNPAINTED = -1;

export class Picture {
  /** `columns` and `rows` are of the largest blocks; each layer has blocks half as wide and half as high. */
  constructor({ columns, rows, steps, lowest }, { pictureLengths, pictureBlocks, pictureCodes }) {
    Object.assign(this, { columns, rows, layers: [], blockDensities: densitiesOf(pictureCodes, steps, lowest) });
    let start = 0;
    for (const length of pictureLengths) {
      const blocks = runningSums(pictureBlocks.subarray(start, start + length));
      this.layers.push({ blocks, densities: this.blockDensities.subarray(start, start + length) });
      start += length;
    }
    this.divided = dividedBlocks(this.layers, columns, rows);
  }

  /** Sides of all blocks, in the order of `blockDensities`, over those of the largest. */
  blockSides() {
    const sides = new Float64Array(this.blockDensities.length);
    let start = 0;
    this.layers.forEach(({ blocks }, depth) => sides.fill(2 ** -depth, start, (start += blocks.length)));
    return sides;
  }

  /** The finest layer whose blocks are at least one pixel wide, or one beyond the last that would be. */
  levelFor(pixels) {
    return Math.max(0, Math.floor(Math.log2(pixels / this.columns)));
  }

  /** Densities of the blocks of a level, from column `left` to before `right` and from row `bottom` to before `top`. */
  densities(level, window) {
    const painted = this.smooth(level, window);
    if (this.divided[level]) this.add(this.divided[level], level, window, painted);
    return painted;
  }

  /** Add the densities of the blocks that lie in a window. */
  add({ blocks, densities }, level, { left, bottom, right, top }, out) {
    const columns = this.columns * 2 ** level;
    for (let row = bottom; row < top; row++) {
      const stop = row * columns + right;
      const start = (row - bottom) * (right - left) - row * columns - left;
      for (let i = firstFrom(blocks, row * columns + left); i < blocks.length && blocks[i] < stop; i++) {
        out[start + blocks[i]] += densities[i];
      }
    }
  }

  /** What is painted up to a level, without edges. Along each axis a part takes a quarter of its neighbour's density. */
  smooth(level, window) {
    const out = level === 0 ? new Float64Array(sizeOf(window)) : this.halved(level, window);
    if (this.layers[level]) this.add(this.layers[level], level, window, out);
    return out;
  }

  halved(level, { left, bottom, right, top }) {
    const [columns, rows] = [this.columns * 2 ** (level - 1), this.rows * 2 ** (level - 1)];
    const across = axis(left, right, columns);
    const up = axis(bottom, top, rows);
    const wholes = this.smooth(level - 1, { left: across.low, bottom: up.low, right: across.high, top: up.high });
    const width = across.high - across.low;
    const row = new Float64Array(width);
    const out = new Float64Array((right - left) * (top - bottom));
    let place = 0;
    for (let y = 0; y < up.own.length; y++) {
      const [own, other] = [up.own[y] * width, up.other[y] * width];
      for (let x = 0; x < width; x++) row[x] = OWN * wholes[own + x] + (1 - OWN) * wholes[other + x];
      for (let x = 0; x < across.own.length; x++) {
        out[place++] = OWN * row[across.own[x]] + (1 - OWN) * row[across.other[x]];
      }
    }
    return out;
  }

  /** The layer that each block of a level is painted in, and that level where it is divided further. */
  fineness(level, window) {
    const out = new Float64Array(sizeOf(window)).fill(UNPAINTED);
    const { left, bottom, right, top } = window;
    for (let layer = Math.min(level, this.layers.length - 1); layer >= 0; layer--) {
      const size = 2 ** (level - layer);
      const shrunk = {
        left: Math.floor(left / size),
        bottom: Math.floor(bottom / size),
        right: Math.ceil(right / size),
        top: Math.ceil(top / size),
      };
      each(this.layers[layer].blocks, this.columns * 2 ** layer, shrunk, (row, column) => {
        const [first, stop] = [Math.max(left, column * size), Math.min(right, (column + 1) * size)];
        for (let y = Math.max(bottom, row * size); y < Math.min(top, (row + 1) * size); y++) {
          out.fill(layer, (y - bottom) * (right - left) + first - left, (y - bottom) * (right - left) + stop - left);
        }
      });
    }
    for (let place = 0; place < out.length; place++) if (out[place] === UNPAINTED) out[place] = level;
    return out;
  }
}

/** For every part along an axis its own block and the neighbour that is nearer, within the blocks that are needed. */
function axis(first, stop, size) {
  const low = Math.max(0, Math.floor(first / 2) - 1);
  const high = Math.min(size, Math.floor((stop - 1) / 2) + 2);
  const [own, other] = [new Int32Array(stop - first), new Int32Array(stop - first)];
  for (let part = first; part < stop; part++) {
    const whole = Math.floor(part / 2);
    own[part - first] = whole - low;
    other[part - first] = Math.min(Math.max(part % 2 ? whole + 1 : whole - 1, 0), size - 1) - low;
  }
  return { low, high, own, other };
}

/** Blocks that are divided further, layer by layer, with the mean density of their parts. */
function dividedBlocks(layers, columns, rows) {
  const divided = layers.map(() => ({ blocks: [], densities: [] }));
  for (let level = layers.length - 1; level > 0; level--) {
    const [wide, half] = [columns * 2 ** level, columns * 2 ** (level - 1)];
    const means = new Float64Array(half * rows * 2 ** (level - 1)).fill(UNPAINTED);
    for (const { blocks, densities } of [layers[level], divided[level]]) {
      for (let i = 0; i < blocks.length; i++) {
        const row = Math.floor(blocks[i] / wide);
        const whole = (row >> 1) * half + ((blocks[i] - row * wide) >> 1);
        means[whole] = Math.max(means[whole], 0) + densities[i] / 4;
      }
    }
    const blocks = new Float64Array(means.length);
    let count = 0;
    for (let whole = 0; whole < means.length; whole++) if (means[whole] !== UNPAINTED) blocks[count++] = whole;
    divided[level - 1] = { blocks: blocks.slice(0, count), densities: means.filter((mean) => mean !== UNPAINTED) };
  }
  return divided;
}

/** Call with the row and the column of every block that lies in a window. */
function each(blocks, columns, { left, bottom, right, top }, use) {
  for (let row = bottom; row < top; row++) {
    const stop = row * columns + right;
    for (let i = firstFrom(blocks, row * columns + left); i < blocks.length && blocks[i] < stop; i++) {
      use(row, blocks[i] - row * columns);
    }
  }
}

/** Number of the first block that is not before another. */
function firstFrom(blocks, block) {
  let [low, high] = [0, blocks.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (blocks[middle] < block) low = middle + 1;
    else high = middle;
  }
  return low;
}

function sizeOf({ left, bottom, right, top }) {
  return (right - left) * (top - bottom);
}

function runningSums(steps) {
  const sums = new Float64Array(steps.length);
  for (let i = 0, sum = 0; i < steps.length; i++) sums[i] = sum += steps[i];
  return sums;
}

/** Densities out of their logarithms, where 0 means none. */
function densitiesOf(codes, steps, lowest) {
  const densities = new Float64Array(codes.length);
  for (let i = 0; i < codes.length; i++) if (codes[i]) densities[i] = 2 ** ((codes[i] - 1) / steps + lowest);
  return densities;
}
