// A small chart of each place, all along the same periods.

import { bandsAndLines, drawn, endsOf, gapsOf, placing } from "../modules/slices/chart.mjs";
import { powerText } from "../modules/words.mjs";

const SMALL = { width: 180, height: 74, left: 2, right: 2, top: 5, bottom: 3 };

export class SmallCharts {
  /** `choose(place)` is told which one is pressed. */
  constructor(element, choose) {
    Object.assign(this, { element, choose });
  }

  /** Show the charts of some places of a level, each on a scale of its own that its corner tells. */
  show({ names, answers }, places) {
    this.element.replaceChildren(...places.map((place) => this.chart(place, names[place], answers[place])));
  }

  chart(place, name, answers) {
    const ends = endsOf(answers);
    const at = placing(SMALL, answers.length, ends);
    const svg = drawn("svg", { viewBox: `0 0 ${SMALL.width} ${SMALL.height}`, preserveAspectRatio: "none", "aria-hidden": "true" });
    svg.append(
      ...gapsOf(answers, at, SMALL),
      drawn("path", { class: "rule", d: `M0 ${at.y(0)}H${SMALL.width}` }),
      ...bandsAndLines(answers, at),
    );
    const button = Object.assign(document.createElement("button"), { type: "button", className: "small-chart", title: name });
    button.dataset.area = place;
    const scale = Object.assign(document.createElement("small"), { textContent: `to ${powerText(ends.high)}` });
    const called = Object.assign(document.createElement("bdi"), { textContent: name });
    button.append(called, scale, svg);
    button.addEventListener("click", () => this.choose(place));
    return button;
  }

  /** Let the chosen place stand out. */
  mark(chosen) {
    for (const button of this.element.children) {
      button.setAttribute("aria-pressed", Number(button.dataset.area) === chosen);
    }
  }
}
