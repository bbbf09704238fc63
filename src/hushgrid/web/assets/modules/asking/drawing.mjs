// Drawing a rectangle or a polygon, by mouse, pen or finger.

const NEAR = 14; // CSS pixels: so close to the first corner a tap closes the polygon
const SMALLEST = 4; // CSS pixels: a shorter drag is a slip

/**
 * Drawing on a map. `drawn(kind, ring)` gets the corners; `changed(mode, corners)` is told the mode ("box", "polygon"
 * or null) and how many corners there are.
 */
export class Drawing {
  constructor(map, { drawn, changed }) {
    Object.assign(this, { map, drawn, changed, mode: null, corners: [], sketch: L.layerGroup().addTo(map) });
    const container = map.getContainer();
    container.addEventListener("pointerdown", (event) => this.press(event));
    container.addEventListener("pointermove", (event) => this.move(event));
    container.addEventListener("pointerup", (event) => this.release(event));
    container.addEventListener("pointercancel", () => this.mode === "box" && this.start("box"));
    document.addEventListener("keydown", (event) => this.key(event));
  }

  /** Begin to draw, or stop with null. */
  start(mode) {
    this.mode = mode;
    this.corners = [];
    this.from = null;
    this.sketch.clearLayers();
    const [drag, dblclick] = [this.map.dragging, this.map.doubleClickZoom];
    if (mode === "box") drag.disable();
    else drag.enable();
    if (mode) dblclick.disable();
    else dblclick.enable();
    this.map.getContainer().classList.toggle("drawing", mode !== null);
    this.changed(mode, 0);
  }

  /** Close the polygon. */
  finish() {
    if (this.mode !== "polygon" || this.corners.length < 3) return;
    const ring = this.corners.map(({ lng, lat }) => [lng, lat]);
    this.start(null);
    this.drawn("polygon", ring);
  }

  /** Take back the last corner. */
  undo() {
    this.corners.pop();
    this.show();
  }

  press(event) {
    if (!this.mode || !event.isPrimary || event.button !== 0 || event.target.closest(".leaflet-control, .card")) return;
    this.from = this.map.mouseEventToContainerPoint(event);
    if (this.mode === "box") this.map.getContainer().setPointerCapture(event.pointerId);
  }

  move(event) {
    if (!this.mode || !event.isPrimary) return;
    const here = this.map.mouseEventToContainerPoint(event);
    if (this.mode === "box" && this.from) this.show(boxRing(this.place(this.from), this.place(here)));
    const follows = this.corners.length > 0 && event.pointerType === "mouse";
    if (this.mode === "polygon" && follows) this.show(null, this.place(here));
  }

  release(event) {
    if (!this.mode || !this.from || !event.isPrimary) return;
    const [from, to] = [this.from, this.map.mouseEventToContainerPoint(event)];
    this.from = null;
    const far = Math.max(Math.abs(to.x - from.x), Math.abs(to.y - from.y));
    if (this.mode === "polygon") {
      if (far < NEAR) this.add(to);
    } else if (far < SMALLEST) {
      this.show([]);
    } else {
      const ring = boxRing(this.place(from), this.place(to));
      this.start(null);
      this.drawn("box", ring);
    }
  }

  /** Add a corner, or close the polygon where the first or the last one is tapped again. */
  add(point) {
    const isAt = (corner) => corner && this.map.latLngToContainerPoint(corner).distanceTo(point) < NEAR;
    if (this.corners.length > 2 && (isAt(this.corners[0]) || isAt(this.corners.at(-1)))) {
      this.finish();
    } else if (!isAt(this.corners.at(-1))) {
      this.corners.push(this.place(point));
      this.show();
    }
  }

  key(event) {
    if (!this.mode || event.target.matches("input, select, textarea")) return;
    if (event.key === "Escape") this.start(null);
    else if (event.key === "Enter" && !event.target.matches("button")) this.finish();
    else if (event.key === "Backspace") this.undo();
    else return;
    event.preventDefault();
  }

  /** Coordinates of a point on the screen, with no more decimals than a pixel can tell apart. */
  place(point) {
    const [here, next] = [point, point.add([1, 1])].map((each) => this.map.containerPointToLatLng(each));
    const pixel = Math.min(Math.abs(next.lng - here.lng), Math.abs(next.lat - here.lat));
    const decimals = Math.min(Math.max(Math.ceil(-Math.log10(pixel)), 0), 12);
    return L.latLng(Number(here.lat.toFixed(decimals)), Number(here.lng.toFixed(decimals)));
  }

  show(box = null, next = null) {
    this.sketch.clearLayers();
    const style = { className: "sketch", interactive: false };
    if (box?.length) L.polygon(box.map(([x, y]) => [y, x]), style).addTo(this.sketch);
    if (this.corners.length) L.polyline(next ? [...this.corners, next] : this.corners, style).addTo(this.sketch);
    const dot = { ...style, radius: 5, className: "corner" };
    for (const corner of this.corners) L.circleMarker(corner, dot).addTo(this.sketch);
    this.changed(this.mode, this.corners.length);
  }
}

function boxRing(one, other) {
  const [west, east] = [Math.min(one.lng, other.lng), Math.max(one.lng, other.lng)];
  const [south, north] = [Math.min(one.lat, other.lat), Math.max(one.lat, other.lat)];
  return [[west, south], [east, south], [east, north], [west, north]];
}
