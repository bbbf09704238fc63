// What the script of a page says of its areas: `node areas.mjs MODULES`, a job on standard input, answers on standard
// output, both as JSON.

import { readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";

const modules = `${pathToFileURL(process.argv[2])}/`;
const { releaseLevels } = await import(`${modules}areas/levels.mjs`);
const { areasCsv, areasGeojson } = await import(`${modules}areas/files.mjs`);
const { Axes } = await import(`${modules}slices/axes.mjs`);
const { readArrays, unpack } = await import(`${modules}payload.mjs`);

const { facts, payload, sums, places, chosen } = JSON.parse(readFileSync(0, "utf8"));
const axes = facts.slices ? new Axes(facts.slices.axes) : null;
const levels = releaseLevels(facts, readArrays(await unpack(payload), facts.arrays), axes);
if (axes) for (const level of levels) level.chosen = chosen;
const inOrder = (level) => [...level.names.keys()].sort((one, other) => level.places[one] - level.places[other]);
process.stdout.write(
  JSON.stringify({
    levels: levels.map((level) => ({
      name: level.name,
      names: level.names,
      rows: inOrder(level).map((area) => ({ name: level.names[area], ...level.answers[area] })),
      polygons: level.names.map((_, area) => level.outlines.polygons(area)),
      grounds: level.names.map((_, area) => level.outlines.ground(area, facts.geographic)),
      csv: areasCsv(level, inOrder(level), facts),
      geojson: JSON.parse(areasGeojson(level, inOrder(level), facts)),
    })),
    sums: sums.map(([level, areas]) => levels[level].sum(areas)),
    places: places.map(([x, y]) => levels.at(-1).outlines.at(x, y)),
  }),
);
