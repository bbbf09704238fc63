// Which slices are shown: along each axis one of them, or all together.

export const ALL = -1;

export class Axes {
  /** `axes` have a `label`, their `names` and whether they are of `time`; slices run along the last one first. */
  constructor(axes) {
    this.list = axes;
    this.chosen = axes.map(() => ALL);
    const lastTime = axes.findLastIndex(({ time }) => time);
    this.along = lastTime < 0 ? axes.length - 1 : lastTime; // the axis of the chart
  }

  /** Numbers of the slices that are shown, or that would be by another choice. */
  members(chosen = this.chosen) {
    let members = [0];
    this.list.forEach(({ names }, axis) => {
      const here = chosen[axis] === ALL ? names.map((_, i) => i) : [chosen[axis]];
      members = members.flatMap((member) => here.map((i) => member * names.length + i));
    });
    return members;
  }

  /** Every choice of a pattern: along axes where the choice of the moment is one slice, each of them. */
  alike(chosen = this.chosen) {
    let choices = [[]];
    this.list.forEach(({ names }, axis) => {
      const here = chosen[axis] === ALL ? [ALL] : names.map((_, i) => i);
      choices = choices.flatMap((choice) => here.map((i) => [...choice, i]));
    });
    return choices;
  }

  /** The choice of the moment, but for one axis. */
  with(axis, choice) {
    return this.chosen.map((other, i) => (i === axis ? choice : other));
  }

  /** Along which axes slices are added up: choices alike in this share a scale of colours. */
  get pattern() {
    return this.chosen.map((choice) => choice === ALL).join();
  }

  /** Whether all slices are shown together. */
  get isAll() {
    return this.chosen.every((choice) => choice === ALL);
  }

  /** The choice in words. */
  words(chosen = this.chosen) {
    const parts = this.list.flatMap(({ label, names }, i) => (chosen[i] === ALL ? [] : [`${label} ${names[chosen[i]]}`]));
    return parts.length ? parts.join(", ") : "all slices together";
  }

  /** What files call the choice: as slices are called in Python, with "all" where they are added up. */
  get name() {
    return this.names.map((name) => name || "all").join(" / ");
  }

  /** Names that a choice has, and those of choices that an address names; what is not known is all. */
  get names() {
    return this.list.map(({ names }, axis) => (this.chosen[axis] === ALL ? "" : names[this.chosen[axis]]));
  }

  fromNames(given) {
    return this.list.map(({ names }, axis) => names.indexOf(given[axis] ?? ""));
  }
}
