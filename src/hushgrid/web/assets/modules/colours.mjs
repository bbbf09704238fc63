// How densities become colours: a logarithmic scale, and a ramp whose lightness runs one way.

// From few to many points on a light map; a dark one takes them backwards. Lightness alone tells the order, so that the
// ramp reads with any kind of colour vision and in print.
const RAMP = ["#fdeebb", "#fbd187", "#f7a95f", "#ec7d52", "#d4535a", "#ab3468", "#7b226d", "#4a1864", "#200c44"];
const DARK_RAMP = ["#3a1c5c", "#5f2273", "#8d2a73", "#b93c69", "#dc5d58", "#f1854f", "#fab15c", "#fbd98a", "#fdf6c8"];
const LEVELS = 256;
export const SOLID = 235; // of 255, so that the land shows through
const FAINT = 70; // where zero may be the true count
const FADES = 16; // steps in which faint cells vanish
const VANISHING = 1; // powers of ten below the scale where they are gone
const LOWEST = 0.02; // share of the cells that may lie below the scale
const HIGHEST = 0.995; // share of the cells up to its end
const ROOM = 0.24; // of the scale, from one label to the next
const LEAST = 1e-30; // density that means anything
const WIDEST = 1e8; // highest over lowest density of a scale
const SAMPLE = 40_000; // cells that the scale is found from

/**
 * Lowest and highest density of the scale, out to 1, 2 or 5: those of most cells that are surely not empty, or where
 * `certain` is null of most cells. For the highest, cells weigh by their sides: else a few crowded spots, divided into
 * ever smaller cells, would fill the scale.
 */
export function scaleOf(densities, certain, sides) {
  const stride = Math.ceil(densities.length / SAMPLE);
  const any = [];
  for (let i = 0; i < densities.length; i += stride) if (densities[i] > LEAST && sides[i] > 0) any.push(i);
  const some = certain ? any.filter((i) => certain[i]) : any;
  const sorted = (some.length >= 10 ? some : any).sort((a, b) => densities[a] - densities[b]);
  if (sorted.length === 0) return { low: 0.1, high: 10 };
  const low = roundDown(densities[sorted[Math.floor(LOWEST * (sorted.length - 1))]]);
  let left = HIGHEST * sorted.reduce((sum, i) => sum + sides[i], 0);
  const highest = sorted.find((i) => (left -= sides[i]) <= 0) ?? sorted.at(-1);
  const high = Math.max(roundUp(densities[highest]), 10 * low);
  return { low: Math.max(low, high / WIDEST), high };
}

/** Place of a density on a scale, from 0 to 1. */
export function placeOf(density, { low, high }) {
  return Math.min(Math.max(Math.log(density / low) / Math.log(high / low), 0), 1);
}

/** Powers of ten on a scale, thinned so that their labels have room. */
export function ticksOf({ low, high }) {
  const [first, last] = [Math.ceil(Math.log10(low) - 1e-9), Math.floor(Math.log10(high) + 1e-9)];
  const step = Math.ceil(ROOM * Math.log10(high / low));
  const ticks = [];
  for (let power = first; power <= last; power += step) ticks.push(10 ** power);
  return ticks.length > 1 ? ticks : [low, high];
}

/** The colours of the ramp as CSS. */
export function rampColours(dark) {
  return dark ? DARK_RAMP : RAMP;
}

/**
 * Pixels of all cells: nothing where a count is not positive, faint where its interval includes zero. Faint cells below
 * the scale vanish by and by, so that wide empty ones do not tint the map.
 */
export function pixelsOf(densities, certain, scale, dark) {
  const solid = rampPixels(dark, SOLID);
  const faint = rampPixels(dark, FAINT);
  const lowest = Array.from({ length: FADES + 1 }, (_, i) => rampPixels(dark, (FAINT * i) / FADES)[0]);
  const pixels = new Uint32Array(densities.length);
  for (let cell = 0; cell < pixels.length; cell++) {
    const density = densities[cell];
    if (!(density > 0)) continue;
    if (certain[cell] || density >= scale.low) {
      pixels[cell] = (certain[cell] ? solid : faint)[Math.round(placeOf(density, scale) * (LEVELS - 1))];
    } else {
      pixels[cell] = lowest[Math.round(FADES * Math.max(0, 1 - Math.log10(scale.low / density) / VANISHING))];
    }
  }
  return pixels;
}

/** The ramp as pixels of an opacity, from 0 to 255. */
export function rampPixels(dark, alpha) {
  const stops = rampColours(dark).map((hex) => [1, 3, 5].map((start) => parseInt(hex.slice(start, start + 2), 16)));
  const bytes = new Uint8ClampedArray(4 * LEVELS);
  for (let level = 0; level < LEVELS; level++) {
    const place = (level / (LEVELS - 1)) * (stops.length - 1);
    const below = Math.min(Math.floor(place), stops.length - 2);
    const mixed = stops[below].map((value, i) => value + (place - below) * (stops[below + 1][i] - value));
    bytes.set([...mixed, alpha], 4 * level);
  }
  return new Uint32Array(bytes.buffer);
}

function roundDown(value) {
  const power = 10 ** Math.floor(Math.log10(value));
  return power * [5, 2, 1].find((digit) => digit * power <= value * (1 + 1e-9));
}

function roundUp(value) {
  const power = 10 ** Math.floor(Math.log10(value));
  return power * [1, 2, 5, 10].find((digit) => digit * power >= value * (1 - 1e-9));
}
