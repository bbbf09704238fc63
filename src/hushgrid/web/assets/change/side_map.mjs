// One of several maps of a page: land, and over it a release, or areas that are filled.

import { Choropleth, Paths } from "../modules/areas/choropleth.mjs";
import { backgroundLayers, readAtlas } from "../modules/background.mjs";
import { fittedMap } from "../modules/fitted_map.mjs";
import { CellsView } from "../modules/picture/cells_view.mjs";
import { Picture } from "../modules/picture/picture.mjs";
import { Labels } from "../modules/places/labels.mjs";
import { readPlaces } from "../modules/places/places.mjs";

export class SideMap {
  /**
   * `side` is "before" or "after", or which of many there is a picture of; null for areas that are filled. Without
   * controls there are no names of places, either.
   */
  constructor(element, facts, arrays, side, { controls = true } = {}) {
    const map = (this.map = fittedMap(element, facts, { controls }));
    Object.assign(this, { element, facts, arrays });
    const nothing = { land: [], coasts: [], borders: [] };
    this.background = backgroundLayers(map, facts.atlas ? readAtlas(facts.atlas, arrays) : nothing, []);
    element.classList.toggle("without-sea", !facts.atlas);
    map.createPane("areas").style.zIndex = 350;
    map.getPane("areas").style.pointerEvents = "none";
    this.areas = new Choropleth();
    this.paths = new Map();
    if (side) this.cells = new CellsView(map, { facts }, new Picture(facts.pictures[side], pictureOf(arrays, side)));
    if (facts.places && controls) this.labels = new Labels(map, readPlaces(facts.places, arrays));
    const [west, south, east, north] = facts.domain;
    L.rectangle([[south, west], [north, east]], { className: "frame", interactive: false, fill: false }).addTo(map);
    this.twin = L.circleMarker([south, west], { className: "twin", radius: 7, interactive: false, fill: false });
  }

  /** Draw in the colours of a theme: the picture of a release, and places over it. */
  draw({ level, fills, marked, dark }) {
    const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
    this.background.land.setStyle({ fillColor: colour("--land") });
    this.background.coasts.setStyle({ color: colour("--coast") });
    this.background.borders.setStyle({ color: colour("--border") });
    for (const layer of Object.values(this.background)) layer.addTo(this.map);
    this.drawCells(dark);
    if (!this.paths.has(level)) this.paths.set(level, new Paths(this.map, level.outlines));
    this.areas.look({
      paths: this.paths.get(level),
      fills: fills ?? [],
      border: this.cells ? "transparent" : colour(level.isGrid ? "--block-border" : "--area-border"),
      marked,
      mark: colour("--ink"), // blue is a colour of the scale
    });
    this.areas.addTo(this.map);
  }

  drawCells(dark) {
    if (!this.cells || this.drawnDark === dark) return;
    this.drawnDark = dark;
    this.legend = this.cells.shade(dark);
    if (this.map.hasLayer(this.cells.layer)) this.cells.layer.redraw();
    else this.cells.layer.addTo(this.map);
  }

  /** Look where another map looks. */
  follow(other) {
    this.map.setView(other.map.getCenter(), other.map.getZoom(), { animate: false });
  }

  /** Ring the place that the pointer is at on another map; null takes the ring away. */
  ring(place) {
    if (place) this.twin.setLatLng(place).addTo(this.map);
    else this.twin.remove();
  }

  /** Show all of a place that is not in sight. */
  reveal([west, south, east, north]) {
    const bounds = L.latLngBounds([south, west], [north, east]);
    if (!this.map.getBounds().contains(bounds)) this.map.fitBounds(bounds, { maxZoom: this.map.getZoom() });
  }
}

/** The arrays of one of the pictures, by the names that a page of one picture has. */
function pictureOf(arrays, side) {
  const names = Object.keys(arrays).filter((name) => name.startsWith(`${side}picture`));
  return Object.fromEntries(names.map((name) => [name.slice(side.length), arrays[name]]));
}
