// Named areas with their answers: the levels of a release on areas, or the areas of an overlay.
//
// A level has a `name`, the `names`, `outlines` and `answers` of its areas, their `places` in the file, and `sum`,
// which answers for some of them together.

import { reachOfNoise, TreeNoise } from "./noise.mjs";
import { Outlines, startsOf } from "./outlines.mjs";

/** The levels of a release on areas, the coarsest first. */
export function releaseLevels(facts, arrays) {
  const counts = startsOf(arrays.counts); // running sums, in steps
  const tree = new TreeNoise(arrays.children, Array.from(arrays.nodeNoise, (pair) => facts.nodeNoise[pair]));
  const answer = (count, [variance, fourth]) => answerOf(facts, count, variance, fourth);
  return facts.levels.map(({ name, names, noise, decimals }, level) => {
    const starts = startsOf(arrays[`parts${level}`]); // first of the finest areas in each
    const first = (values, area) => values.subarray(starts[area], starts[area + 1]).reduce((a, b) => Math.min(a, b));
    const count = (area) => (counts[starts[area + 1]] - counts[starts[area]]) * facts.step;
    return {
      name,
      names,
      outlines: new Outlines(arrays, level, decimals),
      answers: names.map((_, area) => answer(count(area), noise[arrays[`noise${level}`][area]])),
      places: names.map((_, area) => first(arrays.places, area)),
      sum: (areas) => {
        const parts = areas.flatMap((area) => range(starts[area], starts[area + 1]));
        return answer(areas.reduce((sum, area) => sum + count(area), 0), tree.ofSum(parts));
      },
    };
  });
}

/** As `Districts` in Python has it. */
function answerOf({ factor, floor, kurtosisReaches }, count, variance, fourth) {
  const estimate = factor * count;
  const spread = factor ** 2 * variance + floor;
  const reach = reachOfNoise((factor ** 4 * fourth) / (spread * spread), kurtosisReaches);
  return withUsable(estimate, reach * Math.sqrt(spread));
}

function withUsable(estimate, half) {
  const [low, high] = [Math.max(estimate - half, 0), Math.max(estimate + half, 0)];
  return { estimate, low, high, usable: high - low <= estimate };
}

/** The areas of an overlay, counted by a release. */
export function overlayLevel({ overlay }, arrays, release) {
  const { names, decimals } = overlay;
  const outlines = new Outlines(arrays, 0, decimals);
  const ask = (polygons) => {
    const answer = release.answerPolygons(polygons);
    return { ...answer, usable: answer.high - answer.low <= answer.estimate };
  };
  const answers = names.map((_, area) => ask(outlines.polygons(area)));
  return {
    name: "area",
    names,
    outlines,
    answers,
    places: names.map((_, area) => area),
    /** Null where the areas overlap: together they have no count that is the sum of theirs. */
    sum: (areas) => {
      const meet = areas.some((one, i) => areas.slice(i + 1).some((other) => outlines.overlap(one, other)));
      return meet ? null : ask(areas.flatMap((area) => outlines.polygons(area)));
    },
  };
}

function range(first, stop) {
  return Array.from({ length: stop - first }, (_, i) => first + i);
}
