// Taking the map along: a picture of it, and a page of paper.

import { fileName, save } from "../saving.mjs";
import { sheetOf } from "./sheet.mjs";

const words = (selector) => document.querySelector(selector)?.textContent.trim().replace(/[ \n]+/g, " ") ?? "";

export class Sharing {
  /** `legend()` is the one that is shown, `isDark()` the theme; `paint()` colours the page anew. */
  constructor(map, { legend, isDark, paint }) {
    Object.assign(this, { map, legend, isDark, paint });
    document.querySelector("#save-picture").addEventListener("click", () => this.savePicture());
    const print = document.querySelector("#print");
    print.hidden = globalThis.parent !== globalThis; // a page inside a notebook may not print
    print.addEventListener("click", () => globalThis.print());
    globalThis.addEventListener("beforeprint", () => this.toPaper());
    globalThis.addEventListener("afterprint", () => this.toScreen());
  }

  async savePicture() {
    const sheet = sheetOf(this.map, this.legend(), this.isDark(), this.strip());
    const picture = await new Promise((done) => sheet.toBlob(done, "image/png"));
    save(picture, fileName("map", "png"), "image/png");
  }

  /** What stands below the picture. */
  strip() {
    const about = `${words("#place")}: ${words("#estimate")} ${words("#counted")}, ${words("#interval")}.`;
    return [
      { style: "title", text: words("h1") },
      { style: "alarm", text: words(".simulation") },
      { style: "answer", text: about },
      { style: "small", text: words(".sentence") },
      { style: "small", text: `${today()}. ${words("#credits")}` },
    ].filter(({ text }) => text);
  }

  /** Paper is light, and wider or taller than the screen: it gets the map as a picture that fits. */
  toPaper() {
    const wasDark = this.isDark();
    document.documentElement.classList.add("printing");
    if (wasDark) this.paint();
    this.about = document.querySelector("#panel > details");
    this.wasOpen = this.about.open;
    this.about.open = true;
    document.querySelector("#printed-on").textContent = `Printed on ${today()}.`;
    this.sheet?.remove();
    this.sheet = Object.assign(sheetOf(this.map, this.legend(), this.isDark()), { id: "paper-map" });
    document.querySelector(".stage").append(this.sheet);
  }

  toScreen() {
    document.documentElement.classList.remove("printing");
    this.sheet?.remove();
    this.about.open = this.wasOpen;
    if (this.isDark()) this.paint();
  }
}

function today() {
  return new Date().toLocaleDateString("en-GB", { dateStyle: "long" });
}
