// The page: reads the release out of it, draws the map and answers.

import { backgroundLayers, readAtlas, readOverlay } from "./background.mjs";
import { cellsLayer } from "./cells_layer.mjs";
import { pixelsOf, scaleOf } from "./colours.mjs";
import { Drawing } from "./drawing.mjs";
import { FinePolygon } from "./fine_polygon.mjs";
import { fittedMap, MARGIN } from "./fitted_map.mjs";
import { showLegend, unitSide } from "./legend.mjs";
import { dense, extentOf, isSimple } from "./outline.mjs";
import { readArrays, unpack } from "./payload.mjs";
import { Queries } from "./queries.mjs";
import { Release } from "./release.mjs";
import { boundsText, countText, intervalText, measureText, sentence } from "./words.mjs";

const HINTS = {
  idle: "Draw on the map, or type a box below.",
  box: "Drag across the map from one corner to the other.",
  polygon: "Tap the corners one by one; tap the first again to close. Backspace takes one back.",
};

const find = (selector) => document.querySelector(selector);

class Page {
  constructor(facts, arrays) {
    this.facts = facts;
    this.release = new Release(facts, arrays);
    this.dark = globalThis.matchMedia("(prefers-color-scheme: dark)");
    this.map = fittedMap(find("#map"), facts);
    this.shapes = new Map();
    this.queries = new Queries(find("#queries"), facts, {
      show: (query) => this.show(query),
      remove: (query) => this.erase(query),
    });
    this.drawing = new Drawing(this.map, {
      drawn: (kind, ring) => this.count(kind, [[ring]]),
      changed: (mode, corners) => showMode(mode, corners),
    });
    this.weighCells();
    this.drawBackground(arrays);
    this.paint();
    this.listen();
    this.tell(this.release.answerBox(...facts.domain), "In the whole map");
  }

