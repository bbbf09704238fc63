// Files that the page makes and the browser saves: their names, fields of CSV, and GeoJSON.

/** Text as a field of CSV; an apostrophe before what spreadsheets may take for a formula, as in Python's exports. */
export function csvField(value) {
  const start = value.normalize("NFKC").trimStart();
  const safe = /^[=+\-@']/.test(start) || /^[\t\r\n]/.test(value) ? `'${value}` : value;
  return /[",\n\r]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

/** Names of columns of numbers; those of a simulation say so. */
export function numberColumns(names, { simulation }) {
  return simulation ? names.map((name) => `simulated_${name}`) : names;
}

/**
 * Features as GeoJSON (RFC 7946) that says what release they come from. A system other than degrees is named, as GDAL
 * reads and writes it.
 */
export function geojsonText(features, { about, confidence, geographic, crs }) {
  const system = geographic ? {} : { crs: { type: "name", properties: { name: crs } } };
  const collection = { type: "FeatureCollection", ...system, hushgrid: { ...about, confidence: String(confidence) } };
  return JSON.stringify({ ...collection, features });
}

/** A feature of polygons, each an outline and then its holes. */
export function featureOf(polygons, properties) {
  return { type: "Feature", properties, geometry: { type: "MultiPolygon", coordinates: polygons.map(closed) } };
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

/** The name of a file after the title of the page and what the file holds, such as `Trips-queries.csv`. */
export function fileName(what, ending) {
  return `${safeName(document.title) || "map"}-${safeName(what) || "areas"}.${ending}`;
}

function safeName(text) {
  return text.replace(/[^\p{L}\p{N}_-]+/gu, "-").replace(/^-+|-+$/g, "").slice(0, 60);
}

/** Let the browser save a text or the bytes of a picture. */
export function save(content, name, type) {
  const address = URL.createObjectURL(new Blob([content], { type }));
  Object.assign(document.createElement("a"), { href: address, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(address), 10_000);
}
