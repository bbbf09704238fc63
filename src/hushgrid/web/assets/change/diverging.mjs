// How differences become colours: orange where counts rose, blue where they fell, grey where noise may explain it.

import { scaleOf } from "../modules/colours.mjs";
import { powerText } from "../modules/words.mjs";

// From little to much, in equal steps of lightness (OKLab) that are the same on both sides: size can be read with any
// kind of colour vision, and blue and orange are told apart by all.
const ROSE = ["#f0ba95", "#e08e5a", "#c65e23", "#9c3a11", "#711f06"];
const FELL = ["#99cef7", "#60abeb", "#2784d5", "#1d5caa", "#193b7e"];
const DARK_ROSE = ["#814c23", "#b1632f", "#e17d4b", "#ffa383", "#fed7cd"];
const DARK_FELL = ["#246089", "#3380bd", "#50a0ee", "#92c1ff", "#d2e2fe"];
const DECADES = 2; // powers of ten from the largest difference of the scale down to the middle
const SOLID_SHARE = 0.88; // of the opacity, so that the land shows through

/** The largest difference on the scale: that of nearly all places where there is more than noise. */
export function largestDifference({ differences, significant }) {
  const sizes = differences.map(Math.abs).filter((_, place) => significant[place]);
  return sizes.length ? scaleOf(sizes, null, sizes.map(() => 1)).high : null;
}

/** The fill of a place as CSS has it. */
export function differenceColour(difference, isSignificant, largest, dark) {
  if (!isSignificant) return dark ? "rgb(140 150 165 / 0.2)" : "rgb(110 120 135 / 0.2)";
  const place = Math.min(Math.max(1 + Math.log10(Math.abs(difference) / largest) / DECADES, 0), 1);
  const [red, green, blue] = mixedStops(sideStops(difference > 0, dark), place);
  return `rgb(${red} ${green} ${blue} / ${SOLID_SHARE})`;
}

function sideStops(isUp, dark) {
  if (isUp) return dark ? DARK_ROSE : ROSE;
  return dark ? DARK_FELL : FELL;
}

/** A colour between the stops of a ramp, at a place from 0 to 1. */
function mixedStops(stops, place) {
  const below = Math.min(Math.floor(place * (stops.length - 1)), stops.length - 2);
  const share = place * (stops.length - 1) - below;
  const channels = (hex) => [1, 3, 5].map((start) => parseInt(hex.slice(start, start + 2), 16));
  const [one, other] = [channels(stops[below]), channels(stops[below + 1])];
  return one.map((value, i) => Math.round(value + share * (other[i] - value)));
}

/** Fill the legend of differences. */
export function showDifferenceLegend(element, { title, note, largest }, dark) {
  element.querySelector(".unit").textContent = title;
  element.querySelector(".note").textContent = note;
  const stops = [...[...sideStops(false, dark)].reverse(), ...sideStops(true, dark)];
  const bar = element.querySelector(".bar");
  bar.style.background = `linear-gradient(to right, ${stops.join(", ")})`;
  const ticks = largest ? [-1, -0.1, 0.1, 1].map((share) => differenceTick(share, largest)) : [];
  element.querySelector(".ticks").replaceChildren(...ticks);
  for (const part of [bar, element.querySelector(".ticks")]) part.hidden = !largest;
}

function differenceTick(share, largest) {
  const [made, label] = [document.createElement("span"), document.createElement("span")];
  const place = 50 + 50 * Math.sign(share) * (1 + Math.log10(Math.abs(share)) / DECADES);
  label.textContent = `${share < 0 ? "−" : "+"}${powerText(Math.abs(share) * largest)}`;
  label.style.transform = `translateX(${place < 8 ? 0 : place > 92 ? -100 : -50}%)`;
  made.style.left = `${place}%`;
  made.append(label);
  return made;
}
