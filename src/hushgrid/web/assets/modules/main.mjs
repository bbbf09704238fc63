// The page: reads the release out of it, draws the map and answers.

import { AreasView } from "./areas/areas_view.mjs";
import { overlayLevel, releaseLevels } from "./areas/levels.mjs";
import { fromAddress, toAddress } from "./address.mjs";
import { Asking } from "./asking/asking.mjs";
import { backgroundLayers, readAtlas, readLines } from "./background.mjs";
import { CellsView, VIEWS } from "./picture/cells_view.mjs";
import { Picture } from "./picture/picture.mjs";
import { addBasemap } from "./basemap.mjs";
import { fittedMap } from "./fitted_map.mjs";
import { showLegend } from "./legend.mjs";
import { readArrays, unpack } from "./payload.mjs";
import { Labels } from "./places/labels.mjs";
import { PlaceSearch } from "./places/search.mjs";
import { readPlaces } from "./places/places.mjs";
import { Axes } from "./slices/axes.mjs";
import { SlicedCells } from "./slices/sliced_cells.mjs";
import { SlicedPicture } from "./slices/sliced_picture.mjs";
import { estimateOf, SlicedRelease } from "./slices/sliced_release.mjs";
import { Slicing } from "./slices/slicing.mjs";
import { Sharing } from "./share/sharing.mjs";
import { Release } from "./surfaces/release.mjs";
import { countText, intervalText, placeText } from "./words.mjs";

const find = (selector) => document.querySelector(selector);

class Page {
  constructor(facts, arrays) {
    this.facts = facts;
    this.dark = globalThis.matchMedia("(prefers-color-scheme: dark)");
    const onAreas = facts.kind === "areas";
    document.body.classList.toggle("with-areas", onAreas || Boolean(facts.overlay?.names.length));
    this.map = fittedMap(find("#map"), facts);
    this.drawBackground(arrays);
    if (facts.places) this.namePlaces(readPlaces(facts.places, arrays));
    const words = { tell: (...said) => this.tell(...said), complain: (text) => this.complain(text) };
    this.axes = facts.slices ? new Axes(facts.slices.axes) : null;
    if (!onAreas) {
      if (this.axes) this.showSliced(arrays);
      else this.show(arrays);
      this.asking = new Asking(this.map, this.release, words);
      this.queries = this.asking.queries;
      this.queries.slice = this.axes?.name ?? null;
    }
    const levels = this.levels(arrays);
    if (levels.length) this.areas = new AreasView(find("#districts"), this.map, facts, levels, words, this.axes);
    this.shaded = onAreas ? "density" : "cells";
    if (this.axes) this.addSlicing();
    this.paint();
    this.tellAll();
    this.restore();
    this.listen();
    const looks = { legend: () => this.legend, isDark: () => this.isDark, paint: () => this.paint() };
    this.sharing = new Sharing(this.map, looks);
  }

  /** Show a release without slices. */
  show(arrays) {
    this.release = new Release(this.facts, arrays);
    this.cells = new CellsView(this.map, this.release, new Picture(this.facts.picture, arrays));
  }

  /** Show slices on cells. */
  showSliced(arrays) {
    this.release = new SlicedRelease(this.facts, arrays, this.axes);
    this.cells = new SlicedCells(this.map, this.release, new SlicedPicture(this.facts, arrays, this.axes));
  }

  /** Levels of a release on areas, or the areas of an overlay. */
  levels(arrays) {
    const { facts, release, axes } = this;
    if (!release) return releaseLevels(facts, arrays, axes);
    if (!facts.overlay?.names.length) return [];
    return [overlayLevel(facts, arrays, (polygons, chosen) => release.answerPolygons(polygons, chosen), axes?.chosen)];
  }

  /** What chooses among slices. */
  addSlicing() {
    const { map, facts, axes, atlas } = this;
    const elements = { bar: find("#slices"), chart: find("#chart"), multiples: find("#multiples") };
    const view = () => (this.shaded === "cells" ? this.cells : this.areas);
    const changed = (isNewScale) => this.showSlices(isNewScale);
    this.slicing = new Slicing(elements, { map, facts, axes, view, atlas, changed });
    if (this.release) this.askAll = this.asked(null);
  }

