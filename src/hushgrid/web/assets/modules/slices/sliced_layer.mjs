// The layer of a picture of slices: tiles are repainted where they are, and those of the slice to come beforehand, so
// that slices can be played.

import { BUDGET, PictureLayer, pictureOptions } from "../picture/picture_layer.mjs";

const MOST = 96e6; // bytes of tiles that are kept

/** A layer of Leaflet for a `SlicedPicture`. */
export function slicedLayer(picture, domain, map) {
  const own = { picture, domain, map, colours: null, waiting: [], kept: new Map(), bytes: 0, coming: [] };
  return Object.assign(new SlicedLayer(pictureOptions), own);
}

const SlicedLayer = PictureLayer.extend({
  /** The pixels of a tile, kept for as long as there is room. */
  image(coords, size, ratio, picture = this.picture) {
    const key = [coords.z, coords.x, coords.y, ratio, ...picture.chosen].join(",");
    const known = this.kept.get(key);
    this.kept.delete(key);
    const made = known ?? PictureLayer.prototype.image.call(this, coords, size, ratio, picture);
    this.kept.set(key, made); // the latest last
    if (known === undefined) this.bytes += bytesOf(made);
    for (const [oldest, image] of this.kept) {
      if (this.bytes <= MOST || oldest === key) break;
      this.kept.delete(oldest);
      this.bytes -= bytesOf(image);
    }
    return made;
  },

  /** Forget all pixels: colours have changed. */
  forget() {
    this.kept.clear();
    this.bytes = 0;
  },

  /** Show another choice of slices, all tiles at once. */
  show(picture) {
    this.picture = picture;
    for (const { tile, coords, size, ratio } of this.drawn()) this.draw(tile, coords, size, ratio);
  },

  /** Make the pixels of a choice that is about to be shown, a few milliseconds of every frame. */
  prepare(picture) {
    const running = this.coming.length > 0;
    this.coming = this.drawn().map((each) => ({ ...each, picture }));
    if (!running) requestAnimationFrame(() => this.prepareSome());
  },

  prepareSome() {
    const end = performance.now() + BUDGET;
    while (this.coming.length && performance.now() < end) {
      const { coords, size, ratio, picture } = this.coming.shift();
      this.image(coords, size, ratio, picture);
    }
    if (this.coming.length) requestAnimationFrame(() => this.prepareSome());
  },

  /** Tiles that are on the map. */
  drawn() {
    const size = this.getTileSize().x;
    const tiles = Object.values(this._tiles).filter(({ current }) => current);
    return tiles.map(({ el: tile, coords }) => ({ tile, coords, size, ratio: tile.width / size }));
  },
});

function bytesOf(made) {
  return made ? made.image.data.length : 0;
}
