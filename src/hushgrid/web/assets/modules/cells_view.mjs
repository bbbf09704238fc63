// The cells of a release: their densities, their colours, and what each holds.

import { cellsLayer } from "./cells_layer.mjs";
import { pixelsOf, scaleOf } from "./colours.mjs";
import { unitSide, unitText } from "./legend.mjs";
import { capital, lowered, measureText, sentence } from "./words.mjs";

export class CellsView {
  constructor(map, release) {
    Object.assign(this, { map, release, facts: release.facts, layer: cellsLayer(release, map, null) });
    this.weigh();
  }

  /** Density of every cell, and whether it is surely not empty. */
  weigh() {
    const { facts, release } = this;
    const [size, square] = [release.surface.size, unitSide(facts) ** 2];
    this.densities = new Float64Array(size);
    this.certain = new Uint8Array(size);
    const sides = new Float64Array(size); // zero for what is no cell but holds some
    for (let cell = 0; cell < size; cell++) {
      const { estimate, low } = release.answerCell(cell);
      const area = release.areaOf(cell);
      this.densities[cell] = (estimate / area) * square;
      this.certain[cell] = low > 0;
      if (release.surface.isCell(cell)) sides[cell] = Math.sqrt(area);
    }
    this.scale = scaleOf(this.densities, this.certain, sides);
  }

  /** Colour the cells; gives the legend. */
  shade(dark) {
    this.layer.pixels = pixelsOf(this.densities, this.certain, this.scale, dark);
    const title = `${capital(this.facts.counted)} per ${unitText(this.facts)}`;
    return { scale: this.scale, title, note: "faint cells may be empty" };
  }

  /** What can be said of the cell at a place, and "" outside the domain. */
  describe({ lng, lat }) {
    const cell = this.release.cellAt(lng, lat);
    if (cell < 0) return "";
    const area = this.facts.geographic ? ` in ${measureText(this.release.areaOf(cell))} km²` : "";
    return `This cell${area}: ${lowered(sentence(this.release.answerCell(cell), this.facts))}`;
  }
}