  /** Other slices are chosen: numbers are theirs from now on. */
  showSlices(isNewScale) {
    const { axes, slicing } = this;
    this.cells?.follow(axes.chosen);
    this.areas?.follow(axes.chosen, slicing.isPlaying);
    if (isNewScale) this.shade(this.shaded);
    else if (this.shaded !== "cells") this.areas.shade(this.shaded, this.isDark);
    find("#answer").setAttribute("aria-live", slicing.isPlaying ? "off" : "polite");
    this.queries?.recount(axes.name, (query) => this.asking.answer(query));
    if (this.told) this.asking.show(this.told, { move: false });
    else if (this.areas?.current.size) this.areas.tellChosen();
    else this.tellAll();
    this.remember();
  }

  /** What answers a query, or the whole map, for any choice of slices. */
  asked(query) {
    return (chosen) => this.release.answer((part) => estimateOf(part, query), chosen);
  }

  /** Whether the theme is dark; paper is light. */
  get isDark() {
    return this.dark.matches && !document.documentElement.classList.contains("printing");
  }

  /** Take the view and the questions out of the address, if it has any. */
  restore() {
    const { at, show, asked, slices } = fromAddress(globalThis.location.hash, Object.keys(VIEWS));
    if (show && this.cells) this.look(show);
    if (slices.length && this.slicing) this.slicing.take(this.axes.fromNames(slices));
    if (this.asking) for (const { kind, ring } of asked) this.asking.count(kind, [[ring]]);
    if (at) this.map.setView([at[0], at[1]], at[2], { animate: false });
  }

  /** Put them there. */
  remember() {
    const { lat, lng } = this.map.getCenter();
    const asked = [...(this.queries?.list ?? [])].reverse().map(({ kind, polygons }) => ({ kind, ring: polygons[0][0] }));
    const slices = this.axes && !this.axes.isAll ? this.axes.names : [];
    const at = [lat, lng, this.map.getZoom()];
    const address = toAddress({ at, show: this.cells?.view ?? "density", asked, slices });
    try {
      globalThis.history.replaceState(null, "", address);
    } catch {
      // A page inside a notebook has no address of its own.
    }
  }

  drawBackground(arrays) {
    const { atlas, overlay } = this.facts;
    this.atlas = atlas ? readAtlas(atlas, arrays) : { land: [], coasts: [], borders: [] };
    this.background = backgroundLayers(this.map, this.atlas, readLines(overlay?.lines ?? []));
    this.map.getContainer().classList.toggle("without-sea", !atlas);
    if (this.facts.basemap) addBasemap(this.map, this.facts.basemap);
    if (this.facts.kind === "areas") return;
    const [west, south, east, north] = this.facts.domain;
    const frame = { className: "frame", interactive: false, fill: false };
    L.rectangle([[south, west], [north, east]], frame).addTo(this.map);
  }

  /** Names on the map, unless its tiles have some, and a field to find them. */
  namePlaces(places) {
    if (!this.facts.basemap) this.labels = new Labels(this.map, places);
    this.search = new PlaceSearch(find("#search"), this.map, this.facts, places);
  }

  /** Colours by the theme of the moment. */
  paint() {
    const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
    this.background.land.setStyle({ fillColor: colour("--land") });
    this.background.coasts.setStyle({ color: colour("--coast") });
    this.background.borders.setStyle({ color: colour("--border") });
    this.background.lines.setStyle({ color: colour("--frame") });
    for (const layer of Object.values(this.background)) layer.addTo(this.map);
    this.shade(this.shaded);
  }

  /** Shade the map by "cells", or areas by "density" or "count". */
  shade(by) {
    this.shaded = by;
    const { areas, cells, map } = this;
    const dark = this.isDark;
    const ofAreas = areas?.shade(by === "cells" ? null : by, dark);
    const legend = by === "cells" ? cells.shade(dark) : ofAreas;
    if (by !== "cells") cells?.layer.remove();
    else if (map.hasLayer(cells.layer)) cells.layer.redraw();
    else cells.layer.addTo(map);
    areas?.layer.addTo(map);
    this.slicing?.multiples.paint();
    showLegend(find("#legend"), legend, dark);
    this.legend = legend;
    find("#views").hidden = by !== "cells";
    for (const button of document.querySelectorAll("[data-view]")) {
      button.setAttribute("aria-pressed", button.dataset.view === cells?.view);
    }
    for (const button of document.querySelectorAll("[data-shade]")) {
      button.setAttribute("aria-pressed", button.dataset.shade === by);
      button.hidden = button.dataset.shade === "cells" && !cells;
    }
  }

