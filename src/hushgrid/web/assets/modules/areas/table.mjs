// The table of areas: sorted by a column, a part of it at a time, and areas chosen in it.

import { countText, densityText } from "../words.mjs";

const ROWS = 60; // that are shown at once, and that are added

/** What each column is sorted by, and which way at first: 1 is up. */
const COLUMNS = { name: 1, count: -1, density: -1 };

export class AreaTable {
  /** `choose(area)` is called with an area that is picked; columns may be others than those of areas. */
  constructor(element, choose, columns = COLUMNS, sorting = "count") {
    Object.assign(this, { element, choose, columns, sorting, direction: -1, wanted: "" });
    this.body = element.querySelector("tbody");
    for (const name of Object.keys(columns)) {
      element.querySelector(`[data-sort=${name}]`).addEventListener("click", () => this.sort(name));
    }
    this.body.addEventListener("keydown", (event) => this.key(event));
  }

  /** Show another level. */
  take(level) {
    Object.assign(this, { level, chosen: new Set() });
    this.arrange();
  }

  /** How two areas are compared by each column. */
  ordersOf(level) {
    const told = new Intl.Collator("en", { numeric: true }).compare;
    const { names, answers, densities } = level;
    return {
      name: (one, other) => told(names[one], names[other]),
      count: (one, other) => answers[one].estimate - answers[other].estimate,
      density: (one, other) => densities[one] - densities[other],
    };
  }

  sort(name) {
    this.direction = name === this.sorting ? -this.direction : this.columns[name];
    this.sorting = name;
    this.arrange();
  }

  /** Show areas whose names hold a text. */
  find(text) {
    this.wanted = plain(text);
    this.arrange();
  }

  /** Mark what is chosen; the area that was chosen last is brought into view. */
  mark(chosen, latest) {
    this.chosen = chosen;
    const place = this.areas.indexOf(latest);
    if (place >= 0 && !(this.first <= place && place < this.stop)) {
      this.first = Math.max(place - ROWS / 4, 0);
      this.stop = Math.min(this.first + ROWS, this.areas.length);
      this.render();
    }
    for (const row of this.body.rows) {
      const on = chosen.has(Number(row.dataset.area));
      row.classList.toggle("chosen", on);
      row.querySelector("button").setAttribute("aria-pressed", on);
      if (on && row.dataset.area === String(latest)) this.reveal(row);
    }
  }

  /** Scroll to a row, where the table scrolls by itself: elsewhere the map would leave the screen. */
  reveal(row) {
    if (getComputedStyle(this.element.closest("#panel")).overflowY === "auto") row.scrollIntoView({ block: "nearest" });
  }

  /** Areas in the order of the moment; ties stay as in the file. */
  ordered() {
    const { level, sorting, direction, wanted } = this;
    const orders = this.ordersOf(level);
    const found = [...level.places.keys()].filter((area) => !wanted || plain(level.names[area]).includes(wanted));
    return found.sort((one, other) => direction * orders[sorting](one, other) || level.places[one] - level.places[other]);
  }

  /** Show other numbers of the same areas, as many rows as before. */
  renew(keepsOrder) {
    if (!keepsOrder) this.areas = this.ordered();
    this.render();
    this.mark(this.chosen);
  }

  arrange() {
    const { sorting, direction } = this;
    this.areas = this.ordered();
    [this.first, this.stop] = [0, Math.min(ROWS, this.areas.length)];
    for (const name of Object.keys(this.columns)) {
      const heading = this.element.querySelector(`[data-sort=${name}]`).closest("th");
      if (name === sorting) heading.setAttribute("aria-sort", direction > 0 ? "ascending" : "descending");
      else heading.removeAttribute("aria-sort");
    }
    this.render();
    this.mark(this.chosen);
  }

  /** Show more rows, before the first (-1) or after the last (1). */
  extend(direction) {
    if (direction < 0) this.first = Math.max(this.first - ROWS, 0);
    else this.stop = Math.min(this.stop + ROWS, this.areas.length);
    this.render();
    this.mark(this.chosen);
  }

  render() {
    const shown = this.areas.slice(this.first, this.stop);
    this.body.replaceChildren(...this.rows(shown));
    [...this.body.rows].forEach((row, i) => row.setAttribute("aria-rowindex", this.first + i + 2)); // the heading is 1
    this.element.setAttribute("aria-rowcount", this.areas.length + 1);
    this.changed?.(this);
  }

  rows(areas) {
    const { answers } = this.level;
    const widest = areas.reduce((most, area) => Math.max(most, answers[area].high), 0) || 1;
    return areas.map((area) => this.row(area, widest));
  }

  row(area, widest) {
    const { names, answers } = this.level;
    const answer = answers[area];
    const row = Object.assign(document.createElement("tr"), { className: answer.usable ? "" : "wide" });
    row.dataset.area = area;
    const pick = Object.assign(document.createElement("button"), { type: "button", title: names[area] });
    pick.append(Object.assign(document.createElement("bdi"), { textContent: names[area] }));
    pick.addEventListener("click", () => this.choose(area));
    const name = document.createElement("th");
    name.scope = "row";
    name.append(pick, bar(answer, widest));
    const count = cell(countText(answer.estimate), `${countText(answer.low)} – ${countText(answer.high)}`);
    if (!answer.usable) count.append(unseen("; the range is wider than the estimate"));
    row.append(name, count, cell(densityText(this.level.densities[area])));
    return row;
  }

  /** Arrows move from row to row. */
  key(event) {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    const row = event.target.closest("tr");
    if (!step || !row) return;
    const next = step > 0 ? row.nextElementSibling : row.previousElementSibling;
    next?.querySelector("button").focus();
    event.preventDefault();
  }
}

/** The estimate as a bar, and its interval as a line over it. */
function bar({ estimate, low, high }, widest) {
  const made = Object.assign(document.createElement("div"), { className: "measure", ariaHidden: "true" });
  const percent = (value) => `${Math.min(Math.max((100 * value) / widest, 0), 100)}%`;
  const [filled, line] = [document.createElement("span"), document.createElement("span")];
  filled.style.width = percent(estimate);
  line.style.left = percent(low);
  line.style.width = percent(high - low);
  made.append(filled, line);
  return made;
}

function cell(value, detail) {
  const made = document.createElement("td");
  made.append(value);
  if (detail) made.append(Object.assign(document.createElement("small"), { textContent: detail }));
  return made;
}

function unseen(value) {
  return Object.assign(document.createElement("span"), { className: "unseen", textContent: value });
}

/** A text as it is searched: small letters, without accents. */
function plain(value) {
  return value.normalize("NFKD").replace(/\p{M}/gu, "").toLowerCase();
}
