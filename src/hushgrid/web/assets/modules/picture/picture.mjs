// What a release knows, as a picture: fine where counts are sure, smooth where they are not; picture.py says how.

const OWN = 0.75; // of a part's density is its own block's, the rest its neighbour's
const UNPAINTED = -1;

export class Picture {
  /** `columns` and `rows` are of the largest blocks; each layer has blocks half as wide and half as high. */
  constructor({ columns, rows, steps, lowest }, { pictureLengths, pictureBlocks, pictureCodes }) {
    Object.assign(this, { columns, rows, layers: [] });
    let start = 0;
    for (const length of pictureLengths) {
      const blocks = runningSums(pictureBlocks.subarray(start, start + length));
      const codes = pictureCodes.subarray(start, start + length);
      const densities = Float64Array.from(codes, (code) => (code ? 2 ** ((code - 1) / steps + lowest) : 0));
      this.layers.push({ blocks, densities });
      start += length;
    }
    this.divided = dividedBlocks(this.layers, columns);
  }

  /** The finest layer whose blocks are at least one pixel wide, or one beyond the last that would be. */
  levelFor(pixels) {
    return Math.max(0, Math.floor(Math.log2(pixels / this.columns)));
  }

  /** Densities of the blocks of a level, from column `left` to before `right` and from row `bottom` to before `top`. */
  densities(level, window) {
    const painted = this.smooth(level, window);
    const divided = this.divided[level];
    if (divided) each(divided, this.columns * 2 ** level, window, (place, density) => (painted[place] += density));
    return painted;
  }

  /** What is painted up to a level, without edges. Along each axis a part takes a quarter of its neighbour's density. */
  smooth(level, window) {
    const out = level === 0 ? new Float64Array(sizeOf(window)) : this.halved(level, window);
    const layer = this.layers[level];
    if (layer) each(layer, this.columns * 2 ** level, window, (place, density) => (out[place] += density));
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
      const wide = shrunk.right - shrunk.left;
      each(this.layers[layer], this.columns * 2 ** layer, shrunk, (place) => {
        const [column, row] = [(place % wide) + shrunk.left, Math.floor(place / wide) + shrunk.bottom];
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
function dividedBlocks(layers, columns) {
  const divided = layers.map(() => ({ blocks: [], densities: [] }));
  for (let level = layers.length - 1; level > 0; level--) {
    const wide = columns * 2 ** level;
    const sums = new Map();
    for (const { blocks, densities } of [layers[level], divided[level]]) {
      for (let i = 0; i < blocks.length; i++) {
        const whole = Math.floor(Math.floor(blocks[i] / wide) / 2) * (wide / 2) + Math.floor((blocks[i] % wide) / 2);
        sums.set(whole, (sums.get(whole) ?? 0) + densities[i] / 4);
      }
    }
    const blocks = Float64Array.from(sums.keys()).sort();
    divided[level - 1] = { blocks, densities: Float64Array.from(blocks, (block) => sums.get(block)) };
  }
  return divided;
}

/** Call with the place in a window, and the density, of every block that lies in it. */
function each({ blocks, densities }, columns, { left, bottom, right, top }, use) {
  for (let row = bottom; row < top; row++) {
    const stop = row * columns + right;
    for (let i = firstFrom(blocks, row * columns + left); i < blocks.length && blocks[i] < stop; i++) {
      use((row - bottom) * (right - left) + blocks[i] - row * columns - left, densities[i]);
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
  let sum = 0;
  return Float64Array.from(steps, (step) => (sum += step));
}
