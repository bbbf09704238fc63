// Areas as files: CSV and GeoJSON.

import { csvField, featureOf, geojsonText, numberColumns } from "../saving.mjs";

const NUMBERS = ["estimate", "low", "high"];

/** Areas of a level in the order given, at full precision. */
export function areasCsv({ names, answers }, areas, facts) {
  const header = ["name", ...numberColumns(NUMBERS, facts), "usable"];
  const lines = areas.map((area) => {
    const answer = answers[area];
    return [csvField(names[area]), ...NUMBERS.map((name) => String(answer[name])), answer.usable].join(",");
  });
  return [header.join(","), ...lines, ""].join("\n");
}

/** The same with outlines. */
export function areasGeojson(level, areas, facts) {
  const features = areas.map((area) => {
    const properties = { name: level.names[area], level: level.name, ...level.answers[area] };
    return featureOf(level.outlines.polygons(area), properties);
  });
  return geojsonText(features, facts);
}
