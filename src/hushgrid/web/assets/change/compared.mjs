// The places that two releases are compared on, and their figures in words; change.py writes them.

import { Outlines } from "../modules/areas/outlines.mjs";
import { countText, measureText, placeText } from "../modules/words.mjs";

const THOUSANDTH = 0.001;
const BLOCK_DIGITS = 4; // a block's place is told to a fraction of its side

/** Places of every kind that the page has, the coarsest first. */
export function comparedLevels(facts, arrays) {
  return facts.levels.map(({ name, several, names, sentence, decimals }, level) => {
    const outlines = new Outlines(arrays, level, decimals);
    const figure = (column) => Array.from(arrays[`${column}${level}`], (value) => value * THOUSANDTH);
    const [before, after] = [figure("before"), figure("after")];
    const significant = Array.from(arrays[`significant${level}`], Boolean);
    return {
      name,
      several,
      isGrid: !names,
      sentence,
      outlines,
      before,
      after,
      significant,
      names: names ?? outlines.extents.map((extent) => blockName(extent, facts.geographic)),
      places: before.map((_, place) => place),
      differences: before.map((count, place) => after[place] - count),
      lows: figure("low"),
      highs: figure("high"),
      ratios: figure("ratio"),
      ratioLows: figure("ratio_low"),
      ratioHighs: figure("ratio_high"),
      evidence: figure("evidence"), // minus the logarithm of the p-value
      grounds: before.map((_, place) => outlines.ground(place, facts.geographic)),
    };
  });
}

/** What a block of a grid is called: where its middle lies. */
export function blockName([west, south, east, north], geographic) {
  const middle = { lng: (west + east) / 2, lat: (south + north) / 2 };
  return placeText(middle, geographic, Math.min(east - west, north - south) / BLOCK_DIGITS);
}

/** A difference with its sign: +1,234 or −56. */
export function signedText(difference) {
  const rounded = Math.round(difference) || 0;
  return rounded === 0 ? "0" : `${rounded > 0 ? "+" : "−"}${countText(Math.abs(rounded))}`;
}

/** Per cent with their sign: one decimal below a hundred. */
function percentText(percent) {
  if (Math.abs(percent) >= 100) return signedText(percent);
  const rounded = Math.round(10 * percent) / 10 || 0;
  return rounded === 0 ? "0" : `${rounded > 0 ? "+" : "−"}${measureText(Math.abs(rounded))}`;
}

/** A p-value in few letters. */
export function evidenceText(evidence) {
  if (evidence > 4) return "p < 0.0001";
  return `p = ${measureText(Number((10 ** -evidence).toPrecision(evidence > 2 ? 1 : 2)))}`;
}

/** A ratio as per cent that it is more or less, with its interval; "" where it is missing. */
export function ratioText({ ratios, ratioLows, ratioHighs }, place) {
  if (ratios[place] < 0) return "";
  const percent = (ratio) => `${percentText(100 * (ratio - 1))}\u00a0%`;
  return `${percent(ratios[place])}, between ${percent(ratioLows[place])} and ${percent(ratioHighs[place])}`;
}

/** Between which bounds a change lies, and what these hold. */
export function changeText(low, high, { afterBounds }) {
  return `${signedText(low)} to ${signedText(high)} ${afterBounds.replace(" %", "\u00a0%")}`;
}

/** What is known of a place, in a sentence. */
export function changeSentence(level, place, facts) {
  const { before, after, differences, lows, highs, significant } = level;
  const counts = `${countText(before[place])} before, ${countText(after[place])} after`;
  const ends = changeText(lows[place], highs[place], facts);
  const verdict = significant[place] ? "" : " Noise may explain it.";
  return `${level.names[place]}: ${counts}. Change ${signedText(differences[place])}, ${ends}.${verdict}`;
}
