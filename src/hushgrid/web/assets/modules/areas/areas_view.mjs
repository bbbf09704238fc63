// Named areas on the page: shaded on the map, listed beside it, chosen in both, and summed.

import { pixelsOf, scaleOf } from "../colours.mjs";
import { MARGIN } from "../fitted_map.mjs";
import { unitSide, unitText } from "../legend.mjs";
import { fileName, save } from "../saving.mjs";
import { areaText, capital, countText, lowered, sentence } from "../words.mjs";
import { Choropleth, Paths } from "./choropleth.mjs";
import { areasCsv, areasGeojson } from "./files.mjs";
import { AreaTable } from "./table.mjs";

const MOST_NAMED = 3; // areas that are named in the heading of a sum

export class AreasView {
  /** `tell(answer, place)` shows a number on the page, `complain(text)` why there is none. */
  constructor(element, map, facts, levels, { tell, complain }) {
    Object.assign(this, { element, map, facts, levels, tell, complain, shaded: "density", dark: false });
    this.chosen = levels.map(() => new Set());
    map.createPane("areas").style.zIndex = 350;
    map.getPane("areas").style.pointerEvents = "none";
    this.layer = new Choropleth();
    this.table = new AreaTable(element.querySelector("table"), (area) => this.toggle(area, { move: true }));
    this.table.changed = (table) => this.showExtent(table);
    this.listen();
    for (const level of levels) this.weigh(level);
    this.take(levels.length - 1);
    element.hidden = false;
  }

  find(selector) {
    return this.element.querySelector(selector);
  }

  listen() {
    const { table } = this;
    const choice = this.find("#level");
    choice.append(...this.levels.map(({ name, names }, i) => new Option(`${name} (${countText(names.length)})`, i)));
    this.find("#levels").hidden = this.levels.length < 2;
    this.find("#find").addEventListener("input", (event) => table.find(event.target.value));
    this.find("#earlier").addEventListener("click", () => table.extend(-1));
    this.find("#more").addEventListener("click", () => table.extend(1));
    this.find("#unchoose").addEventListener("click", () => this.unchoose());
    this.find("#save-csv").addEventListener("click", () => this.save("csv"));
    this.find("#save-geojson").addEventListener("click", () => this.save("geojson"));
    this.find("[data-sort=count]").textContent = capital(this.facts.counted);
    const unit = `per ${unitText(this.facts)}`;
    Object.assign(this.find("[data-sort=density]"), this.facts.geographic ? { textContent: unit } : { title: unit });
  }

  /** Ground and density of the areas of a level. */
  weigh(level) {
    const square = unitSide(this.facts) ** 2;
    level.grounds = level.names.map((_, area) => level.outlines.ground(area, this.facts.geographic));
    level.densities = level.answers.map(({ estimate }, area) => {
      const ground = level.grounds[area];
      return ground > 0 ? (estimate / ground) * square : 0;
    });
    level.paths = new Paths(this.map, level.outlines);
  }

  /** Take up a level, by its number; `shade` shows it. */
  take(number) {
    [this.level, this.above, this.current] = [this.levels[number], this.levels[number - 1], this.chosen[number]];
    this.find("#level").value = number;
    this.table.take(this.level);
    this.table.mark(this.current);
    this.showNumber();
  }

  /** Colour areas by "density" or "count", or show outlines alone by null; gives the legend. */
  shade(measure, dark) {
    Object.assign(this, { shaded: measure, dark });
    const { level, facts } = this;
    const values = measure === "count" ? level.answers.map(({ estimate }) => estimate) : level.densities;
    const certain = level.answers.map(({ low }) => low > 0);
    const sides = measure === "count" ? values.map(() => 1) : level.grounds.map(Math.sqrt);
    const scale = scaleOf(values, certain, sides);
    this.fills = measure && Array.from(pixelsOf(values, certain, scale, dark), cssColour);
    this.draw();
    const title = measure === "count" ? `in each ${level.name}` : `per ${unitText(facts)}`;
    return { scale, title: `${capital(facts.counted)} ${title}`, note: "faint areas may be empty" };
  }

