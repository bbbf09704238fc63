// What the script of a page of slices says: `node slices.mjs MODULES`, a job on standard input, answers on standard
// output, both as JSON.

import { readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";

const modules = `${pathToFileURL(process.argv[2])}/`;
const { Axes } = await import(`${modules}slices/axes.mjs`);
const { SlicedRelease } = await import(`${modules}slices/sliced_release.mjs`);
const { readArrays, unpack } = await import(`${modules}payload.mjs`);

const { facts, payload, rects, choices } = JSON.parse(readFileSync(0, "utf8"));
const axes = new Axes(facts.slices.axes);
const release = new SlicedRelease(facts, readArrays(await unpack(payload), facts.arrays), axes);
const answers = choices.map((chosen) => {
  axes.chosen = chosen;
  return rects.map((rect) => release.answerBox(...rect)).map(({ estimate, low, high }) => [estimate, low, high]);
});
process.stdout.write(JSON.stringify(answers));
