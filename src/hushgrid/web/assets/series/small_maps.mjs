// A small map of each period, all on one scale; they move together.

import { SideMap } from "../change/side_map.mjs";
import { cssColour } from "../modules/areas/areas_view.mjs";
import { pixelsOf, scaleOf } from "../modules/colours.mjs";
import { showLegend, unitSide, unitText } from "../modules/legend.mjs";
import { NO_RELEASE } from "../modules/slices/chart.mjs";
import { capital } from "../modules/words.mjs";

const LEAST_HEIGHT = 150; // CSS pixels of a small map, as in series.css

export class SmallMaps {
  /** `choose(period)` and `chooseAt(period, latlng)` are told what is pressed. */
  constructor(element, facts, arrays, { choose, chooseAt }) {
    Object.assign(this, { element, facts, arrays, choose, chooseAt, maps: [], isMoving: false });
    this.frames = facts.maps.map((period) => this.frame(period));
    element.append(...this.frames);
  }

  frame(period) {
    const [frame, place] = [document.createElement("div"), document.createElement("div")];
    const button = Object.assign(document.createElement("button"), { type: "button", textContent: this.facts.periods[period] });
    button.addEventListener("click", () => this.choose(period));
    Object.assign(frame, { className: "multiple" }).append(place, button);
    if (this.facts.known[period]) place.setAttribute("aria-hidden", "true"); // the chart says what it shows
    else Object.assign(place, { className: "gap", textContent: capital(NO_RELEASE) });
    return frame;
  }

  /** Make the maps, once they are in sight, and fit them. */
  open() {
    this.element.style.gridTemplateColumns = `repeat(${this.columns()}, minmax(0, 1fr))`;
    const { facts, arrays } = this;
    this.isMoving = true; // each keeps its own middle
    facts.maps.forEach((period, i) => {
      if (!facts.known[period]) return;
      if (this.maps[i]) return this.maps[i].map.invalidateSize({ animate: false });
      const side = facts.pictures ? `${period}-` : null;
      const made = (this.maps[i] = new SideMap(this.frames[i].firstChild, facts, arrays, side, { controls: false }));
      made.map.on("move", () => this.follow(made));
      made.map.on("click", ({ latlng }) => this.chooseAt(period, latlng));
    });
    this.isMoving = false;
    this.shareScale();
  }

  /** The number of columns that makes the maps as large as can be. */
  columns() {
    const { clientWidth: width, clientHeight: height } = this.element;
    const [west, south, east, north] = this.facts.domain;
    const plane = this.facts.geographic ? L.CRS.EPSG3857 : L.CRS.Simple;
    const [one, other] = [L.latLng(south, west), L.latLng(north, east)].map((corner) => plane.latLngToPoint(corner, 0));
    const shape = Math.abs((one.x - other.x) / (one.y - other.y));
    const sizeOf = (columns) => {
      const rows = Math.ceil(this.frames.length / columns);
      return Math.min(width / columns / shape, Math.max(height / rows, LEAST_HEIGHT));
    };
    return this.frames.map((_, i) => i + 1).reduce((best, each) => (sizeOf(each) > sizeOf(best) ? each : best), 1);
  }

  /** Let all others look where one of them does. */
  follow(leader) {
    if (this.isMoving) return;
    this.isMoving = true;
    for (const other of this.maps) if (other && other !== leader) other.follow(leader);
    this.isMoving = false;
  }

  /** One scale of densities for the pictures of all releases. */
  shareScale() {
    const views = this.maps.flatMap((each) => each?.cells ?? []);
    if (!views.length) return;
    const low = Math.min(...views.map(({ scale }) => scale.low));
    const high = Math.max(...views.map(({ scale }) => scale.high));
    this.scale = { low, high };
    for (const view of views) view.scale = this.scale;
  }

  /** Draw a level in the colours of a theme, with the chosen place marked. */
  draw({ level, chosen, dark, legend }) {
    const marked = chosen === null ? [] : [chosen];
    if (!this.facts.pictures) this.scale = this.areaScale(level);
    this.facts.maps.forEach((period, i) => {
      const fills = this.facts.pictures ? null : this.fills(level, period, dark);
      this.maps[i]?.draw({ level, fills, marked, dark });
    });
    const title = `${capital(this.facts.counted)} per ${unitText(this.facts)}`;
    showLegend(legend, { title, note: this.note(), scale: this.scale }, dark);
  }

  note() {
    const [{ length }, all] = [this.facts.maps, this.facts.periods.length];
    return length < all ? `one scale for all maps; the last ${length} of ${all}` : "one scale for all maps";
  }

  fills(level, period, dark) {
    const certain = level.places.map((place) => level.answers[place][period]?.low > 0);
    return Array.from(pixelsOf(this.densities(level, period), certain, this.scale, dark), cssColour);
  }

  densities({ places, answers, grounds }, period) {
    const square = unitSide(this.facts) ** 2;
    return places.map((place) => ((answers[place][period]?.estimate ?? 0) * square) / grounds[place]);
  }

  areaScale(level) {
    const sides = level.grounds.map(Math.sqrt);
    const shown = this.facts.maps.filter((period) => this.facts.known[period]);
    return scaleOf(shown.flatMap((period) => this.densities(level, period)), null, shown.flatMap(() => sides));
  }

  /** Let the chosen period stand out. */
  mark(period) {
    this.frames.forEach((frame, i) => {
      frame.classList.toggle("now", this.facts.maps[i] === period);
      frame.lastChild.setAttribute("aria-pressed", this.facts.maps[i] === period);
    });
  }
}
