// How the count of an area goes from slice to slice, or from period to period: estimates with the bands of their
// intervals, and a table of them. Where there is no answer, there is a gap.

import { csvField, numberColumns } from "../saving.mjs";
import { countText, powerText } from "../words.mjs";

const SIZE = { width: 310, height: 132, left: 40, right: 6, top: 8, bottom: 20 };
const LABELS = 8; // along the chart, at most
const LETTER = 6.5; // about as wide as a letter is
const LONGEST_LABEL = 20; // letters of a label
const LISTED = { most: 48, onPaper: 8, height: 32, bar: 7, letters: 28 }; // kinds that are listed below each other, with their names
export const NO_RELEASE = "no release";
const SVG = "http://www.w3.org/2000/svg";

export class SliceChart {
  /** `choose(number)` is told which slice a reader presses. */
  constructor(element, facts, choose) {
    Object.assign(this, { element, facts, choose });
    this.svg = drawn("svg", { viewBox: `0 0 ${SIZE.width} ${SIZE.height}`, role: "img", preserveAspectRatio: "xMinYMin" });
    element.querySelector(".drawing").append(this.svg);
    this.svg.addEventListener("click", (event) => this.press(event));
    element.hidden = false;
  }

  /** Show the answers of all slices along an axis. */
  show({ label, names, time }, answers, about) {
    Object.assign(this, { label, names, answers, isList: !time && names.length <= LISTED.most });
    this.element.classList.toggle("many", this.isList && names.length > LISTED.onPaper);
    const height = this.isList ? LISTED.height * names.length : SIZE.height;
    this.svg.setAttribute("viewBox", `0 0 ${SIZE.width} ${height}`);
    this.now = drawn("rect", { class: "now" });
    if (this.isList) this.list();
    else this.draw(time);
    this.svg.setAttribute("aria-label", `Chart of counts by ${label}. ${about}.`);
    this.element.querySelector("figcaption").textContent = this.summary();
    this.element.querySelector("tbody").replaceChildren(...answers.map((_, i) => this.tableRow(i)));
  }

  /** A curve over time, or a dash for each of many kinds. */
  draw(time) {
    const { names, answers } = this;
    const ends = endsOf(answers);
    Object.assign(this, placing(SIZE, names.length, ends));
    const marks = time ? [...gapsOf(answers, this, SIZE), ...bandsAndLines(answers, this)] : this.bars();
    this.svg.replaceChildren(this.now, ...this.grid(ends), ...marks, ...this.labels());
  }

  /** Kinds below each other, with names that leave counts their room. */
  list() {
    this.svg.replaceChildren(this.now, ...this.rows());
    this.svg.querySelectorAll(".name").forEach((name, i) => {
      const room = SIZE.width - 12 - name.nextSibling.getComputedTextLength();
      for (let most = LISTED.letters; most > 1 && name.getComputedTextLength() > room; most--) {
        name.textContent = shortened(this.names[i], most - 1);
      }
    });
  }

  /** A name, a count with its interval, and both as a bar. */
  rows() {
    const widest = Math.max(...this.answers.map(({ high }) => high)) || 1;
    const x = (count) => (Math.max(count, 0) / widest) * SIZE.width;
    return this.answers.flatMap(({ estimate, low, high }, i) => {
      const y = i * LISTED.height + LISTED.height - LISTED.bar - 5;
      const name = drawn("text", { x: 2, y: y - 5, class: "name" });
      name.textContent = shortened(this.names[i], LISTED.letters);
      const count = drawn("text", { x: SIZE.width - 2, y: y - 5, "text-anchor": "end" });
      count.textContent = `${countText(estimate)} (${countText(low)} to ${countText(high)})`;
      const middle = y + LISTED.bar / 2 - 1;
      return [
        name,
        count,
        drawn("rect", { class: "bar", y, width: x(estimate), height: LISTED.bar }),
        drawn("rect", { class: "reach", x: x(low), y: middle, width: Math.max(x(high) - x(low), 2), height: 2 }),
      ];
    });
  }

  /** Let the slice that is on the map stand out; none of them for -1. */
  mark(number) {
    const room = (SIZE.width - SIZE.left - SIZE.right) / this.names.length;
    const place = this.isList
      ? { x: 0, y: number * LISTED.height, width: SIZE.width, height: LISTED.height }
      : { x: SIZE.left + number * room, y: SIZE.top, width: room, height: SIZE.height - SIZE.top - SIZE.bottom };
    for (const [name, value] of Object.entries(place)) this.now.setAttribute(name, number < 0 ? 0 : value);
    [...this.element.querySelectorAll("tbody tr")].forEach((row, i) => row.classList.toggle("now", i === number));
  }

  /** For kinds, which have no order: a dash and its interval each. */
  bars() {
    const width = Math.min(0.5 * (this.x(1) - this.x(0)), 26);
    return this.answers.flatMap(({ estimate, low, high }, i) => {
      const height = Math.max(this.y(low) - this.y(high), 1);
      const [left, middle] = [this.x(i) - width / 2, this.y(estimate)];
      return [
        drawn("rect", { class: "band", x: left, y: this.y(high), width, height }),
        drawn("path", { class: "line", d: `M${left} ${middle}h${width}` }),
      ];
    });
  }

  grid({ low, high }) {
    return [...new Set([0, high / 2, high, ...(low < 0 ? [low] : [])])].flatMap((count) => {
      const [y, right] = [this.y(count), SIZE.width - SIZE.right];
      const text = drawn("text", { x: SIZE.left - 5, y: y + 3.5, "text-anchor": "end" });
      text.textContent = count < 0 ? `−${powerText(-count)}` : count ? powerText(count) : "0";
      return [drawn("path", { class: "rule", d: `M${SIZE.left} ${y}H${right}` }), text];
    });
  }

