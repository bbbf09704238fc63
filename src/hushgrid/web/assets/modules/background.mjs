// What lies under and over the cells: land, coastlines and borders, and the user's own lines.

/** Rings of land, coastlines and borders as lists of [lat, lng], from the arcs in the payload. */
export function readAtlas({ scale, translate }, arrays) {
  const arcs = [];
  let place = 0;
  for (const length of arrays.arcLengths) {
    let [x, y] = [0, 0];
    arcs.push(
      Array.from({ length }, () => {
        x += arrays.arcX[place];
        y += arrays.arcY[place++];
        return [translate[1] + y * scale[1], translate[0] + x * scale[0]];
      }),
    );
  }
  const rings = [];
  place = 0;
  for (const length of arrays.ringLengths) {
    const numbers = Array.from(arrays.ringArcs.subarray(place, place + length));
    rings.push(numbers.flatMap((arc) => (arc >= 0 ? arcs[arc] : [...arcs[-1 - arc]].reverse()).slice(1)));
    place += length;
  }
  return {
    land: rings.flatMap(unwrapped),
    coasts: arcs.filter((_, arc) => !arrays.arcBorders[arc]).flatMap(pieces),
    borders: arcs.filter((_, arc) => arrays.arcBorders[arc]).flatMap(pieces),
  };
}

/** A line in pieces that do not cross the 180th meridian. */
function pieces(line) {
  const found = [[line[0]]];
  for (let i = 1; i < line.length; i++) {
    if (Math.abs(line[i][1] - line[i - 1][1]) > 180) found.push([]);
    found.at(-1).push(line[i]);
  }
  return found;
}

/** A ring that crosses the 180th meridian as two, one on each side; one around a pole is closed through it. */
function unwrapped(ring) {
  let [turns, least, most] = [0, 0, 0];
  const whole = ring.map(([lat, lng], i) => {
    const step = lng - ring[i && i - 1][1];
    if (Math.abs(step) > 180) turns -= Math.sign(step);
    [least, most] = [Math.min(least, turns), Math.max(most, turns)];
    return [lat, lng + 360 * turns];
  });
  const [first, last] = [whole[0], whole.at(-1)];
  if (Math.abs(last[1] - first[1]) > 180) {
    const pole = first[0] < 0 ? -90 : 90;
    whole.push([pole, last[1]], [pole, first[1]]);
  }
  const shift = most > 0 ? -360 : least < 0 ? 360 : 0;
  return shift ? [whole, whole.map(([lat, lng]) => [lat, lng + shift])] : [whole];
}

/** Lines of an overlay; its areas are drawn by a layer of their own. */
export function readLines(lines) {
  return lines.map(({ line }) => line.map(([x, y]) => [y, x]));
}

/** Layers for Leaflet, each in a pane of its own: land below the cells, lines above them. */
export function backgroundLayers(map, { land, coasts, borders }, lines) {
  for (const [name, order] of [["land", 150], ["lines", 300]]) {
    map.createPane(name).style.zIndex = order;
    map.getPane(name).style.pointerEvents = "none";
  }
  const drawn = { land: L.canvas({ pane: "land", padding: 0.3 }), lines: L.canvas({ pane: "lines", padding: 0.3 }) };
  const line = { renderer: drawn.lines, interactive: false, smoothFactor: 1.2 };
  return {
    land: L.polygon(land, { ...line, renderer: drawn.land, stroke: false, fillOpacity: 1 }),
    coasts: L.polyline(coasts, { ...line, weight: 0.8 }),
    borders: L.polyline(borders, { ...line, weight: 0.8 }),
    lines: L.polyline(lines, { ...line, weight: 1.4 }),
  };
}
