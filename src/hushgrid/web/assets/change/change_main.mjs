// The page of a change: maps before and after, their difference, and a table.

import { pixelsOf, scaleOf } from "../modules/colours.mjs";
import { cssColour } from "../modules/areas/areas_view.mjs";
import { showLegend, unitSide, unitText } from "../modules/legend.mjs";
import { readArrays, unpack } from "../modules/payload.mjs";
import { capital, countText } from "../modules/words.mjs";
import { ChangeTable } from "./change_table.mjs";
import { changeSentence, changeText, comparedLevels, evidenceText, ratioText, signedText } from "./compared.mjs";
import { differenceColour, largestDifference, showDifferenceLegend } from "./diverging.mjs";
import { SideMap } from "./side_map.mjs";

const select = (selector) => document.querySelector(selector);
const SHOWN = { change: ["change"], sides: ["before", "after"] }; // maps of each view

class ChangePage {
  constructor(facts, arrays) {
    Object.assign(this, { facts, arrays, maps: {}, chosen: null, shown: "change", tied: false });
    this.dark = globalThis.matchMedia("(prefers-color-scheme: dark)");
    this.levels = comparedLevels(facts, arrays);
    this.table = new ChangeTable(select("#districts table"), (place) => this.choose(place, { move: true }));
    this.table.changed = (table) => this.showExtent(table);
    const choice = select("#level");
    choice.append(...this.levels.map(({ several, names }, i) => new Option(`${several} (${countText(names.length)})`, i)));
    select("#levels").hidden = this.levels.length < 2;
    this.listen();
    this.take(this.levels.length - 1);
    this.show("change");
  }

  listen() {
    this.dark.addEventListener("change", () => this.paint());
    for (const button of document.querySelectorAll("[data-show]")) {
      button.addEventListener("click", () => this.show(button.dataset.show));
    }
    select("#level").addEventListener("change", ({ target }) => this.take(Number(target.value)));
    select("#find").addEventListener("input", ({ target }) => this.table.find(target.value));
    select("#earlier").addEventListener("click", () => this.table.extend(-1));
    select("#more").addEventListener("click", () => this.table.extend(1));
  }

  /** Take up places of another kind, by number. */
  take(number) {
    this.level = this.levels[number];
    this.chosen = null;
    this.largest = largestDifference(this.level);
    select("#level").value = number;
    select("#summary").textContent = this.level.sentence;
    this.table.take(this.level);
    this.tell();
    this.paint();
  }

  /** Show the "change", or both "sides". */
  show(view) {
    const last = this.maps[SHOWN[this.shown][0]];
    this.shown = view;
    for (const button of document.querySelectorAll("[data-show]")) {
      button.setAttribute("aria-pressed", button.dataset.show === view);
    }
    for (const frame of document.querySelectorAll("[data-frame]")) frame.hidden = frame.dataset.frame !== view;
    for (const name of SHOWN[view]) {
      this.maps[name] ??= this.makeMap(name);
      this.maps[name].map.invalidateSize({ pan: false });
      if (last) this.tie(() => this.maps[name].follow(last));
    }
    this.shareScale();
    this.paint();
  }

  makeMap(name) {
    const { facts, arrays } = this;
    const made = new SideMap(select(`#map-${name}`), facts, arrays, facts.pictures && name !== "change" ? name : null);
    const { map } = made;
    const element = map.getContainer();
    map.on("move zoomend", () => this.link(name));
    map.on("mousemove", ({ latlng }) => this.point(name, latlng));
    map.on("mouseout", () => this.point(name, null));
    map.on("click", ({ latlng }) => this.press(latlng));
    map.on("moveend", () => this.sayCentre(made));
    element.addEventListener("focus", () => this.sayCentre(made));
    element.addEventListener("pointerdown", () => element.classList.add("pointed"));
    element.addEventListener("keydown", (event) => {
      element.classList.remove("pointed");
      if (event.key === "Enter" && event.target === element) this.press(map.getCenter());
    });
    return made;
  }

  /** Let the other maps in sight look where this one does. */
  link(name) {
    if (this.tied) return;
    for (const other of SHOWN[this.shown]) {
      if (other !== name && this.maps[other]) this.tie(() => this.maps[other].follow(this.maps[name]));
    }
  }

  /** Do something to a map that the others do not follow. */
  tie(move) {
    this.tied = true;
    move();
    this.tied = false;
  }

  /** One scale of densities for both releases. */
  shareScale() {
    const views = ["before", "after"].flatMap((name) => this.maps[name]?.cells ?? []);
    const low = Math.min(...views.map(({ scale }) => scale.low));
    const high = Math.max(...views.map(({ scale }) => scale.high));
    for (const view of views) view.scale = { low, high };
  }

