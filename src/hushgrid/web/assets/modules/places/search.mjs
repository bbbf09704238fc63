// "Find a place": a field that lists the places of the map as one types, and goes there.

import { placesNamed, surroundings, typedPlace } from "./places.mjs";
import { countText, powerText } from "../words.mjs";

const MOST_LISTED = 7;
const SHARE_SHOWN = 1 / 30; // of the domain's height: less of it would show few cells

/** A combobox after the pattern of WAI-ARIA: arrows choose, Enter goes there, Escape closes. */
export class PlaceSearch {
  constructor(form, map, facts, places) {
    const [input, list, said] = ["input", "[role=listbox]", "[role=status]"].map((part) => form.querySelector(part));
    const reach = map.options.maxBounds;
    Object.assign(this, { map, input, list, said, reach, found: [], active: -1, ring: null });
    this.places = places.filter(({ at }) => reach.contains(at));
    const [, south, , north] = facts.domain;
    this.least = SHARE_SHOWN * L.latLng(south, 0).distanceTo(L.latLng(north, 0));
    form.addEventListener("submit", (event) => this.submit(event));
    input.addEventListener("input", () => this.suggest());
    input.addEventListener("keydown", (event) => this.key(event));
    input.addEventListener("blur", () => this.close());
    list.addEventListener("pointerdown", (event) => event.preventDefault()); // the field keeps the focus
    list.addEventListener("click", ({ target }) => this.pick(target.closest("[role=option]")));
    form.hidden = false;
  }

  /** List the places that match what is typed. */
  suggest() {
    this.offer(placesNamed(this.places, this.input.value, MOST_LISTED));
    this.open(this.found.length > 0);
    this.say("");
  }

  /** Take these places as what was found. */
  offer(found) {
    this.found = found;
    this.list.replaceChildren(...found.map(placeOption));
  }

  open(wanted) {
    this.list.hidden = !wanted;
    this.input.setAttribute("aria-expanded", wanted);
    this.mark(-1);
  }

  close() {
    this.open(false);
  }

  key(event) {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (event.key === "Escape") {
      if (this.list.hidden) this.input.value = "";
      this.suggest();
      this.close();
    } else if (step && this.found.length) {
      if (this.list.hidden) this.open(true);
      const { length } = this.found;
      this.mark(this.active < 0 && step < 0 ? length - 1 : (this.active + step + length) % length);
    } else {
      return;
    }
    event.preventDefault();
  }

  /** Mark an option as the one that Enter takes. */
  mark(number) {
    this.active = number;
    const options = [...this.list.children];
    options.forEach((one, i) => one.setAttribute("aria-selected", i === number));
    if (number < 0) this.input.removeAttribute("aria-activedescendant");
    else this.input.setAttribute("aria-activedescendant", options[number].id);
  }

  submit(event) {
    event.preventDefault();
    const text = this.input.value;
    if (!text.trim()) return;
    const place = this.found[Math.max(this.active, 0)] ?? typedPlace(text);
    if (!place) this.say("Not among the names on this map.", { wrong: true });
    else if (!this.reach.contains(place.at)) this.say("Not on this map.", { wrong: true });
    else this.go(place);
  }

  pick(chosen) {
    if (chosen) this.go(this.found[[...this.list.children].indexOf(chosen)]);
  }

  /** Show a place in the middle of the map, with a ring around it. */
  go(place) {
    this.offer(place.plain ? [place] : []); // so that Enter goes there again
    this.close();
    this.input.value = place.name;
    this.map.fitBounds(surroundings(place, this.least));
    this.say(`${place.name} is in the middle of the map.`);
    this.ring = L.circleMarker(place.at, { className: "found", interactive: false, radius: 11 }).addTo(this.map);
  }

  /** Say something in place of what was found before; aloud, and on the screen where something is wrong. */
  say(text, { wrong = false } = {}) {
    this.ring?.remove();
    this.ring = null;
    this.said.textContent = text;
    this.said.classList.toggle("unseen", !wrong);
  }
}

function placeOption({ name, population }, number) {
  const [item, size] = [document.createElement("li"), document.createElement("small")];
  size.textContent = powerText(population);
  item.append(name, " ", size);
  item.id = `place-${number}`;
  item.setAttribute("role", "option");
  item.setAttribute("aria-label", `${name}, ${countText(population)} inhabitants`);
  return item;
}
