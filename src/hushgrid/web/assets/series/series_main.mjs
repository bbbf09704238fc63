// The page of a series: maps, charts and a table of all periods, and the place that is chosen.

import { readArrays, unpack } from "../modules/payload.mjs";
import { fileName, save } from "../modules/saving.mjs";
import { NO_RELEASE, SliceChart } from "../modules/slices/chart.mjs";
import { capital, countText, intervalText } from "../modules/words.mjs";
import { countedLevels, seriesCsv } from "./counted.mjs";
import { SeriesTable } from "./series_table.mjs";
import { SmallCharts } from "./small_charts.mjs";
import { SmallMaps } from "./small_maps.mjs";

const find = (selector) => document.querySelector(selector);
const PARTS = { maps: ["#multiples", "#legend"], charts: ["#charts", "#paging"], table: ["#counts", "#paging"] };

class SeriesPage {
  constructor(facts, arrays) {
    this.facts = facts;
    this.period = facts.known.lastIndexOf(true);
    this.dark = globalThis.matchMedia("(prefers-color-scheme: dark)");
    this.levels = countedLevels(facts, arrays);
    const choose = (place) => this.choose(place, this.period);
    const chooseAt = (place, period) => this.choose(place, period);
    this.table = new SeriesTable(find("#counts table"), facts, { choose, chooseAt });
    this.table.changed = (table) => this.showExtent(table);
    this.charts = new SmallCharts(find("#charts"), choose);
    this.chart = new SliceChart(find("#chart"), facts, (period) => this.choose(this.chosen, period));
    this.maps = new SmallMaps(find("#multiples"), facts, arrays, {
      choose: (period) => this.choose(this.chosen, period),
      chooseAt: (period, { lng, lat }) => this.press(period, this.level.outlines.at(lng, lat)),
    });
    const options = this.levels.map(({ several, names, name }, i) => new Option(optionText(names, name, several), i));
    find("#level").append(...options);
    find("#levels").hidden = this.levels.length < 2;
    this.listen();
    this.take(this.levels.length - 1);
    this.show("maps");
  }

  listen() {
    this.dark.addEventListener("change", () => this.paint());
    globalThis.addEventListener("resize", () => this.shown === "maps" && this.maps.open());
    for (const button of document.querySelectorAll("[data-show]")) {
      button.addEventListener("click", () => this.show(button.dataset.show));
    }
    find("#level").addEventListener("change", ({ target }) => this.take(Number(target.value)));
    find("#find").addEventListener("input", ({ target }) => this.search(target.value));
    find("#earlier").addEventListener("click", () => this.table.extend(-1));
    find("#more").addEventListener("click", () => this.table.extend(1));
    find("#save").addEventListener("click", () => {
      save(seriesCsv(this.level, this.facts), fileName(this.level.several, "csv"), "text/csv");
    });
  }

  /** Take up places of another kind, by number; the one with the most is chosen. */
  take(number) {
    this.level = this.levels[number];
    find("#level").value = number;
    this.table.take(this.level);
    this.choose(this.table.areas[0] ?? 0, this.period);
  }

  /** Show "maps", "charts" or the "table". */
  show(view) {
    this.shown = view;
    for (const button of document.querySelectorAll("[data-show]")) {
      button.setAttribute("aria-pressed", button.dataset.show === view);
    }
    for (const part of new Set(Object.values(PARTS).flat())) find(part).hidden = !PARTS[view].includes(part);
    if (view === "maps") this.maps.open();
    if (view === "table") this.table.revealPeriod();
    this.paint();
  }

  /** Show places whose names hold a text; on the maps, they would not be seen. */
  search(text) {
    if (this.shown === "maps" && text) this.show("charts");
    this.table.find(text);
    this.mark();
  }

  press(period, place) {
    if (place >= 0) this.choose(place, period);
  }

  /** Choose a place and a period. */
  choose(place, period) {
    Object.assign(this, { chosen: place, period });
    const { level, facts } = this;
    const axis = { label: facts.kind, names: facts.periods, time: true };
    this.chart.show(axis, level.answers[place], level.names[place]);
    this.tell();
    this.mark();
    this.paint();
  }

  mark() {
    this.chart.mark(this.period);
    this.maps.mark(this.period);
    this.table.mark(new Set([this.chosen]), this.shown === "table" ? this.chosen : undefined);
    this.table.markPeriod(this.period);
    this.charts.mark(this.chosen);
  }

  paint() {
    if (this.shown !== "maps") return;
    const { level, chosen } = this;
    this.maps.draw({ level, chosen, dark: this.dark.matches, legend: find("#legend") });
  }

  /** Show the numbers of the chosen place and period. */
  tell() {
    const { level, chosen, period, facts } = this;
    const answer = level.answers[chosen][period];
    find("#place").textContent = `${level.names[chosen]}, ${facts.periods[period]}`;
    find("#estimate").textContent = answer ? countText(answer.estimate) : capital(NO_RELEASE);
    find("#interval").textContent = answer ? intervalText(answer, facts) : "";
  }

  showExtent({ areas, first, stop }) {
    find("#earlier").hidden = first === 0;
    find("#more").hidden = stop === areas.length;
    find("#extent").textContent = areas.length
      ? `${countText(first + 1)} to ${countText(stop)} of ${countText(areas.length)} ${this.level.several}`
      : "No place is called so.";
    this.charts.show(this.level, areas.slice(first, stop));
    this.charts.mark(this.chosen);
  }
}

/** What a kind of places is called in the list of them. */
function optionText(names, name, several) {
  return names.length > 1 ? `${several} (${countText(names.length)})` : `the whole ${name}`;
}

async function startSeries() {
  const facts = JSON.parse(find("#facts").textContent);
  const arrays = readArrays(await unpack(find("#payload").textContent), facts.arrays);
  globalThis.hushgrid = new SeriesPage(facts, arrays);
  document.body.classList.add("ready");
}

startSeries().catch((error) => {
  find("#place").textContent = "The page cannot be shown. It needs a browser of 2023 or later.";
  throw error;
});
