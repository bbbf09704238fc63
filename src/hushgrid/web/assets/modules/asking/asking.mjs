// Questions that a reader draws or types: boxes and polygons, their answers, and the list of them.

import { Drawing } from "./drawing.mjs";
import { FinePolygon } from "./fine_polygon.mjs";
import { MARGIN } from "../fitted_map.mjs";
import { dense, extentOf, isSimple } from "./outline.mjs";
import { Queries, SIDES } from "./queries.mjs";
import { fileName, save } from "../saving.mjs";
import { boundsText } from "../words.mjs";

const HINTS = {
  idle: "Draw on the map, or type a box below.",
  box: "Drag across the map from one corner to the other.",
  polygon: "Tap the corners one by one; tap the first again to close. Backspace takes one back.",
};

const part = (selector) => document.querySelector(selector);

export class Asking {
  /** `tell(answer, place)` shows a number on the page, `complain(text)` why there is none. */
  constructor(map, release, { tell, complain }) {
    Object.assign(this, { map, release, tell, complain, shapes: new Map() });
    this.queries = new Queries(part("#queries"), release.facts, {
      show: (query) => this.show(query),
      remove: (query) => this.erase(query),
    });
    this.drawing = new Drawing(map, {
      drawn: (kind, ring) => this.count(kind, [[ring]]),
      changed: (mode, corners) => showMode(mode, corners),
    });
    this.listen();
    for (const element of document.querySelectorAll(".asking")) element.hidden = false;
  }

  listen() {
    const { drawing, queries } = this;
    const toggle = (mode) => drawing.start(drawing.mode === mode ? null : mode);
    part("#draw-box").addEventListener("click", () => toggle("box"));
    part("#draw-polygon").addEventListener("click", () => toggle("polygon"));
    part("#finish").addEventListener("click", () => drawing.finish());
    part("#undo").addEventListener("click", () => drawing.undo());
    part("#cancel").addEventListener("click", () => drawing.start(null));
    part("#box").addEventListener("submit", (event) => this.submit(event));
    part("#clear").addEventListener("click", () => queries.clear());
    part("#queries-csv").addEventListener("click", () => save(queries.csv(), fileName("queries", "csv"), "text/csv"));
    part("#queries-geojson").addEventListener("click", () => {
      save(queries.geojson(), fileName("queries", "geojson"), "application/geo+json");
    });
    part("#copy").addEventListener("click", (event) => copy(queries.csv(), event.target));
  }

  submit(event) {
    event.preventDefault();
    const [west, south, east, north] = SIDES.map((name) => part(`#${name}`).valueAsNumber);
    const ring = [[west, south], [east, south], [east, north], [west, north]];
    if (west < east && south < north) this.count("box", [[ring]]);
    else this.complain("A box has four numbers; west is smaller than east, and south than north.");
  }

  /** Answer a box or a polygon, and keep the answer in the list. */
  count(kind, polygons) {
    const outlines = polygons.map((rings) => rings[0]);
    if (kind === "polygon" && !isSimple(outlines[0])) {
      this.complain("This outline crosses itself. Draw it again without crossings.");
      return;
    }
    const bounds = extentOf(outlines.flat());
    if (!meets(bounds, this.release.facts.domain)) {
      this.complain("This lies outside of what the release covers, so it says nothing about it.");
      return;
    }
    const answer = this.answer({ kind, polygons, bounds });
    if (kind === "box") SIDES.forEach((name, i) => (part(`#${name}`).value = bounds[i]));
    const query = this.queries.add({ kind, polygons, bounds, answer });
    this.drawShape(query);
    this.show(query, { move: false });
  }

  answer({ kind, polygons, bounds }) {
    return kind === "box" ? this.release.answerBox(...bounds) : this.release.answerPolygons(polygons);
  }

  show(query, { move = true } = {}) {
    const what = { box: "In the rectangle", polygon: "In the polygon within" }[query.kind];
    this.tell(query.answer, `${what} ${boundsText(query.bounds)}`, query);
    for (const [other, shape] of this.shapes) shape.getElement()?.classList.toggle("current", other === query);
    if (move && !this.map.getBounds().contains(this.shapes.get(query).getBounds())) {
      this.map.fitBounds(this.shapes.get(query).getBounds(), { padding: [MARGIN, MARGIN] });
    }
  }

  drawShape(query) {
    const rings = query.polygons.flatMap((polygon) => polygon.map((ring) => dense(ring).map(([x, y]) => [y, x])));
    const shape = new FinePolygon(rings, { className: "shape", interactive: false, smoothFactor: 0.1 }).addTo(this.map);
    this.shapes.set(query, shape);
  }

  erase(query) {
    this.shapes.get(query)?.remove();
    this.shapes.delete(query);
  }
}

function meets([west, south, east, north], [left, bottom, right, top]) {
  return west < right && left < east && south < top && bottom < north;
}

function showMode(mode, corners) {
  part("#draw-box").setAttribute("aria-pressed", mode === "box");
  part("#draw-polygon").setAttribute("aria-pressed", mode === "polygon");
  part("#hint").textContent = HINTS[mode ?? "idle"];
  part("#polygon-tools").hidden = mode !== "polygon";
  part("#finish").disabled = corners < 3;
  part("#undo").disabled = corners < 1;
}

/** To the clipboard; where that is not allowed, as text to be copied by hand. */
async function copy(text, button) {
  try {
    await navigator.clipboard.writeText(text);
    button.textContent = "Copied";
    setTimeout(() => (button.textContent = "Copy as CSV"), 2000);
  } catch {
    const area = part("#csv");
    area.hidden = false;
    area.value = text;
    area.select();
  }
}
