// The scale of densities, on the map.

import { placeOf, rampColours, ticksOf } from "./colours.mjs";
import { measureText, powerText } from "./words.mjs";

/** Side of the square that densities are given for, in units of the domain: a round number that suits its extent. */
export function unitSide({ domain: [west, south, east, north], geographic }) {
  return geographic ? 1 : 10 ** Math.round(Math.log10(Math.sqrt((east - west) * (north - south)) / 100));
}

/** What densities are densities per. */
export function unitText(facts) {
  if (facts.geographic) return "km²";
  const side = measureText(unitSide(facts));
  return `${side} × ${side} units of ${facts.crs}`;
}

/** Fill the legend. */
export function showLegend(element, { title, note, scale, reversed = false }, dark) {
  element.querySelector(".unit").textContent = title;
  element.querySelector(".note").textContent = note;
  const way = reversed ? "left" : "right";
  element.querySelector(".bar").style.background = `linear-gradient(to ${way}, ${rampColours(dark).join(", ")})`;
  const marks = ticksOf(scale).map((tick) => mark(tick, 100 * placeOf(tick, scale)));
  element.querySelector(".ticks").replaceChildren(...marks);
}

/** A tick and its label, centred below it but at the ends of the bar. */
function mark(tick, place) {
  const [made, label] = [document.createElement("span"), document.createElement("span")];
  label.textContent = powerText(tick);
  label.style.transform = `translateX(${place < 8 ? 0 : place > 92 ? -100 : -50}%)`;
  made.style.left = `${place}%`;
  made.append(label);
  return made;
}
