// Names on the map: as many as fit without touching, the largest places first, more of them the closer one looks.

// Of places by population: the size of their letters, and the CSS pixels kept free around them. Small places are named
// where there is much room.
const LETTERING = [
  { from: 1e6, size: 15, weight: 650, room: { x: 18, y: 14 } },
  { from: 1e5, size: 13, weight: 600, room: { x: 28, y: 22 } },
  { from: 0, size: 12, weight: 500, room: { x: 56, y: 40 } },
];
const NAME_OFFSET = 8; // CSS pixels from the middle of a place to its name
const SQUARE_SIDE = 256; // CSS pixels; labels are compared with those in the same squares alone
const AHEAD = 0.25; // of the map's sides, so that names are there before one has moved

/** Keeps the names of places on a map; `shown` are the labels of the moment. */
export class Labels {
  constructor(map, places) {
    Object.assign(this, { map, markers: new Map(), placed: null });
    const pane = map.createPane("labels");
    pane.style.zIndex = 375;
    pane.setAttribute("aria-hidden", "true");
    this.labels = withSizes(places, map.getContainer());
    map.on("moveend viewreset resize", () => this.update());
    this.update();
  }

  /** Show the names of what is in sight, and of a little around it. */
  update() {
    const { map } = this;
    const zoom = map.getZoom();
    if (this.placed?.zoom !== zoom) {
      this.clear();
      this.placed = { zoom, labels: withoutOverlap(this.labels, (at) => map.project(at, zoom)) };
    }
    const sight = map.getBounds().pad(AHEAD);
    for (const label of this.placed.labels) {
      const seen = sight.contains(label.place.at);
      if (seen && !this.markers.has(label)) this.markers.set(label, labelMarker(label).addTo(map));
      else if (!seen && this.markers.has(label)) this.remove(label);
    }
  }

  get shown() {
    return [...this.markers.keys()];
  }

  remove(label) {
    this.markers.get(label).remove();
    this.markers.delete(label);
  }

  clear() {
    for (const label of this.shown) this.remove(label);
  }
}

/** Places with the size of their names on the screen. */
function withSizes(places, container) {
  const ruler = document.createElement("canvas").getContext("2d");
  const { fontFamily } = getComputedStyle(container);
  return places.map((place) => {
    const rank = LETTERING.findIndex(({ from }) => place.population >= from);
    const { size, weight } = LETTERING[rank];
    ruler.font = `${weight} ${size}px ${fontFamily}`;
    return { place, rank, width: NAME_OFFSET + ruler.measureText(place.name).width, height: 1.3 * size };
  });
}

/** Labels that keep clear of all larger ones. It does not depend on where one looks, so names stay while one moves. */
function withoutOverlap(labels, project) {
  const taken = new Map();
  const kept = [];
  for (const label of labels) {
    const box = boxOf(label, project(label.place.at));
    const roomy = widened(box, LETTERING[label.rank].room);
    if (squaresOf(roomy).some((square) => taken.get(square)?.some((other) => overlap(roomy, other)))) continue;
    for (const square of squaresOf(box)) taken.set(square, [...(taken.get(square) ?? []), box]);
    kept.push(label);
  }
  return kept;
}

function boxOf({ width, height }, { x, y }) {
  return { left: x - NAME_OFFSET / 2, right: x + width, top: y - height / 2, bottom: y + height / 2 };
}

function widened({ left, right, top, bottom }, { x, y }) {
  return { left: left - x, right: right + x, top: top - y, bottom: bottom + y };
}

/** Keys of the squares that a box lies in. */
function squaresOf({ left, right, top, bottom }) {
  const keys = [];
  for (let x = Math.floor(left / SQUARE_SIDE); x <= right / SQUARE_SIDE; x++) {
    for (let y = Math.floor(top / SQUARE_SIDE); y <= bottom / SQUARE_SIDE; y++) keys.push(`${x}:${y}`);
  }
  return keys;
}

function overlap(one, other) {
  return one.left < other.right && other.left < one.right && one.top < other.bottom && other.top < one.bottom;
}

function labelMarker({ place, rank }) {
  const text = document.createElement("span");
  text.textContent = place.name;
  const icon = L.divIcon({ className: `label rank-${rank}`, html: text, iconSize: null });
  return L.marker(place.at, { icon, pane: "labels", interactive: false, keyboard: false });
}
