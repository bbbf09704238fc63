// All slices along an axis side by side, on small maps that move together.

import { backgroundLayers } from "../background.mjs";
import { fittedMap } from "../fitted_map.mjs";

export const MOST_MULTIPLES = 24;
const LOWEST_MAP = 96; // CSS pixels: height of a small map, below which the page scrolls

export class Multiples {
  /** `view()` draws on them; `choose(number)` is told which a reader presses; `atlas` is the land below all of them. */
  constructor(element, { map, facts, view, axes, atlas, choose }) {
    Object.assign(this, { element, map, facts, view, axes, atlas, choose, list: [], isOpen: false });
    map.on("resize", () => this.isOpen && this.arrange());
  }

  /** Show them, where the map looks. */
  open() {
    this.isOpen = true;
    this.show(true);
    if (!this.list.length) this.list = this.axes.list[this.axes.along].names.map((name, i) => this.small(name, i));
    this.arrange();
    this.paint();
    for (const { map } of this.list) map.setView(this.map.getCenter(), this.map.getZoom(), { animate: false });
  }

  /** Go back to the one map, which then looks where they did. */
  close() {
    if (!this.isOpen) return;
    this.isOpen = false;
    this.show(false);
    const [{ map }] = this.list;
    this.map.invalidateSize({ animate: false });
    this.map.setView(map.getCenter(), map.getZoom(), { animate: false });
  }

  show(isOpen) {
    this.element.hidden = !isOpen;
    this.element.parentElement.classList.toggle("several", isOpen);
    this.map.getContainer().hidden = isOpen;
  }

  small(name, number) {
    const [frame, place] = [document.createElement("div"), document.createElement("div")];
    const button = Object.assign(document.createElement("button"), { type: "button", textContent: name });
    button.addEventListener("click", () => this.choose(number));
    Object.assign(frame, { className: "multiple" }).append(place, button);
    place.setAttribute("aria-hidden", "true"); // the chart says what they show
    this.element.append(frame);
    return { frame, place, number };
  }

  /** Columns and rows that make the maps as large as can be; of ways that do, the one with the fewest rows. */
  arrange() {
    const width = this.element.clientWidth;
    const height = Math.min(this.element.clientHeight, globalThis.innerHeight); // on a phone, as high as all maps
    const [one, other] = this.corners();
    const shape = Math.abs((one.x - other.x) / (one.y - other.y));
    const sizeOf = (columns) => {
      const rows = Math.ceil(this.list.length / columns);
      return Math.min(width / columns / shape, Math.max(height / rows, LOWEST_MAP));
    };
    const columns = this.list.map((_, i) => i + 1).reduce((best, each) => (sizeOf(each) >= sizeOf(best) ? each : best), 1);
    this.element.style.gridTemplateColumns = `repeat(${columns}, minmax(0, 1fr))`;
    for (const each of this.list) {
      if (each.map) each.map.invalidateSize({ animate: false });
      else this.addMap(each);
    }
  }

  /** Two corners of the domain, in pixels of the one map. */
  corners() {
    const [west, south, east, north] = this.facts.domain;
    return [[south, west], [north, east]].map((corner) => this.map.project(corner, 0));
  }

  addMap(each) {
    const { facts } = this;
    each.map = fittedMap(each.place, facts, { controls: false });
    each.place.classList.toggle("without-sea", !facts.atlas);
    each.background = backgroundLayers(each.map, this.atlas, []);
    each.layers = new Map();
    each.map.on("move", () => this.follow(each));
  }

  /** Let all others look where one of them does. */
  follow(leader) {
    if (this.isFollowing) return;
    this.isFollowing = true;
    const [centre, zoom] = [leader.map.getCenter(), leader.map.getZoom()];
    for (const { map } of this.list) {
      if (map === leader.map) continue;
      if (map.getZoom() !== zoom) map.setView(centre, zoom, { animate: false });
      else map.panBy(map.latLngToContainerPoint(centre).subtract(map.getSize().divideBy(2)), { animate: false });
    }
    this.isFollowing = false;
  }

  /** Paint them as the one map would be, each of its slice. */
  paint() {
    if (!this.isOpen) return;
    const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
    const view = this.view();
    for (const { map, background, layers, number } of this.list) {
      background.land.setStyle({ fillColor: colour("--land") });
      background.coasts.setStyle({ color: colour("--coast") });
      background.borders.setStyle({ color: colour("--border") });
      for (const one of [background.land, background.coasts, background.borders]) one.addTo(map);
      for (const [other, layer] of layers) if (other !== view) layer.remove();
      if (!layers.has(view)) layers.set(view, view.layerOf(map));
      view.draw(layers.get(view), this.axes.with(this.axes.along, number));
      layers.get(view).addTo(map);
    }
  }

  /** Let the slice that is chosen stand out. */
  mark(number) {
    this.list.forEach(({ frame }, i) => frame.classList.toggle("now", i === number));
  }
}
