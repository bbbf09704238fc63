// What slices are chosen with: a slider with play for time, buttons for kinds, or a list where there are many.

import { ALL } from "./axes.mjs";

const MOST_BUTTONS = 8;
const LOOP = 15_000; // milliseconds that all slices of a slider are played in, as long as each takes
const [SHORTEST, LONGEST_STEP] = [120, 700]; // milliseconds
const ICONS = {
  play: '<svg viewBox="0 0 20 20" aria-hidden="true"><path d="M6 4v12l10-6z"/></svg>',
  pause: '<svg viewBox="0 0 20 20" aria-hidden="true"><path d="M6 4v12M14 4v12"/></svg>',
};

export class SliceControls {
  /** `choose(axis, choice)` is told what a reader chooses; `next(axis, choice)` what is shown after this. */
  constructor(element, axes, { choose, next, several }) {
    Object.assign(this, { element, axes, choose, next, timer: null });
    this.rows = axes.list.map((axis, number) => this.row(axis, number));
    element.append(...this.rows.map(({ row }) => row));
    if (several) this.addSeveral(several);
    element.hidden = false;
    this.show();
  }

  row({ label, names, time }, axis) {
    const row = made("div", { className: "axis" });
    row.setAttribute("role", "group");
    row.setAttribute("aria-label", label);
    const all = this.button("All", axis, ALL);
    const name = made("span", { className: "axis-name", textContent: label });
    const parts = { row, all };
    if (time) {
      if (axis === this.axes.along) {
        this.play = made("button", { type: "button", className: "play" });
        this.play.addEventListener("click", () => (this.timer ? this.stop() : this.start()));
      }
      parts.slider = this.slider(names, label, axis);
      parts.value = made("output", { className: "value" });
      parts.value.style.minWidth = `${Math.max(...names.map(({ length }) => length), 3) + 1}ch`;
      row.append(name, ...(axis === this.axes.along ? [this.play] : []), parts.slider, parts.value, all);
    } else if (names.length <= MOST_BUTTONS) {
      parts.buttons = names.map((each, i) => this.button(each, axis, i));
      row.append(name, all, ...parts.buttons);
    } else {
      parts.select = this.select(names, label, axis);
      row.append(name, parts.select);
    }
    return parts;
  }

  /** A button that shows all slices side by side, or one map again. */
  addSeveral(toggle) {
    this.several = made("button", { type: "button", className: "side-by-side", textContent: "Side by side" });
    this.several.addEventListener("click", toggle);
    this.rows[this.axes.along].row.append(this.several);
  }

  button(text, axis, choice) {
    const button = made("button", { type: "button", textContent: text });
    button.addEventListener("click", () => this.pick(axis, choice));
    return button;
  }

  /** All slices together are left of the first: else none of its keys or places would lead from them to it. */
  slider(names, label, axis) {
    const slider = made("input", { type: "range", min: ALL, max: names.length - 1, step: 1, value: ALL });
    slider.setAttribute("aria-label", label);
    slider.addEventListener("input", () => this.pick(axis, slider.valueAsNumber));
    return slider;
  }

  select(names, label, axis) {
    const select = made("select", {});
    select.setAttribute("aria-label", label);
    select.append(new Option("All", ALL), ...names.map((name, i) => new Option(name, i)));
    select.addEventListener("change", () => this.pick(axis, Number(select.value)));
    return select;
  }

  /** What a reader chooses stops the play. */
  pick(axis, choice) {
    this.stop();
    this.choose(axis, choice);
  }

  /** Show what is chosen. */
  show() {
    this.rows.forEach(({ all, slider, value, buttons, select }, axis) => {
      const { names } = this.axes.list[axis];
      const choice = this.axes.chosen[axis];
      const name = choice === ALL ? "" : names[choice];
      all.setAttribute("aria-pressed", choice === ALL);
      buttons?.forEach((button, i) => button.setAttribute("aria-pressed", i === choice));
      if (select) select.value = choice;
      if (!slider) return;
      slider.value = choice;
      slider.classList.toggle("unused", choice === ALL);
      slider.setAttribute("aria-valuetext", name || "All");
      value.textContent = name;
    });
    this.showPlay();
  }

  showPlay() {
    if (!this.play) return;
    this.play.innerHTML = this.timer ? ICONS.pause : ICONS.play;
    this.play.setAttribute("aria-label", this.timer ? "Pause" : "Play");
    this.play.title = this.timer ? "Pause" : "Play";
  }

  /** Milliseconds that a slice is shown. */
  get pace() {
    const { names } = this.axes.list[this.axes.along];
    return Math.min(Math.max(LOOP / names.length, SHORTEST), LONGEST_STEP);
  }

  start() {
    this.timer = setInterval(() => this.step(), this.pace);
    this.step();
  }

  stop() {
    clearInterval(this.timer);
    this.timer = null;
    this.showPlay();
  }

  /** Go to the next slice; after the last comes the first. */
  step() {
    const { along, chosen, list } = this.axes;
    const after = (choice) => (choice + 1) % list[along].names.length;
    this.choose(along, after(chosen[along]));
    this.next(along, after(this.axes.chosen[along]));
  }
}

function made(tag, properties) {
  return Object.assign(document.createElement(tag), properties);
}
