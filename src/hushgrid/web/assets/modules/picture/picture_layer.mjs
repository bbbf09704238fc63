// The picture of a release as tiles of a map: every pixel is looked up, so that a tile costs the same at every zoom.

const SHARPEST = 2; // pixels a CSS pixel on fine screens
export const BUDGET = 6; // milliseconds of a frame for tiles, so that the map moves smoothly; the others wait for the next one

export const pictureOptions = {
  noWrap: true,
  minZoom: -Infinity,
  updateWhenZooming: false,
  keepBuffer: 1,
  className: "cells",
};

/** A layer of Leaflet; `colours` turns densities and layers of blocks into pixels, and may change. */
export function pictureLayer(picture, domain, map) {
  return Object.assign(new PictureLayer(pictureOptions), { picture, domain, map, colours: null, waiting: [] });
}

export const PictureLayer = L.GridLayer.extend({
  createTile(coords, done) {
    const ratio = Math.min(Math.ceil(globalThis.devicePixelRatio || 1), SHARPEST);
    const size = this.getTileSize().x;
    const tile = document.createElement("canvas");
    tile.width = tile.height = size * ratio;
    if (!this.waiting.length) requestAnimationFrame(() => this.drawWaiting());
    this.waiting.push({ tile, coords, size, ratio, done });
    return tile;
  },

  /** Draw tiles that wait, for as long as a frame allows; those that have left the map meanwhile are skipped. */
  drawWaiting() {
    const end = performance.now() + BUDGET;
    do {
      const { tile, coords, size, ratio, done } = this.waiting.shift();
      if (!tile.parentNode) continue;
      this.draw(tile, coords, size, ratio);
      done(null, tile);
    } while (this.waiting.length && performance.now() < end);
    if (this.waiting.length) requestAnimationFrame(() => this.drawWaiting());
  },

  draw(tile, coords, size, ratio) {
    const made = this.image(coords, size, ratio);
    if (made) tile.getContext("2d").putImageData(made.image, made.left, made.top);
  },

  /** The pixels of a tile, and where on it they begin; null outside the domain. */
  image(coords, size, ratio, picture = this.picture) {
    const [west, south, east, north] = this.domain;
    const place = (x, y) => this.map.unproject([coords.x * size + x, coords.y * size + y], coords.z);
    const pixels = Array.from({ length: size * ratio }, (_, pixel) => (pixel + 0.5) / ratio);
    const xs = pixels.map((pixel) => (place(pixel, 0).lng - west) / (east - west));
    const ys = pixels.map((pixel) => (place(0, pixel).lat - south) / (north - south));
    const [first, stop] = inside(xs);
    const [top, bottom] = inside(ys);
    if (first >= stop || top >= bottom) return null;
    const level = picture.levelFor((size * ratio) / Math.abs(xs[xs.length - 1] - xs[0]));
    const [wide, high] = [picture.columns * 2 ** level, picture.rows * 2 ** level];
    const columns = xs.slice(first, stop).map((x) => Math.floor(x * wide));
    const rows = ys.slice(top, bottom).map((y) => Math.floor(y * high));
    const window = { left: columns[0], bottom: rows.at(-1), right: columns.at(-1) + 1, top: rows[0] + 1 };
    const blocks = this.colours(picture, level, window);
    const image = new ImageData(columns.length, rows.length);
    const out = new Uint32Array(image.data.buffer);
    let pixel = 0;
    for (const row of rows) {
      const start = (row - window.bottom) * (window.right - window.left) - window.left;
      for (const column of columns) out[pixel++] = blocks[start + column];
    }
    return { image, left: first, top };
  },
});

/** First and end of the shares that lie in the domain; they do so in one run. */
function inside(shares) {
  const first = shares.findIndex((share) => share >= 0 && share < 1);
  return first < 0 ? [0, 0] : [first, shares.findLastIndex((share) => share >= 0 && share < 1) + 1];
}
