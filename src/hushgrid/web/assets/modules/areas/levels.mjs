// Named areas with their answers: the levels of a release on areas, or the areas of an overlay.

import { unitSide } from "../legend.mjs";
import { arraysOf } from "../payload.mjs";
import { reachOfNoise, TreeNoise } from "./noise.mjs";
import { Outlines, startsOf } from "./outlines.mjs";

const KEPT = 32; // choices of slices whose answers are kept

/** A level: the `names` and `outlines` of its areas, their `places` in the file, and answers of the `chosen` slices. */
class Level {
  /** `answer(area, chosen)` and `together(areas, chosen)` answer for a choice of slices, where there are some. */
  constructor(known, facts) {
    Object.assign(this, known, { kept: new Map(), square: unitSide(facts) ** 2 });
    this.grounds = this.names.map((_, area) => this.outlines.ground(area, facts.geographic));
  }

  get answers() {
    return this.answersOf(this.chosen);
  }

  get densities() {
    return this.densitiesOf(this.chosen);
  }

  answersOf(chosen) {
    return this.known(chosen).answers;
  }

  densitiesOf(chosen) {
    return this.known(chosen).densities;
  }

  /** Answers and densities of all areas, kept for the choices that were asked for last. */
  known(chosen) {
    const key = String(chosen);
    if (!this.kept.has(key)) {
      const answers = this.names.map((_, area) => this.answer(area, chosen));
      const densities = answers.map(({ estimate }, area) => {
        const ground = this.grounds[area];
        return ground > 0 ? (estimate / ground) * this.square : 0;
      });
      if (this.kept.size === KEPT) this.kept.delete(this.kept.keys().next().value);
      this.kept.set(key, { answers, densities });
    }
    return this.kept.get(key);
  }

  /** The answer for some areas together; null where they have none. */
  sum(areas, chosen = this.chosen) {
    return areas.length === 1 ? this.answer(areas[0], chosen) : this.together(areas, chosen);
  }
}

/** The levels of a release on areas, the coarsest first; of slices, `axes` say which are chosen. */
export function releaseLevels(facts, arrays, axes = null) {
  const parts = axes
    ? facts.slices.parts.map((part, number) => new AreaCounts(part, { ...arrays, ...arraysOf(arrays, `${number}.`) }))
    : [new AreaCounts(facts, arrays)];
  const ask = (chosen, of) => answerOf(facts, addedUp((axes ? axes.members(chosen) : [0]).map((member) => of(parts[member]))));
  return facts.levels.map(({ name, names, decimals }, level) => {
    const starts = startsOf(arrays[`parts${level}`]); // first of the finest areas in each
    const first = (values, area) => values.subarray(starts[area], starts[area + 1]).reduce((a, b) => Math.min(a, b));
    const known = {
      name,
      names,
      outlines: new Outlines(arrays, level, decimals),
      places: names.map((_, area) => first(arrays.places, area)),
      chosen: axes?.chosen,
      answer: (area, chosen) => ask(chosen, (part) => part.ofArea(level, area, starts)),
      together: (areas, chosen) => ask(chosen, (part) => part.ofSum(areas, starts)),
    };
    return new Level(known, facts);
  });
}

/** Counts of the finest areas, with the law of their noise. */
class AreaCounts {
  constructor({ factor, step, noise, nodeNoise }, arrays) {
    Object.assign(this, { factor, step, noise, arrays });
    this.counts = startsOf(arrays.counts); // running sums, in steps
    this.tree = new TreeNoise(arrays.children, Array.from(arrays.nodeNoise, (pair) => nodeNoise[pair]));
  }

  /** Count, variance and fourth cumulant of an area of a level. */
  ofArea(level, area, starts) {
    return this.scaled(this.count(area, starts), this.noise[level][this.arrays[`noise${level}`][area]]);
  }

  /** The same of several areas. */
  ofSum(areas, starts) {
    const parts = areas.flatMap((area) => range(starts[area], starts[area + 1]));
    return this.scaled(areas.reduce((sum, area) => sum + this.count(area, starts), 0), this.tree.ofSum(parts));
  }

  count(area, starts) {
    return (this.counts[starts[area + 1]] - this.counts[starts[area]]) * this.step;
  }

  scaled(count, [variance, fourth]) {
    return [this.factor * count, this.factor ** 2 * variance, this.factor ** 4 * fourth];
  }
}

/** Noise is independent from slice to slice, so that cumulants add up. */
function addedUp(cumulants) {
  return cumulants.reduce((sums, each) => sums.map((sum, i) => sum + each[i]));
}

/** As `answer_of_noise` in Python has it. */
function answerOf({ floor, kurtosisReaches }, [estimate, variance, fourth]) {
  const spread = variance + floor;
  const half = reachOfNoise(fourth / (spread * spread), kurtosisReaches) * Math.sqrt(spread);
  const [low, high] = [Math.max(estimate - half, 0), Math.max(estimate + half, 0)];
  return { estimate, low, high, usable: high - low <= estimate };
}

/** The areas of an overlay, counted by a release; `ask(polygons, chosen)` answers. */
export function overlayLevel(facts, arrays, ask, chosen) {
  const { names, decimals } = facts.overlay;
  const outlines = new Outlines(arrays, 0, decimals);
  const answer = (polygons, choice) => {
    const found = ask(polygons, choice);
    return { ...found, usable: found.high - found.low <= found.estimate };
  };
  const known = {
    name: "area",
    names,
    outlines,
    places: names.map((_, area) => area),
    chosen,
    answer: (area, choice) => answer(outlines.polygons(area), choice),
    /** Null where the areas overlap: together they have no count that is the sum of theirs. */
    together: (areas, choice) => {
      const meet = areas.some((one, i) => areas.slice(i + 1).some((other) => outlines.overlap(one, other)));
      return meet ? null : answer(areas.flatMap((area) => outlines.polygons(area)), choice);
    },
  };
  return new Level(known, facts);
}

function range(first, stop) {
  return Array.from({ length: stop - first }, (_, i) => first + i);
}
