// The table of places by period.

import { AreaTable } from "../modules/areas/table.mjs";
import { NO_RELEASE } from "../modules/slices/chart.mjs";
import { countText } from "../modules/words.mjs";

/** What sorts by a period. */
const sortingBy = (period) => `period-${period}`;

export class SeriesTable extends AreaTable {
  /** `chooseAt(place, period)` is told which number is pressed. */
  constructor(element, { periods, known }, { choose, chooseAt }) {
    const headings = periods.map((period, i) => heading(period, known[i] ? sortingBy(i) : null));
    element.querySelector("thead tr").append(...headings);
    const sorted = periods.map((_, i) => i).filter((i) => known[i]);
    const columns = { name: 1, ...Object.fromEntries(sorted.map((i) => [sortingBy(i), -1])) };
    super(element, choose, columns, sortingBy(sorted.at(-1)));
    Object.assign(this, { periods, chooseAt, period: -1 });
  }

  ordersOf({ names, answers }) {
    const told = new Intl.Collator("en", { numeric: true }).compare;
    const orders = { name: (one, other) => told(names[one], names[other]) };
    this.periods.forEach((_, i) => {
      orders[sortingBy(i)] = (one, other) => answers[one][i].estimate - answers[other][i].estimate;
    });
    return orders;
  }

  rows(places) {
    return places.map((place) => this.row(place));
  }

  row(place) {
    const { names, answers } = this.level;
    const row = document.createElement("tr");
    row.dataset.area = place;
    const pick = Object.assign(document.createElement("button"), { type: "button", title: names[place] });
    pick.append(Object.assign(document.createElement("bdi"), { textContent: names[place] }));
    pick.addEventListener("click", () => this.choose(place));
    const name = document.createElement("th");
    name.scope = "row";
    name.append(pick);
    const cells = answers[place].map((answer, i) => numbersCell(answer, i === this.period));
    cells.forEach((cell, i) => cell.addEventListener("click", () => this.chooseAt(place, i)));
    row.append(name, ...cells);
    return row;
  }

  /** Let a period stand out. */
  markPeriod(period) {
    this.period = period;
    for (const row of this.element.rows) [...row.cells].forEach((cell, i) => cell.classList.toggle("now", i === period + 1));
  }

  /** Scroll to the period that stands out. */
  revealPeriod() {
    this.element.tHead.querySelector(".now")?.scrollIntoView({ block: "nearest", inline: "nearest" });
  }

  reveal(row) {
    row.scrollIntoView({ block: "nearest" });
  }
}

/** The head of a column; what sorts by it is a button. */
function heading(period, sorting) {
  const made = document.createElement("th");
  made.scope = "col";
  if (!sorting) {
    made.textContent = period;
    return made;
  }
  const button = Object.assign(document.createElement("button"), { type: "button", textContent: period });
  button.dataset.sort = sorting;
  made.append(button);
  return made;
}

/** The numbers of a place in a period, or that there is no release. */
function numbersCell(answer, isNow) {
  const made = Object.assign(document.createElement("td"), { className: isNow ? "now" : "" });
  if (!answer) {
    made.classList.add("gap");
    made.append(NO_RELEASE);
    return made;
  }
  made.classList.toggle("wide", !answer.usable);
  const bounds = `${countText(answer.low)} – ${countText(answer.high)}`;
  made.append(countText(answer.estimate), Object.assign(document.createElement("small"), { textContent: bounds }));
  if (!answer.usable) {
    const words = "; the range is wider than the estimate";
    made.append(Object.assign(document.createElement("span"), { className: "unseen", textContent: words }));
  }
  return made;
}