  paint() {
    const { level, chosen, maps } = this;
    const dark = this.dark.matches;
    const marked = chosen === null ? [] : [chosen];
    for (const name of SHOWN[this.shown]) maps[name]?.draw({ level, fills: this.fills(name, dark), marked, dark });
    if (maps[SHOWN[this.shown][0]]) this.showScale(dark);
  }

  /** Colours of all places on a map; null where a picture is shown. */
  fills(name, dark) {
    const { level, largest, facts } = this;
    if (name === "change") {
      return level.differences.map((each, place) => differenceColour(each, level.significant[place], largest, dark));
    }
    if (facts.pictures) return null;
    const certain = level.before.map(() => true);
    return Array.from(pixelsOf(this.densities(level[name]), certain, this.areaScale(), dark), cssColour);
  }

  densities(counts) {
    const square = unitSide(this.facts) ** 2;
    return counts.map((count, place) => (count * square) / this.level.grounds[place]);
  }

  areaScale() {
    const sides = this.level.grounds.map(Math.sqrt);
    const { before, after } = this.level;
    return scaleOf([...this.densities(before), ...this.densities(after)], null, [...sides, ...sides]);
  }

  showScale(dark) {
    const { facts, largest, level } = this;
    if (this.shown === "change") {
      const note = largest ? "grey: noise may explain it" : "grey: noise may explain all differences";
      const title = `Change of ${facts.counted} in each ${level.name}`;
      showDifferenceLegend(select("#legend"), { title, note, largest }, dark);
      return;
    }
    for (const part of select("#legend").querySelectorAll(".bar, .ticks")) part.hidden = false;
    const title = `${capital(facts.counted)} per ${unitText(facts)}`;
    const scale = this.maps.before.cells?.scale ?? this.areaScale();
    showLegend(select("#legend"), { title, note: "one scale for both maps", scale }, dark);
  }

  placeAt({ lng, lat }) {
    return this.level.outlines.at(lng, lat);
  }

  /** Say what is known of the place under the pointer, and ring it on the other map. */
  point(name, latlng) {
    for (const other of SHOWN[this.shown]) if (other !== name) this.maps[other].ring(latlng);
    this.describe(latlng);
  }

  describe(latlng) {
    const place = latlng ? this.placeAt(latlng) : -1;
    const words = place < 0 ? "" : changeSentence(this.level, place, this.facts);
    Object.assign(select("#cell"), { hidden: !words, textContent: words });
    return words;
  }

  /** The same for the middle of the map, aloud, while it is moved by keyboard. */
  sayCentre({ map }) {
    if (!map.getContainer().matches(":focus-visible:not(.pointed)")) return;
    select("#said").textContent = this.describe(map.getCenter()) || "Nothing is compared here.";
  }

  press(latlng) {
    const place = this.placeAt(latlng);
    if (place >= 0) this.choose(place);
  }

  /** Choose a place, or let go of it. */
  choose(place, { move = false } = {}) {
    this.chosen = place === this.chosen ? null : place;
    this.table.mark(new Set(this.chosen === null ? [] : [this.chosen]), this.chosen);
    this.tell();
    this.paint();
    if (move && this.chosen !== null) this.maps[SHOWN[this.shown][0]].reveal(this.level.outlines.extents[place]);
  }

  /** Show the numbers of the chosen place. */
  tell() {
    const { level, chosen, facts } = this;
    select("#answer").hidden = chosen === null;
    if (chosen === null) return;
    const { before, after, differences, lows, highs, evidence, significant } = level;
    select("#place").textContent = level.names[chosen];
    select("#estimate").textContent = signedText(differences[chosen]);
    select("#interval").textContent = changeText(lows[chosen], highs[chosen], facts);
    select("#counts").textContent = `${countText(before[chosen])} before, ${countText(after[chosen])} after`;
    const ratio = ratioText(level, chosen);
    Object.assign(select("#ratio"), { hidden: !ratio, textContent: ratio });
    const verdict = significant[chosen] ? "more than noise explains" : "noise may explain it";
    select("#verdict").textContent = `${capital(verdict)} (${evidenceText(evidence[chosen])}).`;
  }

  showExtent({ areas, first, stop }) {
    select("#earlier").hidden = first === 0;
    select("#more").hidden = stop === areas.length;
    select("#extent").textContent = areas.length
      ? `${countText(first + 1)} to ${countText(stop)} of ${countText(areas.length)} ${this.level.several}`
      : "No place is called so.";
  }
}

async function startChange() {
  const facts = JSON.parse(select("#facts").textContent);
  const arrays = readArrays(await unpack(select("#payload").textContent), facts.arrays);
  globalThis.hushgrid = new ChangePage(facts, arrays);
  document.body.classList.add("ready");
}

startChange().catch((error) => {
  select("#summary").textContent = "The map cannot be shown. It needs a browser of 2023 or later.";
  throw error;
});
