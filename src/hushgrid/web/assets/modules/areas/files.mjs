// Areas as files: CSV and GeoJSON.

import { csvField, featureOf, geojsonText, numberColumns } from "../saving.mjs";

const NUMBERS = ["estimate", "low", "high"];

/** Areas of a level in the order given, at full precision; of a `slice` where there are some. */
export function areasCsv({ names, answers }, areas, facts, slice = null) {
  const of = slice === null ? [] : [csvField(slice)];
  const header = [...of.map(() => "slice"), "name", ...numberColumns(NUMBERS, facts), "usable"];
  const lines = areas.map((area) => {
    const answer = answers[area];
    return [...of, csvField(names[area]), ...NUMBERS.map((name) => String(answer[name])), answer.usable].join(",");
  });
  return [header.join(","), ...lines, ""].join("\n");
}

/** The same with outlines. */
export function areasGeojson(level, areas, facts, slice = null) {
  const [{ answers }, of] = [level, slice === null ? {} : { slice }];
  const features = areas.map((area) => {
    const properties = { ...of, name: level.names[area], level: level.name, ...answers[area] };
    return featureOf(level.outlines.polygons(area), properties);
  });
  return geojsonText(features, facts);
}
