// What the script of a page says: `node answers.mjs MODULES`, a job on standard input, answers on standard output, both
// as JSON.

import { readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";

const modules = `${pathToFileURL(process.argv[2])}/`;
const { Release } = await import(`${modules}surfaces/release.mjs`);
const { readArrays, unpack } = await import(`${modules}payload.mjs`);

const job = JSON.parse(readFileSync(0, "utf8"));
const release = new Release(job.facts, readArrays(await unpack(job.payload), job.facts.arrays));
const cells = job.places.map(([x, y]) => release.cellAt(x, y));
const listed = ({ estimate, low, high }) => [estimate, low, high];
process.stdout.write(
  JSON.stringify({
    rects: job.rects.map((rect) => listed(release.answerBox(...rect))),
    polygons: job.polygons.map((rings) => listed(release.answerPolygon(rings))),
    cells: cells.map((cell) => [...release.boundsOf(cell), ...listed(release.answerCell(cell)), release.areaOf(cell)]),
  }),
);