  draw() {
    const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
    this.layer.look({
      paths: this.level.paths,
      above: this.above?.paths,
      fills: this.fills,
      border: colour(this.fills ? "--area-border" : "--frame"),
      marked: this.current,
      mark: colour("--chosen"),
    });
  }

  /** Choose an area, or take it back. */
  toggle(area, { move = false } = {}) {
    if (!this.current.delete(area)) this.current.add(area);
    this.showChosen(area);
    this.tellChosen();
    const [west, south, east, north] = this.level.outlines.extents[area];
    const bounds = L.latLngBounds([south, west], [north, east]);
    if (move && this.current.has(area) && !this.map.getBounds().contains(bounds)) {
      this.map.fitBounds(bounds, { padding: [MARGIN, MARGIN], maxZoom: this.map.getZoom() });
    }
  }

  unchoose() {
    this.current.clear();
    this.showChosen();
    this.tellChosen();
  }

  /** Let the areas that are chosen stand out, on the map and in the table. */
  showChosen(latest) {
    this.draw();
    this.table.mark(this.current, latest);
    this.showNumber();
  }

  showNumber() {
    const { size } = this.current;
    this.find("#unchoose").textContent = `Clear ${countText(size)} selected`;
    this.find("#unchoose").hidden = size === 0;
    this.find("#way").hidden = size > 0;
  }

  /** The sum of what is chosen. */
  tellChosen() {
    const areas = [...this.current];
    if (areas.length === 0) this.tellAll();
    else if (areas.length === 1) this.tell(this.level.answers[areas[0]], `In ${this.level.names[areas[0]]}`);
    else this.tellSum(areas);
  }

  tellAll() {
    const all = [...this.level.names.keys()];
    const sum = this.facts.kind === "areas" && this.level.sum(all);
    const which = this.levels.length > 1 ? ` of level ${this.level.name}` : "";
    if (sum) this.tell(sum, `In all ${countText(all.length)} areas${which}`);
    else this.whole?.();
  }

  tellSum(areas) {
    const sum = this.level.sum(areas);
    if (!sum) {
      this.complain("These areas overlap, so that their counts have no sum. Select areas that lie apart.");
      return;
    }
    const names = areas.slice(0, MOST_NAMED).map((area) => this.level.names[area]);
    const others = areas.length - names.length;
    const more = others > 0 ? [`${countText(others)} more`] : [];
    this.tell(sum, `In ${countText(areas.length)} areas together: ${[...names, ...more].join(", ")}`);
  }

  /** What can be said of the area at a place, and "" where there is none. */
  describe({ lng, lat }) {
    const area = this.level.outlines.at(lng, lat);
    if (area < 0) return "";
    const ground = this.facts.geographic ? `, ${areaText(this.level.grounds[area])}` : "";
    return `${this.level.names[area]}${ground}: ${lowered(sentence(this.level.answers[area], this.facts))}`;
  }

  /** Choose the area at a place; gives whether there is one. */
  press({ lng, lat }) {
    const area = this.level.outlines.at(lng, lat);
    if (area >= 0) this.toggle(area);
    return area >= 0;
  }

  showExtent({ areas, first, stop }) {
    this.find("#earlier").hidden = first === 0;
    this.find("#more").hidden = stop === areas.length;
    this.find("#extent").textContent = areas.length
      ? `${countText(first + 1)} to ${countText(stop)} of ${countText(areas.length)} areas`
      : "No area is called so.";
  }

  /** What the table lists, or what is chosen if anything is. */
  save(kind) {
    const { level, facts, table, current } = this;
    const areas = current.size ? table.areas.filter((area) => current.has(area)) : table.areas;
    const name = fileName(level.name, kind);
    if (kind === "csv") save(areasCsv(level, areas, facts), name, "text/csv");
    else save(areasGeojson(level, areas, facts), name, "application/geo+json");
  }
}

/** A colour of a pixel as CSS has it; null for one that cannot be seen. */
export function cssColour(pixel) {
  const alpha = pixel >>> 24;
  if (alpha === 0) return null;
  return `rgb(${pixel & 255} ${(pixel >>> 8) & 255} ${(pixel >>> 16) & 255} / ${(alpha / 255).toFixed(3)})`;
}