  listen() {
    const { areas, map } = this;
    this.dark.addEventListener("change", () => this.paint());
    for (const button of document.querySelectorAll("[data-shade]")) {
      button.addEventListener("click", () => this.shade(button.dataset.shade));
    }
    for (const button of document.querySelectorAll("[data-view]")) {
      button.addEventListener("click", () => this.look(button.dataset.view));
    }
    find("#level").addEventListener("change", ({ target }) => this.takeLevel(Number(target.value)));
    map.on("mousemove", ({ latlng }) => this.describe(latlng));
    map.on("mousemove", ({ latlng }) => this.locate(latlng));
    map.on("mouseout", () => (find("#cell").hidden = find("#where").hidden = true));
    map.on("click", ({ latlng }) => this.press(latlng));
    map.on("moveend", () => this.describeCentre());
    map.on("moveend", () => this.remember());
    if (this.queries) this.queries.changed = () => this.remember();
    map.getContainer().addEventListener("focus", () => this.describeCentre());
    map.getContainer().addEventListener("pointerdown", () => map.getContainer().classList.add("pointed"));
    map.getContainer().addEventListener("keydown", () => map.getContainer().classList.remove("pointed"));
    map.getContainer().addEventListener("blur", () => (find("#cell").hidden = true));
    map.getContainer().addEventListener("keydown", (event) => {
      if (event.key === "Enter" && event.target === map.getContainer()) this.press(map.getCenter());
    });
    if (areas) areas.whole = () => this.tellAll();
  }

  /** Look at densities, at how finely they are known, or at both. */
  look(view) {
    this.cells.view = view;
    this.shade("cells");
    this.remember();
  }

  takeLevel(number) {
    this.areas.take(number);
    this.shade(this.shaded);
    this.areas.tellChosen();
    find("#cell").hidden = true;
  }

  /** Show the coordinates under the pointer. */
  locate(place) {
    const [one, other] = [[0, 0], [1, 0]].map((pixel) => this.map.containerPointToLatLng(pixel));
    find("#where").textContent = placeText(place, this.facts.geographic, Math.abs(other.lng - one.lng));
    find("#where").hidden = false;
  }

  /** Say what the cell or the area at a place holds. */
  describe(place) {
    const card = find("#cell");
    const words = (this.shaded === "cells" ? this.cells : this.areas).describe(place);
    card.hidden = !words;
    card.textContent = words;
    return words;
  }

  press(place) {
    if (this.asking?.drawing.mode) return;
    this.areas?.press(place);
    this.describe(place);
  }

  /** The same for the middle of the map, aloud, while it is moved by keyboard. */
  describeCentre() {
    if (!this.map.getContainer().matches(":focus-visible:not(.pointed)")) return;
    const nothing = this.shaded === "cells" ? "Outside the domain." : "No area.";
    find("#said").textContent = this.describe(this.map.getCenter()) || nothing;
  }

  tellAll() {
    if (this.release) this.tell(this.release.answerBox(...this.facts.domain), "In the whole map");
    else this.areas.tellAll();
  }

  /** Show a number; `query` is what was asked, if it was drawn or typed; `ask(chosen)` has it for other slices. */
  tell(answer, place, query = null, ask = this.askAll) {
    this.told = query;
    if (query) query.ask ??= this.asked(query);
    this.slicing?.tell(query ? query.ask : ask, place);
    const which = this.axes ? `, ${this.axes.words()}` : "";
    find("#estimate").textContent = countText(answer.estimate);
    find("#interval").textContent = intervalText(answer, this.facts);
    find("#place").textContent = `${place}${which}`;
    find("#below-zero").hidden = answer.estimate >= 0;
    this.complain("");
  }

  complain(message) {
    find("#complaint").textContent = message;
  }
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
