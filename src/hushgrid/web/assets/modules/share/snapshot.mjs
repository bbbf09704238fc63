// The map as it is seen, painted on another canvas, pane by pane. Tiles from a server are left out: a canvas that holds
// them cannot be saved.

const SHARP = 2; // pixels a CSS pixel, at least
const HALO = 3; // CSS pixels around names
const DOT_RADIUS = 3; // CSS pixels

/** Pixels for each CSS pixel of a picture that is kept. */
export function sharpness() {
  return Math.max(SHARP, globalThis.devicePixelRatio || 1);
}

/** Paint the map on a canvas; its units are CSS pixels, from the map's upper left corner. */
export function paintMap(canvas, map) {
  const container = map.getContainer();
  const { x: width, y: height } = map.getSize();
  canvas.save();
  canvas.beginPath();
  canvas.rect(0, 0, width, height);
  canvas.clip();
  canvas.fillStyle = getComputedStyle(container).backgroundColor;
  canvas.fillRect(0, 0, width, height);
  drawnSharply(map, (tiles) => {
    for (const pane of panesOf(map)) paintPane(canvas, map, pane, tiles);
  });
  canvas.restore();
}

/** Panes from the lowest to the highest. */
function panesOf(map) {
  const order = (pane) => Number(getComputedStyle(pane).zIndex) || 0;
  const panes = Object.entries(map.getPanes()).filter(([name]) => name !== "mapPane");
  return panes.map(([, pane]) => pane).sort((one, other) => order(one) - order(other));
}

/** Call `paint` while canvases of the map are as sharp as those of a fine screen; it gets sharp copies of tiles. */
function drawnSharply(map, paint) {
  const fine = L.Browser.retina;
  const redraw = () => map.eachLayer((layer) => layer instanceof L.Canvas && layer._update());
  try {
    L.Browser.retina = true; // Leaflet asks this whenever it sizes a canvas
    redraw();
    paint(sharpTiles(map));
  } finally {
    L.Browser.retina = fine;
    if (!fine) redraw();
  }
}

/** For every tile of the picture one that is sharp. */
function sharpTiles(map) {
  const sharp = new Map();
  map.eachLayer((layer) => {
    if (!layer.picture) return;
    const size = layer.getTileSize().x;
    for (const { el, coords } of Object.values(layer._tiles)) {
      const tile = document.createElement("canvas");
      tile.width = tile.height = size * SHARP;
      layer.draw(tile, coords, size, SHARP);
      sharp.set(el, tile);
    }
  });
  return sharp;
}

function paintPane(canvas, map, pane, tiles) {
  const { left, top } = map.getContainer().getBoundingClientRect();
  for (const drawn of pane.querySelectorAll("canvas")) {
    const box = drawn.getBoundingClientRect();
    canvas.imageSmoothingEnabled = !tiles.has(drawn);
    canvas.drawImage(tiles.get(drawn) ?? drawn, box.left - left, box.top - top, box.width, box.height);
  }
  const { x, y } = map.layerPointToContainerPoint([0, 0]);
  canvas.save();
  canvas.translate(x, y);
  for (const path of pane.querySelectorAll("path")) paintPath(canvas, path);
  canvas.restore();
  for (const name of pane.querySelectorAll(".leaflet-marker-icon")) paintName(canvas, name, left, top);
}

/** A path of SVG, as the style of the page has it. */
function paintPath(canvas, path) {
  const style = getComputedStyle(path);
  const line = new Path2D(path.getAttribute("d"));
  if (style.fill !== "none") {
    Object.assign(canvas, { fillStyle: style.fill, globalAlpha: Number(style.fillOpacity) });
    canvas.fill(line, style.fillRule);
  }
  if (style.stroke !== "none") {
    const width = parseFloat(style.strokeWidth);
    Object.assign(canvas, { strokeStyle: style.stroke, lineWidth: width, globalAlpha: Number(style.strokeOpacity) });
    canvas.setLineDash((style.strokeDasharray.match(/[\d.]+/g) ?? []).map(Number));
    canvas.stroke(line);
    canvas.setLineDash([]);
  }
  canvas.globalAlpha = 1;
}

/** A name on the map beside the dot of its place, with a halo so that it can be read on any ground. */
function paintName(canvas, element, left, top) {
  const text = element.firstElementChild ?? element;
  const style = getComputedStyle(text);
  const range = document.createRange();
  range.selectNodeContents(text);
  const [dot, box] = [element.getBoundingClientRect(), range.getBoundingClientRect()];
  Object.assign(canvas, { font: fontOf(style), textBaseline: "middle", lineJoin: "round", lineWidth: HALO });
  Object.assign(canvas, { fillStyle: style.color, strokeStyle: variable("--paper") });
  canvas.beginPath();
  canvas.arc(dot.left - left, dot.top - top, DOT_RADIUS, 0, 2 * Math.PI);
  canvas.stroke();
  canvas.fill();
  const place = [element.textContent, box.left - left, (box.top + box.bottom) / 2 - top];
  canvas.strokeText(...place);
  canvas.fillText(...place);
}

/** A colour of the page's theme. */
export function variable(name) {
  return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
}

/** The font of a style as canvases have it. */
export function fontOf({ fontWeight, fontSize, fontFamily }) {
  return `${fontWeight} ${fontSize} ${fontFamily}`;
}
