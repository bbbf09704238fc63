// What the script of a page paints: `node picture.mjs MODULES`, a job on standard input, densities on standard output,
// both as JSON.

import { readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";

const modules = `${pathToFileURL(process.argv[2])}/`;
const { Picture } = await import(`${modules}picture/picture.mjs`);
const { readArrays, unpack } = await import(`${modules}payload.mjs`);

const { facts, payload, windows } = JSON.parse(readFileSync(0, "utf8"));
const picture = new Picture(facts.picture, readArrays(await unpack(payload), facts.arrays));
process.stdout.write(
  JSON.stringify({
    columns: picture.columns,
    rows: picture.rows,
    layers: picture.layers.length,
    densities: windows.map(([level, window]) => Array.from(picture.densities(level, window))),
    fineness: windows.map(([level, window]) => Array.from(picture.fineness(level, window))),
  }),
);
