// Named areas on the page: shaded on the map, listed beside it, chosen in both, and summed.

import { pixelsOf, scaleOf } from "../colours.mjs";
import { MARGIN } from "../fitted_map.mjs";
import { unitText } from "../legend.mjs";
import { fileName, save } from "../saving.mjs";
import { areaText, capital, countText, lowered, sentence } from "../words.mjs";
import { Choropleth, Paths } from "./choropleth.mjs";
import { areasCsv, areasGeojson } from "./files.mjs";
import { AreaTable } from "./table.mjs";

const MOST_NAMED = 3; // areas that are named in the heading of a sum
const MOST_SCALED = 24; // choices of slices that a scale is found from

export class AreasView {
  /**
   * `tell(answer, place, query, ask)` shows a number on the page, and `ask(chosen)` has it for other slices;
   * `complain(text)` says why there is none. Of slices, `axes` say which are chosen.
   */
  constructor(element, map, facts, levels, { tell, complain }, axes = null) {
    Object.assign(this, { element, map, facts, levels, tell, complain, axes, shaded: "density", dark: false });
    Object.assign(this, { scales: new Map(), ask: null });
    this.chosen = levels.map(() => new Set());
    this.layer = this.layerOf(map);
    this.table = new AreaTable(element.querySelector("table"), (area) => this.toggle(area, { move: true }));
    this.table.changed = (table) => this.showExtent(table);
    this.listen();
    this.take(levels.length - 1);
    element.hidden = false;
  }

  /** A layer of areas for a map, which may be a small one. */
  layerOf(map) {
    map.createPane("areas").style.zIndex = 350;
    map.getPane("areas").style.pointerEvents = "none";
    const paths = new Map(this.levels.map((level) => [level, new Paths(map, level.outlines)]));
    return Object.assign(new Choropleth(), { paths });
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

  /** Take up a level, by its number; `shade` shows it. */
  take(number) {
    [this.level, this.above, this.current] = [this.levels[number], this.levels[number - 1], this.chosen[number]];
    this.ask = null;
    this.find("#level").value = number;
    this.table.take(this.level);
    this.table.mark(this.current);
    this.showNumber();
  }

  /** Follow slices: numbers are those of another choice. While it plays, rows stay where they are. */
  follow(chosen, isPlaying) {
    for (const level of this.levels) level.chosen = chosen;
    this.table.renew(isPlaying);
  }

  /** Colour areas by "density" or "count", or show outlines alone by null; gives the legend. */
  shade(measure, dark) {
    Object.assign(this, { shaded: measure, dark });
    const { level, facts } = this;
    this.draw(this.layer, level.chosen);
    if (!measure) return null;
    const title = measure === "count" ? `in each ${level.name}` : `per ${unitText(facts)}`;
    return { scale: this.scale, title: `${capital(facts.counted)} ${title}`, note: "faint areas may be empty" };
  }

  /** What areas of a level are coloured by, and whether they are surely not empty. */
  measured(chosen) {
    const answers = this.level.answersOf(chosen);
    const values = this.shaded === "count" ? answers.map(({ estimate }) => estimate) : this.level.densitiesOf(chosen);
    return { values, certain: answers.map(({ low }) => low > 0) };
  }

  /** The scale of colours; one for all slices, or for all sums over the same ones. */
  get scale() {
    const { level, shaded, axes } = this;
    const key = [level.name, shaded, axes?.pattern].join();
    if (!this.scales.has(key)) {
      const alike = axes ? axes.alike(level.chosen) : [undefined];
      const step = Math.ceil(alike.length / MOST_SCALED);
      const all = alike.filter((_, i) => i % step === 0).map((chosen) => this.measured(chosen));
      const sides = shaded === "count" ? level.grounds.map(() => 1) : level.grounds.map(Math.sqrt);
      const joined = (name) => all.flatMap((each) => each[name]);
      this.scales.set(key, scaleOf(joined("values"), joined("certain"), all.flatMap(() => sides)));
    }
    return this.scales.get(key);
  }

  /** Draw a choice of slices on a layer. */
  draw(layer, chosen) {
    const { level, above, shaded, dark } = this;
    const { values, certain } = this.measured(chosen);
    const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
    layer.look({
      paths: layer.paths.get(level),
      above: layer.paths.get(above),
      fills: shaded && Array.from(pixelsOf(values, certain, this.scale, dark), cssColour),
      border: colour(shaded ? "--area-border" : "--frame"),
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
    this.ask = null;
    this.draw(this.layer, this.level.chosen);
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
    else if (areas.length === 1) this.tellSum(areas, `In ${this.level.names[areas[0]]}`);
    else this.tellSum(areas, this.heading(areas));
  }

  tellAll() {
    const all = [...this.level.names.keys()];
    const which = this.levels.length > 1 ? ` of level ${this.level.name}` : "";
    if (this.facts.kind === "areas") this.tellSum(all, `In all ${countText(all.length)} areas${which}`);
    else this.whole?.();
  }

  tellSum(areas, place) {
    const { level } = this;
    const sum = level.sum(areas);
    if (!sum) {
      this.complain("These areas overlap, so that their counts have no sum. Select areas that lie apart.");
      return;
    }
    this.ask ??= (chosen) => level.sum(areas, chosen);
    this.tell(sum, place, null, this.ask);
  }

  heading(areas) {
    const names = areas.slice(0, MOST_NAMED).map((area) => this.level.names[area]);
    const others = areas.length - names.length;
    const more = others > 0 ? [`${countText(others)} more`] : [];
    return `In ${countText(areas.length)} areas together: ${[...names, ...more].join(", ")}`;
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
    const slice = this.axes?.name ?? null;
    if (kind === "csv") save(areasCsv(level, areas, facts, slice), name, "text/csv");
    else save(areasGeojson(level, areas, facts, slice), name, "application/geo+json");
  }
}

/** A colour of a pixel as CSS has it; null for one that cannot be seen. */
export function cssColour(pixel) {
  const alpha = pixel >>> 24;
  if (alpha === 0) return null;
  return `rgb(${pixel & 255} ${(pixel >>> 8) & 255} ${(pixel >>> 16) & 255} / ${(alpha / 255).toFixed(3)})`;
}
