// What a release knows of its domain: densities, how finely each place is known, and what each cell holds.

import { rampPixels, scaleOf, SOLID } from "../colours.mjs";
import { unitSide, unitText } from "../legend.mjs";
import { pictureLayer } from "./picture_layer.mjs";
import { EARTH_RADIUS } from "../surfaces/release.mjs";
import { areaText, capital, lowered, sentence } from "../words.mjs";

const PALE = 55; // of 255: opacity of what is known least finely, where both are shown
const FADING = 1; // powers of ten below the scale where nothing is drawn
export const WIDEST_SHOWN = 5000; // highest over lowest density: below it, places hardly differ from empty ones
const LAST = 255; // of the colours of a ramp

/** Ways to look at a release, in the order of their buttons. */
export const VIEWS = {
  density: "smooth where less is known",
  certainty: "the darker, the more finely counts are known",
  both: "paler where counts are known less finely",
};

export class CellsView {
  /** `layer` shows the picture. */
  constructor(map, release, picture, layer = pictureLayer(picture, release.facts.domain, map)) {
    const { facts } = release;
    Object.assign(this, { map, release, facts, picture, layer, view: "density" });
    this.square = unitSide(facts) ** 2;
    this.scale = this.densityScale();
    this.sides = this.sideScale();
  }

  /** The scale of densities, from all blocks, each weighed by its side. */
  densityScale() {
    const densities = this.picture.blockDensities.map((density) => density * this.square);
    const { low, high } = scaleOf(densities, null, this.picture.blockSides());
    return { low: Math.max(low, high / WIDEST_SHOWN), high };
  }

  /** Sides of blocks of the finest and of the coarsest layer that are painted, in kilometres or the domain's units. */
  sideScale() {
    const painted = this.picture.layers.map(({ blocks }) => blocks.length > 0);
    const [coarsest, finest] = [painted.indexOf(true), painted.lastIndexOf(true)];
    return { coarsest, finest, low: this.sideOf(finest), high: this.sideOf(coarsest) };
  }

  sideOf(depth) {
    const [, south, , north] = this.facts.domain;
    const unit = this.facts.geographic ? (EARTH_RADIUS * Math.PI) / 180 : 1;
    return ((north - south) * unit) / (this.picture.rows * 2 ** depth);
  }

  /** Take a view and the colours of a theme; gives the legend. */
  shade(dark) {
    const ramp = rampPixels(dark, SOLID);
    this.layer.colours = (picture, level, window) => {
      if (this.view === "certainty") {
        return Uint32Array.from(picture.fineness(level, window), (depth) => ramp[Math.round(LAST * this.fine(depth))]);
      }
      const pixels = this.densityPixels(picture.densities(level, window), ramp);
      return this.view === "both" ? this.paled(pixels, picture.fineness(level, window)) : pixels;
    };
    const note = VIEWS[this.view];
    if (this.view !== "certainty") {
      return { scale: this.scale, title: `${capital(this.facts.counted)} per ${unitText(this.facts)}`, note };
    }
    const unit = this.facts.geographic ? "kilometres" : `units of ${this.facts.crs}`;
    return { scale: this.sides, title: `Side of the blocks that are known, in ${unit}`, note, reversed: true };
  }

  densityPixels(densities, ramp) {
    const { low, high } = this.scale;
    const gone = (low * 10 ** -FADING) / this.square;
    const perDoubling = LAST / Math.log2(high / low);
    const shift = Math.log2(this.square / low);
    const pixels = new Uint32Array(densities.length);
    for (let i = 0; i < pixels.length; i++) {
      if (densities[i] <= gone) continue;
      const doublings = Math.log2(densities[i]) + shift; // above the lowest density of the scale
      if (doublings >= 0) pixels[i] = ramp[Math.min(Math.round(doublings * perDoubling), LAST)];
      else pixels[i] = faded(ramp[0], 1 + (doublings * Math.log10(2)) / FADING);
    }
    return pixels;
  }

  paled(pixels, depths) {
    return pixels.map((pixel, i) => faded(pixel, (PALE + (SOLID - PALE) * this.fine(depths[i])) / SOLID));
  }

  /** How finely a layer is known: from 0 for the coarsest that is painted to 1 for the finest. */
  fine(depth) {
    const { coarsest, finest } = this.sides;
    return Math.min(Math.max((depth - coarsest) / Math.max(finest - coarsest, 1), 0), 1);
  }

  /** What can be said of the cell at a place, and "" outside the domain. */
  describe({ lng, lat }) {
    const cell = this.release.cellAt(lng, lat);
    if (cell < 0) return "";
    const area = this.facts.geographic ? ` in ${areaText(this.release.areaOf(cell))}` : "";
    return `This cell${area}: ${lowered(sentence(this.release.answerCell(cell), this.facts))}`;
  }
}

/** A pixel with a share of its opacity. */
function faded(pixel, share) {
  return ((Math.round((pixel >>> 24) * share) << 24) | (pixel & 0xffffff)) >>> 0;
}
