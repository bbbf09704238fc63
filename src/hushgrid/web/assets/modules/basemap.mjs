// A background of tiles from a server that the map's maker named.

const FINEST_TILES = 19; // zoom of the world; beyond it, tiles are enlarged
const TILED = [[-85.05, -179.999], [85.05, 179.999]]; // a hair less, so that no tile beyond its edges is asked for

/** Tiles below everything else, and in a corner the credit they ask for. */
export function addBasemap(map, { url, credit }) {
  map.createPane("basemap").style.zIndex = 100;
  map.getContainer().classList.add("with-basemap");
  const zoomOffset = Math.log2(map.options.crs.scale(0) / L.CRS.EPSG3857.scale(0));
  const options = { zoomOffset, minZoom: -Infinity, maxZoom: Infinity, bounds: TILED, pane: "basemap" };
  new WorldTiles(url, options).addTo(map);
  const corner = L.control({ position: "bottomright" });
  corner.onAdd = () => Object.assign(document.createElement("div"), { className: "credit", textContent: credit });
  corner.addTo(map);
}

/** Tiles of the whole zoom that is nearest: zoom 0 of the map fits the domain, and is mostly between two of them. */
const WorldTiles = L.TileLayer.extend({
  _clampZoom(zoom) {
    const { zoomOffset } = this.options;
    return Math.min(Math.max(Math.round(zoom + zoomOffset), 0), FINEST_TILES) - zoomOffset;
  },

  _getZoomForUrl() {
    return Math.round(this._tileZoom + this.options.zoomOffset);
  },
});
