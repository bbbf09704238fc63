// The places of a series and their counts, period by period; series/page.py writes them.

import { blockName } from "../change/compared.mjs";
import { Outlines } from "../modules/areas/outlines.mjs";
import { csvField, numberColumns } from "../modules/saving.mjs";

const ROUNDED = 0.001; // what counts are rounded to
const SAVED = ["estimate", "low", "high"];

/** Places of every kind that the page has, the coarsest first; an answer is null in a period without a release. */
export function countedLevels(facts, arrays) {
  const numberOf = numbersOfKnown(facts.known);
  return facts.levels.map(({ name, several, names, decimals }, level) => {
    const outlines = new Outlines(arrays, level, decimals);
    const size = outlines.extents.length;
    const places = Array.from({ length: size }, (_, place) => place);
    const figure = (column, at) => arrays[`${column}${level}`][at];
    const answerOf = (place, known) => {
      if (known < 0) return null;
      const at = known * size + place;
      const [estimate, low, high] = SAVED.map((column) => Math.round(figure(column, at)) / (1 / ROUNDED));
      return { estimate, low, high, usable: Boolean(figure("usable", at)) };
    };
    return {
      name,
      several,
      isGrid: !names,
      outlines,
      places,
      names: names ?? outlines.extents.map((extent) => blockName(extent, facts.geographic)),
      answers: places.map((place) => numberOf.map((known) => answerOf(place, known))),
      grounds: places.map((place) => outlines.ground(place, facts.geographic)),
    };
  });
}

/** The number of each period among those that have a release, -1 where it has none. */
function numbersOfKnown(known) {
  let number = -1;
  return known.map((is) => (is ? ++number : -1));
}

/** All places and periods as CSV, as "hushgrid query FOLDER --csv" has them; a gap has no numbers. */
export function seriesCsv({ names, answers, places }, facts) {
  const header = ["period", "name", ...numberColumns(SAVED, facts)].join();
  const lines = facts.periods.flatMap((period, i) =>
    places.map((place) => {
      const answer = answers[place][i];
      return [csvField(period), csvField(names[place]), ...SAVED.map((name) => (answer ? answer[name] : ""))].join();
    }),
  );
  return [header, ...lines, ""].join("\n");
}