  /** Names of slices below the chart, as many as there is room for. */
  labels() {
    const names = this.names.map((name) => shortened(name, LONGEST_LABEL));
    const longest = Math.max(...names.map(({ length }) => length));
    const most = Math.floor((SIZE.width - SIZE.left - SIZE.right) / (LETTER * (longest + 2)));
    const step = Math.ceil(names.length / Math.max(2, Math.min(LABELS, most)));
    return names.flatMap((name, i) => {
      if (i % step) return [];
      const half = (LETTER * name.length) / 2;
      const x = Math.min(Math.max(this.x(i), half), SIZE.width - half);
      const text = drawn("text", { x, y: SIZE.height - 6, "text-anchor": "middle" });
      text.textContent = name;
      return [text];
    });
  }

  summary() {
    const order = [...this.answers.keys()].filter((i) => this.answers[i]).sort((one, other) => this.answers[other].estimate - this.answers[one].estimate);
    const words = (i) => {
      const { estimate, low, high } = this.answers[i];
      return `${this.names[i]}, with ${countText(estimate)} (${countText(low)} to ${countText(high)})`;
    };
    if (order.length === 1) return `By ${this.label}: ${words(order[0])}.`;
    return `By ${this.label}. Most: ${words(order[0])}. Fewest: ${words(order.at(-1))}.`;
  }

  tableRow(i) {
    const row = document.createElement("tr");
    const name = Object.assign(document.createElement("th"), { scope: "row", textContent: this.names[i] });
    const answer = this.answers[i];
    row.append(name);
    if (!answer) {
      row.append(Object.assign(document.createElement("td"), { colSpan: 3, textContent: NO_RELEASE }));
      return row;
    }
    const counts = [answer.estimate, answer.low, answer.high];
    row.append(...counts.map((count) => Object.assign(document.createElement("td"), { textContent: countText(count) })));
    return row;
  }

  press({ clientX, clientY }) {
    const { left, top, width, height } = this.svg.getBoundingClientRect();
    const across = (((clientX - left) / width) * SIZE.width - SIZE.left) / (SIZE.width - SIZE.left - SIZE.right);
    const number = Math.floor((this.isList ? (clientY - top) / height : across) * this.names.length);
    if (number >= 0 && number < this.names.length) this.choose(number);
  }

  /** All slices as CSV, at full precision. */
  csv() {
    const header = ["slice", ...numberColumns(["estimate", "low", "high"], this.facts)];
    const lines = this.answers.map(({ estimate, low, high }, i) => [csvField(this.names[i]), estimate, low, high].join());
    return [header.join(), ...lines, ""].join("\n");
  }
}

/** The lowest and highest count on a chart. */
export function endsOf(answers) {
  const known = answers.filter(Boolean);
  return { low: Math.min(0, ...known.map(({ estimate }) => estimate)), high: niceAbove(known) };
}

/** Where the middles of slices, and counts, lie on a chart of some size. */
export function placing({ width, height, left, right, top, bottom }, number, { low, high }) {
  return {
    x: (i) => left + ((i + 0.5) * (width - left - right)) / number,
    y: (count) => {
      const share = (Math.min(Math.max(count, low), high) - low) / (high - low);
      return height - bottom - share * (height - top - bottom);
    },
  };
}

/** Intervals and estimates in order, each run of answers by itself: nothing is drawn across a gap. */
export function bandsAndLines(answers, { x, y }) {
  return runsOf(answers).flatMap((run) => {
    const half = run.length > 1 ? 0 : (x(1) - x(0)) / 4; // an answer alone has a width, too
    const places = half ? [-half, half].map((aside) => [x(run[0]) + aside, run[0]]) : run.map((i) => [x(i), i]);
    const edge = (name) => places.map(([place, i]) => `${place} ${y(answers[i][name])}`);
    return [
      drawn("path", { class: "band", d: `M${[...edge("high"), ...edge("low").reverse()].join("L")}Z` }),
      drawn("path", { class: "line", d: `M${edge("estimate").join("L")}` }),
    ];
  });
}

/** Shades where there is no answer. */
export function gapsOf(answers, { x }, { height, top, bottom }) {
  const width = x(1) - x(0);
  return [...answers.keys()]
    .filter((i) => !answers[i])
    .map((i) => drawn("rect", { class: "gap", x: x(i) - width / 2, y: top, width, height: height - top - bottom }));
}

/** Numbers of answers that follow each other without a gap. */
function runsOf(answers) {
  const runs = [];
  answers.forEach((answer, i) => {
    if (answer && (i === 0 || !answers[i - 1])) runs.push([]);
    if (answer) runs.at(-1).push(i);
  });
  return runs;
}

/** A round number above all intervals, but for those far above all estimates. */
function niceAbove(answers) {
  const highest = Math.max(...answers.map(({ high }) => high), 1);
  const power = 10 ** Math.floor(Math.log10(highest));
  return power * [1, 1.5, 2, 3, 4, 5, 6, 8, 10].find((digit) => digit * power >= highest);
}

function shortened(name, most) {
  const letters = [...name]; // a letter may be two units of text
  return letters.length > most ? `${letters.slice(0, most - 1).join("")}…` : name;
}

export function drawn(tag, attributes) {
  const element = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  return element;
}
