// What has been asked, and the answers: a list that can be copied and saved.

import { csvField, featureOf, geojsonText, numberColumns } from "../saving.mjs";
import { boundsText, countText, intervalText } from "../words.mjs";

export const SIDES = ["west", "south", "east", "north"];

/** The list on the page, of a `slice` where there are some; `show(query)` and `remove(query)` see to its shape on the map, `changed()` is told. */
export class Queries {
  constructor(element, facts, { show, remove }) {
    Object.assign(this, { element, facts, show, remove, list: [], next: 1, slice: null, changed: () => {} });
  }

  /** Add a query { kind, polygons, bounds, answer }; the newest comes first. */
  add(query) {
    const numbered = { ...query, number: this.next++ };
    this.list.unshift(numbered);
    this.render();
    return numbered;
  }

  /** Take new answers, of other slices. */
  recount(slice, answer) {
    this.slice = slice;
    if (!this.list.length) return;
    for (const query of this.list) query.answer = answer(query);
    this.render();
  }

  delete(query) {
    this.list = this.list.filter((other) => other !== query);
    this.remove(query);
    this.render();
  }

  clear() {
    this.list.forEach((query) => this.remove(query));
    this.list = [];
    this.render();
  }

  render() {
    this.element.hidden = this.list.length === 0;
    this.element.querySelector("ol").replaceChildren(...this.list.map((query) => this.item(query)));
    this.changed();
  }

  item(query) {
    const item = document.createElement("li");
    const show = button(`${query.number}`, `Show query ${query.number} on the map`, () => this.show(query));
    show.className = "number";
    const place = text("span", boundsText(query.bounds), "place");
    const count = text("span", countText(query.answer.estimate), "count");
    const interval = text("span", `${countText(query.answer.low)} – ${countText(query.answer.high)}`, "interval");
    interval.title = intervalText(query.answer, this.facts);
    const remove = button("×", `Remove query ${query.number}`, () => this.delete(query));
    remove.className = "remove";
    item.append(show, place, count, interval, remove);
    return item;
  }

  /** All queries as CSV, the oldest first, at full precision; polygons as well-known text. */
  csv() {
    const of = this.slice === null ? [] : [csvField(this.slice)];
    const lines = [...this.list].reverse().map(({ kind, bounds, answer, polygons }) => {
      const outline = kind === "box" ? "" : `"${wellKnown(polygons)}"`; // it has commas and no quotes
      const numbers = [...bounds, answer.estimate, answer.low, answer.high].map(String);
      return [...of, kind, ...numbers, outline].join(",");
    });
    const header = [...of.map(() => "slice"), "query", ...SIDES, ...numberColumns(["estimate", "low", "high"], this.facts), "polygon"];
    return [header.join(","), ...lines, ""].join("\n");
  }

  /** The same as GeoJSON: outlines with estimates and intervals. */
  geojson() {
    const { confidence } = this.facts;
    const of = this.slice === null ? {} : { slice: this.slice };
    const features = [...this.list].reverse().map(({ kind, answer: { estimate, low, high }, polygons }) =>
      featureOf(polygons, { ...of, query: kind, estimate, low, high, confidence }),
    );
    return geojsonText(features, this.facts);
  }
}

function wellKnown(polygons) {
  const closed = (ring) => `(${[...ring, ring[0]].map(([x, y]) => `${x} ${y}`).join(", ")})`;
  return `MULTIPOLYGON (${polygons.map((rings) => `(${rings.map(closed).join(", ")})`).join(", ")})`;
}

function text(tag, content, name) {
  return Object.assign(document.createElement(tag), { textContent: content, className: name });
}

function button(content, label, act) {
  const made = Object.assign(document.createElement("button"), { type: "button", textContent: content, title: label });
  made.setAttribute("aria-label", label);
  made.addEventListener("click", act);
  return made;
}