  /** Density of every cell, and whether it is surely not empty. */
  weighCells() {
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

  drawBackground(arrays) {
    const { atlas, overlay } = this.facts;
    this.cells = cellsLayer(this.release, this.map, null);
    const known = atlas ? readAtlas(atlas, arrays) : readOverlay(overlay ?? { areas: [], lines: [] });
    this.background = backgroundLayers(this.map, known, overlay ? 1.4 : 0.8);
    this.map.getContainer().classList.toggle("without-sea", !atlas);
    const [west, south, east, north] = this.facts.domain;
    this.frame = L.rectangle([[south, west], [north, east]], { className: "frame", interactive: false, fill: false });
  }

  /** Colours by the theme of the moment. */
  paint() {
    const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
    this.cells.pixels = pixelsOf(this.densities, this.certain, this.scale, this.dark.matches);
    this.background.land.setStyle({ fillColor: colour("--land") });
    this.background.coasts.setStyle({ color: colour(this.facts.overlay ? "--frame" : "--coast") });
    this.background.borders.setStyle({ color: colour(this.facts.overlay ? "--frame" : "--border") });
    for (const layer of [...Object.values(this.background), this.cells, this.frame]) {
      if (this.map.hasLayer(layer)) layer.redraw();
      else layer.addTo(this.map);
    }
    showLegend(find("#legend"), this.facts, this.scale, this.dark.matches);
  }

  listen() {
    const { drawing, map, queries } = this;
    const toggle = (mode) => drawing.start(drawing.mode === mode ? null : mode);
    this.dark.addEventListener("change", () => this.paint());
    find("#draw-box").addEventListener("click", () => toggle("box"));
    find("#draw-polygon").addEventListener("click", () => toggle("polygon"));
    find("#finish").addEventListener("click", () => drawing.finish());
    find("#undo").addEventListener("click", () => drawing.undo());
    find("#cancel").addEventListener("click", () => drawing.start(null));
    find("#box").addEventListener("submit", (event) => this.submit(event));
    find("#area").addEventListener("change", (event) => this.countArea(event.target));
    find("#clear").addEventListener("click", () => queries.clear());
    find("#copy").addEventListener("click", (event) => copy(queries.csv(), event.target));
    map.on("mousemove", ({ latlng }) => this.describe(latlng));
    map.on("mouseout", () => (find("#cell").hidden = true));
    map.on("click", ({ latlng }) => drawing.mode || this.describe(latlng));
    map.on("moveend", () => this.describeCentre());
    map.getContainer().addEventListener("focus", () => this.describeCentre());
    map.getContainer().addEventListener("blur", () => (find("#cell").hidden = true));
    listAreas(this.facts.overlay);
  }

  /** Say what the cell at a place holds. */
  describe({ lng, lat }) {
    const cell = this.release.cellAt(lng, lat);
    const card = find("#cell");
    card.hidden = cell < 0;
    if (cell < 0) return "";
    const area = this.facts.geographic ? ` in ${measureText(this.release.areaOf(cell))} km²` : "";
    card.textContent = `This cell${area}: ${lowered(sentence(this.release.answerCell(cell), this.facts))}`;
    return card.textContent;
  }

  /** The same for the middle of the map, aloud, while it is moved by keyboard. */
  describeCentre() {
    if (!this.map.getContainer().matches(":focus-visible")) return;
    find("#said").textContent = this.describe(this.map.getCenter()) || "Outside the domain.";
  }

  submit(event) {
    event.preventDefault();
    const [west, south, east, north] = ["west", "south", "east", "north"].map((name) => find(`#${name}`).valueAsNumber);
    const ring = [[west, south], [east, south], [east, north], [west, north]];
    if (west < east && south < north) this.count("box", [[ring]]);
    else this.complain("A box has four numbers; west is smaller than east, and south than north.");
  }

  countArea(select) {
    const area = this.facts.overlay.areas[select.value];
    if (area) this.count("area", area.polygons, area.name);
  }

  /** Answer a box or polygons, and keep the answer in the list. */
  count(kind, polygons, name) {
    const outlines = polygons.map((rings) => rings[0]);
    if (kind === "polygon" && !isSimple(outlines[0])) {
      this.complain("This outline crosses itself. Draw it again without crossings.");
      return;
    }
    const bounds = extentOf(outlines.flat());
    const answer = kind === "box" ? this.release.answerBox(...bounds) : this.release.answerPolygons(polygons);
    if (kind === "box") fillForm(bounds);
    const query = this.queries.add({ kind, polygons, name, bounds, answer });
    this.drawShape(query);
    this.show(query, { move: kind === "area" });
  }

  show(query, { move = true } = {}) {
    const place = query.name ?? boundsText(query.bounds);
    const what = { box: "In the rectangle", polygon: "In the polygon within", area: "In" }[query.kind];
    this.tell(query.answer, `${what} ${place}`);
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

  tell(answer, place) {
    find("#estimate").textContent = countText(answer.estimate);
    find("#interval").textContent = intervalText(answer, this.facts.confidence);
    find("#place").textContent = place;
    find("#below-zero").hidden = answer.estimate >= 0;
    this.complain("");
  }

  complain(message) {
    find("#complaint").textContent = message;
  }
}

function showMode(mode, corners) {
  find("#draw-box").setAttribute("aria-pressed", mode === "box");
  find("#draw-polygon").setAttribute("aria-pressed", mode === "polygon");
  find("#hint").textContent = HINTS[mode ?? "idle"];
  find("#polygon-tools").hidden = mode !== "polygon";
  find("#finish").disabled = corners < 3;
  find("#undo").disabled = corners < 1;
}

function fillForm(bounds) {
  ["west", "south", "east", "north"].forEach((name, i) => (find(`#${name}`).value = bounds[i]));
}

function listAreas(overlay) {
  if (!overlay?.areas.length) return;
  find("#areas").hidden = false;
  find("#area").append(...overlay.areas.map(({ name }, index) => new Option(name, index)));
}

/** To the clipboard; where that is not allowed, as text to be copied by hand. */
async function copy(text, button) {
  try {
    await navigator.clipboard.writeText(text);
    button.textContent = "Copied";
    setTimeout(() => (button.textContent = "Copy as CSV"), 2000);
  } catch {
    const area = find("#csv");
    area.hidden = false;
    area.value = text;
    area.select();
  }
}

function lowered(text) {
  return text[0].toLowerCase() + text.slice(1);
}

async function start() {
  const facts = JSON.parse(find("#facts").textContent);
  const arrays = readArrays(await unpack(find("#payload").textContent), facts.arrays);
  globalThis.hushgrid = new Page(facts, arrays);
  document.body.classList.add("ready");
}

start().catch((error) => {
  find("#place").textContent = "The map cannot be shown. It needs a browser of 2023 or later.";
  throw error;
});
