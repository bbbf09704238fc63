// Areas as files: CSV and GeoJSON, made in the page and saved by the browser.

const NUMBERS = ["estimate", "low", "high"];

/** Text as a field of CSV; an apostrophe before what spreadsheets may take for a formula, as in Python's exports. */
export function csvField(value) {
  const start = value.normalize("NFKC").trimStart();
  const safe = /^[=+\-@']/.test(start) || /^[\t\r\n]/.test(value) ? `'${value}` : value;
  return /[",\n\r]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

/** Areas of a level in the order given, at full precision. */
export function areasCsv({ names, answers }, areas, { simulation }) {
  const mark = simulation ? "simulated_" : "";
  const header = ["name", ...NUMBERS.map((name) => mark + name), "usable"];
  const lines = areas.map((area) => {
    const answer = answers[area];
    return [csvField(names[area]), ...NUMBERS.map((name) => String(answer[name])), answer.usable].join(",");
  });
  return [header.join(","), ...lines, ""].join("\n");
}

/** The same with outlines (RFC 7946). A system other than degrees is named, as GDAL reads and writes it. */
export function areasGeojson(level, areas, { about, confidence, geographic, crs }) {
  const features = areas.map((area) => ({
    type: "Feature",
    properties: { name: level.names[area], level: level.name, ...level.answers[area] },
    geometry: { type: "MultiPolygon", coordinates: level.outlines.polygons(area).map(closed) },
  }));
  const system = geographic ? {} : { crs: { type: "name", properties: { name: crs } } };
  const collection = { type: "FeatureCollection", ...system, hushgrid: { ...about, confidence: String(confidence) } };
  return JSON.stringify({ ...collection, features });
}

/** A polygon whose rings end where they begin, the outer one against the clock. */
function closed(rings) {
  return rings.map((ring, hole) => {
    const turn = ring.reduce((sum, [x, y], i) => {
      const [x0, y0] = ring.at(i - 1);
      return sum + (x - x0) * (y + y0 - 2 * ring[0][1]);
    }, 0);
    const turned = turn < 0 === (hole === 0) ? ring : [...ring].reverse();
    return [...turned, turned[0]];
  });
}

/** Let the browser save a text. */
export function save(text, name, type) {
  const address = URL.createObjectURL(new Blob([text], { type }));
  Object.assign(document.createElement("a"), { href: address, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(address), 10_000);
}
