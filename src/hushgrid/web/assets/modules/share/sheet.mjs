// A picture to keep: the map with its legend and scale; below it what it shows, the guarantee, credits and the date.

import { placeOf, rampColours, ticksOf } from "../colours.mjs";
import { powerText } from "../words.mjs";
import { fontOf, paintMap, sharpness, variable } from "./snapshot.mjs";

const USUAL = 1000; // CSS pixels: on wider maps, words and the legend are larger
const EDGE = 14; // CSS pixels from a card to the edges of the map, and from its own to its words
const CARD = 250; // CSS pixels: width of the legend
const STRIP = 20; // CSS pixels around the words below the map
const BAR = 10; // CSS pixels: height of the colours in the legend
const TEXTS = {
  title: { size: 20, weight: 650, colour: "--ink", after: 6 },
  alarm: { size: 13, weight: 600, colour: "--alarm", after: 6 },
  answer: { size: 15, weight: 550, colour: "--ink", after: 6 },
  small: { size: 12, weight: 400, colour: "--soft", after: 3 },
  heading: { size: 13, weight: 600, colour: "--ink", after: 6 },
};
const LEADING = 1.4; // height of a line over the size of its letters

/** A canvas with the map, its legend and scale; below it a strip of `words`, each { style, text }. */
export function sheetOf(map, legend, dark, words = []) {
  const element = document.createElement("canvas");
  const canvas = element.getContext("2d");
  const unit = Math.min(Math.max(map.getSize().x / USUAL, 0.8), 1.6);
  const size = map.getSize().divideBy(unit);
  const lines = words.flatMap(({ style, text }) => linesOf(canvas, text, style, size.x - 2 * STRIP));
  const height = size.y + (lines.length ? heightOf(lines) + 2 * STRIP : 0);
  const ratio = sharpness();
  [element.width, element.height] = [size.x, height].map((side) => Math.round(side * unit * ratio));
  canvas.fillStyle = variable("--paper");
  canvas.fillRect(0, 0, element.width, element.height);
  canvas.scale(ratio, ratio);
  paintMap(canvas, map);
  paintScale(canvas, map);
  canvas.scale(unit, unit);
  paintLegend(canvas, size, legend, dark);
  paintLines(canvas, lines, STRIP, size.y + STRIP);
  return element;
}

/** Words in lines of a width, with the style they have in common. */
function linesOf(canvas, text, style, width) {
  const { size, weight } = TEXTS[style];
  const { fontFamily } = getComputedStyle(document.body);
  const font = fontOf({ fontWeight: weight, fontSize: `${size}px`, fontFamily });
  canvas.font = font;
  const lines = [];
  for (const word of text.split(" ")) {
    const longer = lines.length ? `${lines.at(-1)} ${word}` : word;
    if (lines.length && canvas.measureText(longer).width <= width) lines[lines.length - 1] = longer;
    else lines.push(word);
  }
  const after = (i) => (i === lines.length - 1 ? TEXTS[style].after : 0);
  return lines.map((line, i) => ({ line, font, ...TEXTS[style], after: after(i) }));
}

function heightOf(lines) {
  return lines.reduce((sum, { size, after }) => sum + LEADING * size + after, 0);
}

function paintLines(canvas, lines, x, y) {
  Object.assign(canvas, { textBaseline: "middle", textAlign: "left" });
  let middle = y;
  for (const { line, font, size, colour, after } of lines) {
    Object.assign(canvas, { font, fillStyle: variable(colour) });
    canvas.fillText(line, x, middle + (LEADING * size) / 2);
    middle += LEADING * size + after;
  }
}

/** The legend in its corner, without buttons. */
function paintLegend(canvas, size, { title, note, scale, reversed }, dark) {
  const width = Math.min(CARD, size.x - 2 * EDGE);
  const inner = width - 2 * EDGE;
  const heading = linesOf(canvas, title, "heading", inner);
  const notes = linesOf(canvas, note, "small", inner);
  const ticks = 24;
  const height = heightOf(heading) + BAR + ticks + heightOf(notes) + 1.5 * EDGE;
  const [left, top] = [EDGE, size.y - EDGE - height];
  paintCard(canvas, left, top, width, height);
  paintLines(canvas, heading, left + EDGE, top + 0.75 * EDGE);
  const bar = { x: left + EDGE, y: top + 0.75 * EDGE + heightOf(heading) };
  const colours = canvas.createLinearGradient(bar.x, 0, bar.x + inner, 0);
  const ramp = reversed ? [...rampColours(dark)].reverse() : rampColours(dark);
  ramp.forEach((colour, i) => colours.addColorStop(i / (ramp.length - 1), colour));
  canvas.fillStyle = colours;
  canvas.fillRect(bar.x, bar.y, inner, BAR);
  for (const tick of ticksOf(scale)) paintTick(canvas, powerText(tick), placeOf(tick, scale), bar, inner);
  paintLines(canvas, notes, left + EDGE, bar.y + BAR + ticks);
}

function paintTick(canvas, label, place, bar, width) {
  const [{ font }] = linesOf(canvas, label, "small", width);
  const [x, y] = [bar.x + place * width, bar.y + BAR];
  const textAlign = place < 0.08 ? "left" : place > 0.92 ? "right" : "center";
  Object.assign(canvas, { font, fillStyle: variable("--soft"), textBaseline: "top", textAlign });
  canvas.fillRect(x - 0.5, y, 1, 4);
  canvas.fillText(label, x, y + 6);
}

function paintCard(canvas, left, top, width, height) {
  canvas.beginPath();
  canvas.roundRect(left, top, width, height, 8);
  Object.assign(canvas, { fillStyle: variable("--paper"), strokeStyle: variable("--rule"), globalAlpha: 0.94 });
  canvas.fill();
  Object.assign(canvas, { globalAlpha: 1, lineWidth: 1 });
  canvas.stroke();
}

/** The scale where it is on the screen; maps of a plane have none. */
function paintScale(canvas, map) {
  const shown = map.getContainer().querySelector(".leaflet-control-scale-line");
  if (!shown) return;
  const [frame, own] = [map.getContainer().getBoundingClientRect(), shown.getBoundingClientRect()];
  const [left, top] = [own.left - frame.left, own.top - frame.top];
  const [right, bottom] = [left + own.width, top + own.height];
  Object.assign(canvas, { fillStyle: variable("--paper"), strokeStyle: variable("--soft"), globalAlpha: 0.7 });
  canvas.fillRect(left, top, own.width, own.height);
  Object.assign(canvas, { globalAlpha: 1, lineWidth: 2 });
  canvas.beginPath();
  canvas.moveTo(left + 1, top);
  canvas.lineTo(left + 1, bottom - 1);
  canvas.lineTo(right - 1, bottom - 1);
  canvas.lineTo(right - 1, top);
  canvas.stroke();
  Object.assign(canvas, { font: fontOf(getComputedStyle(shown)), fillStyle: variable("--soft") });
  Object.assign(canvas, { textBaseline: "middle", textAlign: "center" });
  canvas.fillText(shown.textContent, (left + right) / 2, (top + bottom) / 2 - 1, own.width - 6);
}
