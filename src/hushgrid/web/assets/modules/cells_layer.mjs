// The cells as tiles of a map: every pixel is looked up, so that a tile costs the same however many cells there are.

const SHARPEST = 2; // pixels a CSS pixel on fine screens

/** A layer of Leaflet; `pixels` gives the colour of each cell and may change. */
export function cellsLayer(release, map, pixels) {
  const layer = new CellsLayer({ noWrap: true, updateWhenZooming: false, keepBuffer: 1, className: "cells" });
  return Object.assign(layer, { release, map, pixels });
}

const CellsLayer = L.GridLayer.extend({
  createTile(coords) {
    const ratio = Math.min(Math.ceil(globalThis.devicePixelRatio || 1), SHARPEST);
    const size = this.getTileSize().x;
    const tile = document.createElement("canvas");
    tile.width = tile.height = size * ratio;
    this.draw(tile, coords, size, ratio);
    return tile;
  },

  draw(tile, coords, size, ratio) {
    const { release } = this;
    const [west, south, east, north] = release.facts.domain;
    const xs = this.places(size, ratio, (pixel) => this.place(coords, size, pixel, 0).lng);
    const ys = this.places(size, ratio, (pixel) => this.place(coords, size, 0, pixel).lat);
    const [left, right] = inside(xs, (x) => west <= x && x < east);
    const [top, bottom] = inside(ys, (y) => south <= y && y < north);
    if (left >= right || top >= bottom) return;
    const [width, height] = [right - left, bottom - top];
    const cells = new Int32Array(width * height);
    release.surface.paint(
      Float64Array.from(xs.slice(left, right), (x) => release.toX(x)),
      Float64Array.from(ys.slice(top, bottom), (y) => release.toY(y)),
      cells,
    );
    const image = new ImageData(width, height);
    const out = new Uint32Array(image.data.buffer);
    for (let i = 0; i < out.length; i++) out[i] = this.pixels[cells[i]];
    tile.getContext("2d").putImageData(image, left, top);
  },

  places(size, ratio, at) {
    return Array.from({ length: size * ratio }, (_, pixel) => at((pixel + 0.5) / ratio));
  },

  place(coords, size, x, y) {
    return this.map.unproject([coords.x * size + x, coords.y * size + y], coords.z);
  },
});

/** First and end of the values that pass a test; they do so in one run. */
function inside(values, test) {
  const first = values.findIndex(test);
  return first < 0 ? [0, 0] : [first, values.findLastIndex(test) + 1];
}
