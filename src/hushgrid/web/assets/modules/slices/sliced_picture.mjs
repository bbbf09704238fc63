// The picture of a choice of slices: what is known of each, added up, or of the total where there is one.

import { arraysOf } from "../payload.mjs";
import { Picture } from "../picture/picture.mjs";
import { ALL } from "./axes.mjs";

export class SlicedPicture {
  constructor({ slices: { parts, total } }, arrays, axes) {
    const picture = (part, number) => new Picture(part.picture, arraysOf(arrays, `${number}.`));
    Object.assign(this, { axes, chosen: axes.chosen, parts: parts.map(picture) });
    this.total = total && picture(total, parts.length);
    Object.assign(this, { columns: this.parts[0].columns, rows: this.parts[0].rows });
  }

  /** Pictures that a choice is made of. */
  of(chosen = this.chosen) {
    if (this.total && chosen.every((choice) => choice === ALL)) return [this.total];
    return this.axes.members(chosen).map((member) => this.parts[member]);
  }

  /** The same picture of another choice. */
  choosing(chosen) {
    return Object.assign(Object.create(this), { chosen });
  }

  levelFor(pixels) {
    return this.parts[0].levelFor(pixels);
  }

  densities(level, window) {
    const [first, ...others] = this.of();
    const sum = first.densities(level, window);
    for (const other of others) other.densities(level, window).forEach((density, i) => (sum[i] += density));
    return sum;
  }

  /** Of several, the finest: their sum shows what any of them knows. */
  fineness(level, window) {
    const [first, ...others] = this.of();
    const finest = first.fineness(level, window);
    for (const other of others) {
      other.fineness(level, window).forEach((depth, i) => (finest[i] = Math.max(finest[i], depth)));
    }
    return finest;
  }
}
