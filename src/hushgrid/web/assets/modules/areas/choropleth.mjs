// Areas on the map, filled by what they hold: one canvas, however many areas there are.

const CLOSE = 0.7; // CSS pixels: vertices nearer to the last one are left out
const ROOMY = 14; // CSS pixels across the middle one of all areas, from which on borders have their full width
const PADDING = 0.2; // of the screen, drawn around it

/** Outlines on the plane of a map: paths of areas, kept as long as the zoom stays. */
export class Paths {
  constructor(map, outlines) {
    const flat = (x, y) => map.project([y, x], 0);
    Object.assign(this, { map, outlines, paths: [] });
    this.xs = new Float64Array(outlines.xs.length);
    this.ys = new Float64Array(outlines.xs.length);
    for (let i = 0; i < this.xs.length; i++) {
      const { x, y } = flat(outlines.xs[i], outlines.ys[i]);
      [this.xs[i], this.ys[i]] = [x, y];
    }
    this.boxes = outlines.extents.map(([west, south, east, north]) => [flat(west, north), flat(east, south)]);
  }

  /** The areas that can be seen in a box of pixels of the map. */
  within({ min, max }) {
    this.scale = this.map.getZoomScale(this.map.getZoom(), 0);
    if (this.drawnAt !== this.scale) [this.paths, this.drawnAt] = [[], this.scale];
    const seen = [];
    this.boxes.forEach(([low, high], area) => {
      const across = high.x * this.scale >= min.x && low.x * this.scale <= max.x;
      if (across && high.y * this.scale >= min.y && low.y * this.scale <= max.y) seen.push(area);
    });
    return seen;
  }

  /** How much room there is for borders, up to 1: with less, they would hide what they enclose. */
  room(areas) {
    const across = areas.map((area) => (this.boxes[area][1].x - this.boxes[area][0].x) * this.scale);
    const usual = across.sort((one, other) => one - other)[across.length >> 1];
    return Math.min(Math.max(usual / ROOMY, 0.3), 1);
  }

  /** The path of an area, in pixels of the map. */
  path(area) {
    return (this.paths[area] ??= this.trace(area));
  }

  /** All rings of an area, without vertices that cannot be told apart. */
  trace(area) {
    const { scale, outlines } = this;
    const path = new Path2D();
    const [first, stop] = outlines.rings(area);
    for (let ring = first; ring < stop; ring++) {
      let [x0, y0] = [Infinity, Infinity];
      const start = outlines.ringStarts[ring];
      for (let i = start; i < outlines.ringStarts[ring + 1]; i++) {
        const [x, y] = [this.xs[i] * scale, this.ys[i] * scale];
        if (Math.abs(x - x0) < CLOSE && Math.abs(y - y0) < CLOSE) continue;
        if (i === start) path.moveTo(x, y);
        else path.lineTo(x, y);
        [x0, y0] = [x, y];
      }
      path.closePath();
    }
    return path;
  }
}

/** A layer of Leaflet that draws areas. */
export const Choropleth = L.Canvas.extend({
  options: { padding: PADDING, interactive: false, pane: "areas" },

  /**
   * What to draw: `paths` of areas and of those `above` them, which have heavier borders; `fills`, a colour for each
   * area, or null for outlines alone; and the areas that are `marked`.
   */
  look(drawn) {
    this.drawn = drawn;
    if (this._map) this.draw();
  },

  _update() {
    L.Canvas.prototype._update.call(this);
    if (!this._map._animatingZoom) this.draw();
  },

  draw() {
    const { _ctx: canvas, _bounds: bounds, _map: map } = this;
    const { paths, above, fills, marked, border, mark } = this.drawn;
    const origin = map.getPixelOrigin();
    canvas.clearRect(bounds.min.x, bounds.min.y, bounds.getSize().x, bounds.getSize().y);
    canvas.save();
    canvas.translate(-origin.x, -origin.y); // paths are in pixels of the map, and the canvas in those of the layer
    canvas.lineJoin = "round";
    const box = { min: bounds.min.add(origin), max: bounds.max.add(origin) };
    const seen = paths.within(box);
    if (fills) fill(canvas, paths, seen, fills);
    stroke(canvas, paths, seen, border, (fills ? 0.6 : 1.2) * paths.room(seen));
    if (above) stroke(canvas, above, above.within(box), border, 1.6);
    stroke(canvas, paths, marked, mark, 3);
    canvas.restore();
  },
});

function fill(canvas, paths, areas, fills) {
  for (const area of areas) {
    if (!fills[area]) continue;
    canvas.fillStyle = fills[area];
    canvas.fill(paths.path(area), "evenodd");
  }
}

// Area by area: one path for all of them takes several times as long.
function stroke(canvas, paths, areas, colour, width) {
  Object.assign(canvas, { strokeStyle: colour, lineWidth: width });
  for (const area of areas) canvas.stroke(paths.path(area));
}
