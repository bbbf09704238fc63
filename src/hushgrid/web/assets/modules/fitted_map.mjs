// The map: longitude and latitude by Mercator's projection, other coordinates as they are.

export const MARGIN = 20; // CSS pixels around the domain
const NARROW_MARGIN = 4; // on a map without controls

const FARTHEST_OUT = -2; // zoom 0 shows the whole domain
const CLOSEST = 16;
const WORLD = 256; // pixels of the world's sides at Mercator's zoom 0

const HOUSE = '<svg viewBox="0 0 20 20" aria-hidden="true"><path d="M3 10 10 4l7 6M5 9v7h10V9"/></svg>';

/**
 * A map whose zoom 0 shows the whole domain: there are no tiles of the world to fit to, so the scale is free. Without
 * controls it is moved by mouse or finger alone.
 */
export function fittedMap(element, facts, { controls = true } = {}) {
  const [west, south, east, north] = facts.domain;
  const plain = facts.geographic ? L.CRS.EPSG3857 : L.CRS.Simple;
  const [one, other] = [plain.latLngToPoint(L.latLng(south, west), 0), plain.latLngToPoint(L.latLng(north, east), 0)];
  const margin = controls ? MARGIN : NARROW_MARGIN;
  const least = controls ? 100 : 20;
  const fit = Math.min(
    Math.max(element.clientWidth - 2 * margin, least) / Math.abs(one.x - other.x),
    Math.max(element.clientHeight - 2 * margin, least) / Math.abs(one.y - other.y),
  );
  const crs = L.extend({}, plain, {
    infinite: true,
    wrapLng: undefined,
    scale: (zoom) => fit * plain.scale(zoom),
    zoom: (scale) => plain.zoom(scale / fit),
  });
  const middle = plain.pointToLatLng(one.add(other).divideBy(2), 0);
  const options = { crs, minZoom: FARTHEST_OUT, maxZoom: CLOSEST, attributionControl: false, maxBoundsViscosity: 0.8 };
  const hands = { zoomControl: controls, keyboard: controls, zoomAnimation: controls };
  const map = L.map(element, { ...options, ...hands }).setView(middle, 0, { animate: false });
  map.setMaxBounds(boundsAround(one, other, plain));
  if (!controls) return map;
  addHome(map, () => map.setView(middle, 0));
  if (facts.geographic) L.control.scale({ position: "bottomright", imperial: false }).addTo(map);
  return map;
}

/**
 * The domain and its size around it, alike to all sides of its middle: a map that shows more than this is moved so that
 * their middles meet. Mercator's projection ends near the poles, so there may be less in the north and south.
 */
function boundsAround(one, other, crs) {
  const size = other.subtract(one);
  const room = crs === L.CRS.EPSG3857 ? Math.min(other.y, WORLD - one.y) : Infinity;
  const reach = L.point(size.x, Math.max(size.y, -Math.max(room, 0)));
  return L.latLngBounds(crs.pointToLatLng(one.subtract(reach), 0), crs.pointToLatLng(other.add(reach), 0));
}

/** A button below those of the zoom that shows the whole domain again. */
function addHome(map, go) {
  const button = L.DomUtil.create("a", "home", map.zoomControl.getContainer());
  Object.assign(button, { href: "#", title: "Show everything", innerHTML: HOUSE });
  button.setAttribute("role", "button");
  button.setAttribute("aria-label", button.title);
  L.DomEvent.on(button, "click", L.DomEvent.stop).on(button, "click", go);
}
