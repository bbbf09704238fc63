// The slices of a page: what is chosen goes to the map, to the answers and to the chart.

import { fileName, save } from "../saving.mjs";
import { ALL } from "./axes.mjs";
import { SliceChart } from "./chart.mjs";
import { SliceControls } from "./controls.mjs";
import { MOST_MULTIPLES, Multiples } from "./multiples.mjs";

export class Slicing {
  /**
   * `view()` is what draws slices at the moment; `changed(isNewScale)` is told when others are chosen; `atlas` is the
   * land below small maps.
   */
  constructor(elements, { map, facts, axes, view, atlas, changed }) {
    Object.assign(this, { axes, view, changed, ask: null });
    const show = (number) => {
      this.side(false);
      this.controls.several.focus(); // which the name that was pressed has left
      this.controls.pick(axes.along, number);
    };
    this.multiples = new Multiples(elements.multiples, { map, facts, view, axes, atlas, choose: show });
    this.chart = new SliceChart(elements.chart, facts, (number) => this.controls.pick(axes.along, number));
    const { length } = axes.list[axes.along].names;
    this.controls = new SliceControls(elements.bar, axes, {
      choose: (axis, choice) => this.take(axes.with(axis, choice)),
      next: (axis, choice) => this.prepare(axes.with(axis, choice)),
      several: length > 1 && length <= MOST_MULTIPLES ? () => this.side(!this.multiples.isOpen) : null,
    });
    for (const button of document.querySelectorAll("#draw-box, #draw-polygon, #save-picture")) {
      button.addEventListener("click", () => this.side(false)); // what is drawn and saved is the one map
    }
    const table = elements.chart.querySelector("details");
    globalThis.addEventListener("beforeprint", () => {
      this.side(false);
      this.hadTable = table.open;
      table.open ||= elements.chart.classList.contains("many");
    });
    globalThis.addEventListener("afterprint", () => (table.open = this.hadTable));
    elements.chart.querySelector("#save-slices").addEventListener("click", () => {
      save(this.chart.csv(), fileName("slices", "csv"), "text/csv");
    });
  }

  /** Choose slices: along each axis one by its number, or all. */
  take(chosen) {
    const { along, pattern } = this.axes;
    const others = chosen.some((choice, axis) => axis !== along && choice !== this.axes.chosen[axis]);
    this.axes.chosen = chosen;
    if (chosen[along] === ALL) this.side(false); // side by side are single slices
    this.controls.show();
    this.changed(this.axes.pattern !== pattern);
    if (others) this.count();
    if (others) this.multiples.paint();
    this.chart.mark(chosen[along]);
    this.multiples.mark(chosen[along]);
  }

  /** Paint a choice that comes next, out of sight. */
  prepare(chosen) {
    if (!this.multiples.isOpen) this.view().prepare?.(chosen);
  }

  /** Show all slices side by side, or one map. */
  side(isOpen) {
    if (isOpen === this.multiples.isOpen) return;
    if (isOpen) {
      this.controls.stop();
      if (this.axes.chosen[this.axes.along] === ALL) this.take(this.axes.with(this.axes.along, 0)); // the scale of slices
      this.multiples.open();
      this.multiples.mark(this.axes.chosen[this.axes.along]);
    } else {
      this.multiples.close();
    }
    this.controls.several.setAttribute("aria-pressed", isOpen);
  }

  get isPlaying() {
    return this.controls.timer !== null;
  }

  /** Chart what `ask(chosen)` says of every slice. */
  tell(ask, about) {
    if (this.ask === ask) return;
    Object.assign(this, { ask, about });
    this.count();
    this.chart.mark(this.axes.chosen[this.axes.along]);
  }

  /** Answer for every slice along the axis of the chart. */
  count() {
    const { axes } = this;
    const axis = axes.list[axes.along];
    const answers = axis.names.map((_, i) => this.ask(axes.with(axes.along, i)));
    const others = axes.with(axes.along, ALL);
    const of = others.every((choice) => choice === ALL) ? "" : `, ${axes.words(others)}`;
    this.chart.show(axis, answers, `${this.about}${of}`);
  }
}
