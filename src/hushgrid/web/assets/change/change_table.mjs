// The table of places, the surest change first.

import { AreaTable } from "../modules/areas/table.mjs";
import { countText } from "../modules/words.mjs";
import { evidenceText, signedText } from "./compared.mjs";

/** What each column is sorted by, and which way at first: 1 is up. */
const CHANGE_COLUMNS = { name: 1, change: -1, evidence: -1 };

export class ChangeTable extends AreaTable {
  constructor(element, choose) {
    super(element, choose, CHANGE_COLUMNS, "evidence");
  }

  ordersOf({ names, differences, evidence }) {
    const told = new Intl.Collator("en", { numeric: true }).compare;
    const size = (place) => Math.abs(differences[place]);
    return {
      name: (one, other) => told(names[one], names[other]),
      change: (one, other) => differences[one] - differences[other],
      evidence: (one, other) => evidence[one] - evidence[other] || size(one) - size(other),
    };
  }

  rows(places) {
    return places.map((place) => this.row(place));
  }

  row(place) {
    const { names, before, after, differences, lows, highs, significant, evidence } = this.level;
    const row = Object.assign(document.createElement("tr"), { className: significant[place] ? "" : "wide" });
    row.dataset.area = place;
    const pick = Object.assign(document.createElement("button"), { type: "button", title: names[place] });
    pick.append(Object.assign(document.createElement("bdi"), { textContent: names[place] }));
    pick.addEventListener("click", () => this.choose(place));
    const name = document.createElement("th");
    name.scope = "row";
    const counts = `${countText(before[place])} → ${countText(after[place])}`;
    name.append(pick, Object.assign(document.createElement("small"), { textContent: counts }));
    const change = figureCell(signedText(differences[place]), `${signedText(lows[place])} to ${signedText(highs[place])}`);
    const sure = figureCell(evidenceText(evidence[place]), significant[place] ? "" : "may be noise");
    row.append(name, change, sure);
    return row;
  }
}

function figureCell(value, detail) {
  const made = document.createElement("td");
  made.append(value);
  if (detail) made.append(Object.assign(document.createElement("small"), { textContent: detail }));
  return made;
}
