// A polygon of Leaflet whose corners keep their fractions of a pixel: with many on an edge, whole pixels look ragged.

export const FinePolygon = L.Polygon.extend({
  _projectLatlngs(places, rings, bounds) {
    if (!(places[0] instanceof L.LatLng)) {
      for (const part of places) this._projectLatlngs(part, rings, bounds);
      return;
    }
    const origin = this._map.getPixelOrigin();
    const ring = places.map((place) => this._map.project(place).subtract(origin));
    ring.forEach((point) => bounds.extend(point));
    rings.push(ring);
  },
});
