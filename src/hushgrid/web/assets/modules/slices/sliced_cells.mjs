// The view of the cells of slices: one scale of colours for all slices, so that they can be compared.

import { scaleOf } from "../colours.mjs";
import { CellsView, WIDEST_SHOWN } from "../picture/cells_view.mjs";
import { pictureLayer } from "../picture/picture_layer.mjs";
import { ALL } from "./axes.mjs";
import { slicedLayer } from "./sliced_layer.mjs";

const COARSE = 7; // halvings of the domain: sums of slices are looked at so finely for their scale

export class SlicedCells extends CellsView {
  constructor(map, release, picture) {
    super(map, release, picture, slicedLayer(picture, release.facts.domain, map));
  }

  /** The scale of all choices like the one of the moment: of all slices, or of all sums over the same slices. */
  densityScale() {
    const { chosen } = this.picture;
    const kind = chosen.map((choice) => choice === ALL).join();
    this.scales ??= new Map();
    if (!this.scales.has(kind)) this.scales.set(kind, this.scaleOfAll(this.picture.axes.alike(chosen)));
    return this.scales.get(kind);
  }

  scaleOfAll(choices) {
    const { picture, square } = this;
    const [densities, sides] = [[], []];
    for (const choice of choices) {
      const [one, ...others] = picture.of(choice);
      if (others.length) {
        const blocks = blocksOf(picture.choosing(choice));
        densities.push(blocks.densities);
        sides.push(blocks.sides);
      } else {
        densities.push(one.blockDensities);
        sides.push(one.blockSides());
      }
    }
    const { low, high } = scaleOf(joined(densities).map((density) => density * square), null, joined(sides));
    return { low: Math.max(low, high / WIDEST_SHOWN), high };
  }

  /** The finest and the coarsest blocks of all slices. */
  sideScale() {
    const { parts, total } = this.picture;
    const painted = [...parts, ...(total ? [total] : [])].map(({ layers }) => layers.map(({ blocks }) => blocks.length > 0));
    const coarsest = Math.min(...painted.map((layers) => layers.indexOf(true)));
    const finest = Math.max(...painted.map((layers) => layers.lastIndexOf(true)));
    return { coarsest, finest, low: this.sideOf(finest), high: this.sideOf(coarsest) };
  }

  /** Show the slices that are chosen. */
  follow(chosen) {
    this.picture = this.picture.choosing(chosen);
    this.scale = this.densityScale();
    this.layer.show(this.picture);
  }

  /** Paint a choice that comes next, out of sight. */
  prepare(chosen) {
    this.layer.prepare(this.picture.choosing(chosen));
  }

  /** A layer for a small map. */
  layerOf(map) {
    return pictureLayer(this.picture, this.facts.domain, map);
  }

  /** Draw a choice of slices on such a layer. */
  draw(layer, chosen) {
    Object.assign(layer, { picture: this.picture.choosing(chosen), colours: this.layer.colours });
    if (layer._map) layer.redraw();
  }

  shade(dark) {
    this.layer.forget();
    return super.shade(dark);
  }
}

/** Densities and sides of the blocks of a sum, where every part is looked at as finely as the finest of them is. */
function blocksOf(picture) {
  const [right, top] = [picture.columns << COARSE, picture.rows << COARSE];
  const window = { left: 0, bottom: 0, right, top };
  const [all, depths] = [picture.densities(COARSE, window), picture.fineness(COARSE, window)];
  const [densities, sides] = [[], []];
  for (let place = 0; place < all.length; place++) {
    const size = 2 ** (COARSE - depths[place]);
    const [row, column] = [Math.floor(place / right), place % right];
    if (row % size !== size >> 1 || column % size !== size >> 1) continue; // once a block, in its middle
    densities.push(all[place]);
    sides.push(2 ** -depths[place]);
  }
  return { densities, sides };
}

function joined(arrays) {
  const all = new Float64Array(arrays.reduce((sum, { length }) => sum + length, 0));
  let start = 0;
  for (const array of arrays) {
    all.set(array, start);
    start += array.length;
  }
  return all;
}
