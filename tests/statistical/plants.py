"""Broken copies of the build: each defect is an edit of the source, as a slip of the hand would make it."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

SOURCE = Path(__file__).parents[2] / "src" / "hushgrid"
LOOK = """
import json, re, sys
from hushgrid.audit.audit import audit
wanted, options = json.loads(sys.argv[1])
report = audit(only=lambda title: re.search(wanted, title) is not None, **options)
print(json.dumps([[check.part, check.method, check.title, check.finding] for check in report.flagged]))
"""


class Edit(NamedTuple):
    """Text of a file, and what takes its place."""

    path: str
    old: str
    new: str


class Plant(NamedTuple):
    """A defect, the experiments that are to find it, and the part of the report it is to be flagged in."""

    edits: tuple[Edit, ...]
    wanted: str
    part: str


def plant(folder: Path, edits: tuple[Edit, ...]) -> Path:
    """A copy of the build with some edits; each of them has to apply, once."""
    copy = folder / "src" / "hushgrid"
    # With its times, so that compiled kernels are found again; their locks come and go.
    shutil.copytree(SOURCE, copy, ignore=shutil.ignore_patterns("*.lock"))
    for path, old, new in edits:
        text = (copy / path).read_text()
        assert text.count(old) == 1, f"{path} has {text.count(old)} times: {old}"
        (copy / path).write_text(text.replace(old, new))
    return copy.parent


def environment(source: Path) -> dict[str, str]:
    """An environment in which that copy is the build."""
    return {**os.environ, "PYTHONPATH": str(source), "PYTHONDONTWRITEBYTECODE": "1"}


def flagged(source: Path, wanted: str, **options: object) -> list[list[str]]:
    """What an audit of a copy flags: part, method, title and finding of each."""
    command = [sys.executable, "-c", LOOK, json.dumps([wanted, options])]
    found = subprocess.run(command, env=environment(source), capture_output=True, text=True, check=False)
    assert found.returncode == 0, found.stderr[-3000:]
    return json.loads(found.stdout.splitlines()[-1])


def exact(*titles: str) -> str:
    """Pattern of exact experiments, by the beginning of their titles."""
    return "^exact: (" + "|".join(map(re.escape, titles)) + ")"


BUDGET, MEDIANS, PRIVTREE = "privacy/budget.py", "methods/trees.py", "methods/privtree.py"
STAQ, AREAS, UG = "methods/staq.py", "methods/areas.py", "methods/uniform_grid.py"
NOISY = "lambda: add_noise(true_values, rate=rate, bits=self._bits), np.shape(true_values), purpose, rate"
MEASURED = "        return NoisyValues.at_one_rate(self._noisy(true_counts, rate, purpose), rate)"
GRID_MEASURED = "        measured = budget.measure(counter.count(grid), Fraction(1))\n"
SELECTED = "        chosen = budget.select(-np.abs(2 * true_lefts - true_counts[:, None]), allowed, self.share)\n"
BY_SLICE = "counting/by_slice/sliced.py"
IN_SLICES = "    rows = np.flatnonzero(block.slices >= 0)\n"
ONE_SLICE = "        parts.append(_release(one, each, bits, draws, request.prior))\n"
RELEASED = "        synopsis = self._published(counter, budget, prior)\n        return self.with_intervals(synopsis)"

TEN = {
    "grids divided by true counts": Plant(
        (Edit("methods/adaptive_grid.py", "leaf_sides(cells.values,", "leaf_sides(counter.count(grid),"),),
        exact("ag, given"),
        "taint",
    ),
    "cuts on true cells": Plant(
        (Edit("methods/dpcube.py", "cells.values.reshape(side, side)", "true_cells.reshape(side, side)"),),
        exact("dpcube, given"),
        "taint",
    ),
    "exact medians": Plant(
        (
            Edit(
                MEDIANS,
                SELECTED,
                '        budget.charge(self.share, purpose="selection")\n'
                "        true_scores = -np.abs(2 * true_lefts - true_counts[:, None])\n"
                "        chosen = np.argmax(np.where(allowed, true_scores, -(2**62)), axis=1)\n",
            ),
        ),
        exact("kd, every"),
        "taint",
    ),
    "a doubled selection rate": Plant(
        (Edit(BUDGET, "rate = self.charge(share, purpose=purpose) / 2", "rate = self.charge(share, purpose=purpose)"),),
        exact("kd, every"),
        "loss",
    ),
    "an inverted fraction in PrivTree's rate": Plant(
        (
            Edit(
                PRIVTREE,
                "    return epsilon * (FAN_OUT - 1) / (2 * FAN_OUT - 1)",
                "    return epsilon * (2 * FAN_OUT - 1) / (FAN_OUT - 1)",
            ),
        ),
        exact("privtree, given"),
        "loss",
    ),
    "PrivTree without decay": Plant(
        (Edit(PRIVTREE, "np.maximum(true_counts - level * step, -step)", "np.maximum(true_counts - step, -step)"),),
        exact("privtree, given"),
        "loss",
    ),
    "areas with a tenth of the noise": Plant(
        (
            Edit(
                AREAS,
                "        measured = Measurements.of_leaves(budget.measure(true_counts, finest))\n",
                '        rate = budget.charge(finest, purpose="counts", measured=True)\n'
                "        values = budget.perturb(true_counts, 10 * rate)\n"
                "        measured = Measurements.of_leaves(NoisyValues.at_one_rate(values, rate))\n",
            ),
        ),
        exact("areas, areas"),
        "loss",
    ),
    "a private total without its cap": Plant(
        (Edit("counting/bounding.py", "np.minimum(sizes, self.most_for_total).sum()", "sizes.sum()"),),
        "^exact: ug, users, private total(, Parquet folder)?$",
        "loss",
    ),
    "a footer with an exact error": Plant(
        (
            Edit(
                "methods/quadtree.py",
                "        return Synopsis.infer(\n",
                "        errors = abs(measurements.leaves.values - sums.count(tree))\n"
                '        notes = (*notes, f"mean error {errors.mean():.3f}")\n'
                "        return Synopsis.infer(\n",
            ),
        ),
        exact("quadtree, given"),
        "taint",
    ),
    "STAQ that decides by true counts": Plant(
        (
            Edit(STAQ, "= self._decide(survey, paths.left", "= self._decide(counter, survey, paths.left"),
            Edit(
                STAQ,
                "def _decide(self, survey: Survey, left",
                "def _decide(self, counter: Counter, survey: Survey, left",
            ),
            Edit(
                STAQ,
                "estimates = survey.frontier.estimates()\n",
                "estimates = counter.count(survey.live_cells).astype(np.float64)\n",
            ),
        ),
        exact("staq, given"),
        "taint",
    ),
}

MORE = {
    "a prior made from the points": Plant(
        (
            Edit(
                "release/request.py",
                RELEASED,
                "        from hushgrid.geometry.quadrants import all_cells\n"
                "        cells = all_cells(self.domain, 4)\n"
                "        sums = [0.0, *counter.count(cells).cumsum().astype(float)]\n"
                "        import numpy as np\n"
                "        prior = prior and replace(prior, level=4, codes=cells.codes, sums=4 * np.array(sums))\n"
                + RELEASED,
            ),
        ),
        exact("staq, public prior"),
        "taint",
    ),
    "points in places counted around them, too": Plant(
        (
            Edit(
                "release/places.py", "method.release(counter.outside(areas), budget)", "method.release(counter, budget)"
            ),
        ),
        exact("staq, places"),
        "loss",
    ),
    "a size that counts all months": Plant(
        (
            Edit(
                "counting/filtered.py",
                '        """Number of rows that are kept, counted once."""\n        return self._rows\n',
                '        """Number of rows that are kept, counted once."""\n        return self._source.rows()\n',
            ),
        ),
        exact("ug, period"),
        "loss",
    ),
    "records of another month instead": Plant(
        (
            Edit(
                "counting/filtered.py",
                "np.flatnonzero(block.slices >= 0)",
                "np.flatnonzero(block.slices < 0)",
            ),
        ),
        exact("ug, period"),
        "loss",
    ),
    "slices sharpened by true counts": Plant(
        (
            Edit(
                "release/sliced.py",
                "        return request.method.measure(PointCounter(request.domain, points), "
                "request.budget(bits, draws))\n",
                "        counter = PointCounter(request.domain, points)\n"
                "        measured = request.method.measure(counter, request.budget(bits, draws))\n"
                "        return replace(measured, counts=counter.count(measured.partition).astype(float))\n",
            ),
        ),
        exact("staq, slices and their total"),
        "taint",
    ),
    "a slice of all other values that counts twice": Plant(
        (
            Edit(
                BY_SLICE,
                IN_SLICES,
                IN_SLICES + "    rows = np.append(rows, np.flatnonzero(block.slices == 3))\n",
            ),
        ),
        "^exact: ug, slices$",
        "loss",
    ),
    "slices calibrated on the data": Plant(
        (
            Edit(
                "release/sliced.py",
                ONE_SLICE,
                ONE_SLICE + "        if one.calibrate:\n"
                "            true_counts = PointCounter(request.domain, each).count(parts[-1].partition)\n"
                "            found = one.with_intervals(replace(parts[-1], counts=true_counts.astype(float)))\n"
                "            parts[-1] = replace(parts[-1], calibration=found.calibration)\n",
            ),
        ),
        "^exact: ug, slices, calibrated$",
        "taint",
    ),
    "an error that a tiny number causes": Plant(
        (
            Edit(
                BY_SLICE,
                IN_SLICES,
                IN_SLICES + "    if np.any((block.longitudes > 0) & (block.longitudes < 1e-300)):\n"
                "        raise ValueError\n",
            ),
        ),
        "^exact: ug, slices by time, CSV file$",
        "taint",
    ),
    "the number of records, logged for debugging": Plant(
        (
            Edit(
                "release/sliced.py",
                ONE_SLICE,
                ONE_SLICE + "        import logging\n"
                "        logging.getLogger(__name__).debug('%d records', each.rows())\n",
            ),
        ),
        "^exact: ug, slices$",
        "taint",
    ),
    "progress by the number of records": Plant(
        (
            Edit(
                "release/sliced.py",
                ONE_SLICE,
                ONE_SLICE + "        outer = current_work()._progress\n        outer and outer(each.rows() / 1000)\n",
            ),
        ),
        "^exact: ug, slices$",
        "taint",
    ),
    "points that a release holds": Plant(
        (
            Edit(
                "release/sliced.py",
                ONE_SLICE,
                ONE_SLICE + "        object.__setattr__(parts[-1], 'points', each)\n",
            ),
        ),
        "^exact: ug, slices$",
        "taint",
    ),
    "batches of all slices in the first one": Plant(
        (
            Edit(
                BY_SLICE,
                "                    self._batches[number].append(self._written)\n",
                "                    self._batches[number].append(self._written)\n"
                "                    self._batches[0].append(self._written)\n",
            ),
        ),
        "^exact: ug, slices, little memory$",
        "loss",
    ),
    "points of single precision that count twice": Plant(
        (
            Edit(
                "counting/memory.py",
                "            yield Block.of(*self.columns.points(batch), batch",
                "            if batch.column(0).type == pa.float32():\n"
                "                batch = pa.Table.from_batches([batch, batch]).combine_chunks().to_batches()[0]\n"
                "            yield Block.of(*self.columns.points(batch), batch",
            ),
        ),
        "^exact: ug, Arrow table$",
        "loss",
    ),
    "levels of areas that cost nothing": Plant(
        (
            Edit(
                AREAS,
                "            budget.measure(level.sums(true_counts), share) for level, share in",
                "            NoisyValues.at_one_rate(budget.perturb(level.sums(true_counts), (e := budget.epsilon)), e)"
                " for level, share in",
            ),
        ),
        exact("areas, areas in levels"),
        "loss",
    ),
    "twice the rate that is recorded": Plant(
        (Edit(BUDGET, MEASURED, MEASURED.replace("(true_counts, rate,", "(true_counts, 2 * rate,")),),
        exact("ug, given"),
        "loss",
    ),
    "one level of several at twice its rate": Plant(
        (
            Edit(
                "methods/adaptive_grid.py",
                'leaves = budget.measure(counter.count(nested), 1 - alpha, purpose="leaves")',
                'charged = budget.charge(1 - alpha, purpose="leaves", measured=True)\n'
                "        drawn = budget.perturb(counter.count(nested), 2 * charged)\n"
                "        leaves = type(cells).at_one_rate(drawn, charged)",
            ),
        ),
        exact("ag, given"),
        "loss",
    ),
    "noise drawn twice and averaged": Plant(
        (
            Edit(
                BUDGET,
                NOISY,
                NOISY.replace(
                    "lambda: add_noise(true_values, rate=rate, bits=self._bits)",
                    "lambda: sum(add_noise(true_values, rate=rate, bits=self._bits) for _ in range(2)) // 2",
                ),
            ),
        ),
        exact("ug, given"),
        "loss",
    ),
    "noise of a fixed seed": Plant(
        (
            Edit(BUDGET, NOISY, NOISY.replace("bits=self._bits", "bits=simulation_rng(7)")),
            Edit(BUDGET, "bits import Bits\n", "bits import Bits, simulation_rng\n"),
        ),
        exact("ug, given"),
        "taint",
    ),
    "one draw for two cells": Plant(
        (
            Edit(
                "privacy/codes.py",
                "        add_block(flat_counts[block.where], block, flat_noisy[block.where])\n    return",
                "        add_block(flat_counts[block.where], block, flat_noisy[block.where])\n"
                "    pairs = len(flat_noisy) // 2\n"
                "    noise = flat_noisy[: 2 * pairs : 2] - flat_counts[: 2 * pairs : 2]\n"
                "    flat_noisy[1 : 2 * pairs : 2] = flat_counts[1 : 2 * pairs : 2] + noise\n    return",
            ),
        ),
        "^noise: Draws that were used",
        "noise",
    ),
    "counts clipped by a quantile of themselves": Plant(
        (
            Edit(
                BUDGET,
                MEASURED,
                f"        true_counts = np.minimum(true_counts, int(np.quantile(true_counts, 0.9)))\n{MEASURED}",
            ),
        ),
        exact("identity, given", "ug, given"),
        "loss",
    ),
    "noise for cells with records only": Plant(
        (
            Edit(
                BUDGET,
                MEASURED,
                MEASURED.replace(
                    "self._noisy(true_counts, rate, purpose)",
                    "np.where(true_counts > 0, self._noisy(true_counts, rate, purpose), 0)",
                ),
            ),
        ),
        exact("ug, given"),
        "taint",
    ),
    "rows in the order of true counts": Plant(
        (
            Edit(
                UG,
                GRID_MEASURED,
                GRID_MEASURED + "        order = (-counter.count(grid)).argsort(kind='stable')\n"
                "        measured = type(measured).at_one_rate(measured.values[order], measured.rates[0])\n",
            ),
        ),
        exact("ug, given"),
        "taint",
    ),
    "a size rounded by the true one": Plant(
        (Edit(BUDGET, "value=int(noisy[0]))", "value=int(noisy[0]) if abs(noisy[0] - true_size) > 9 else true_size)"),),
        exact("ug, half", "ug, size"),
        "taint",
    ),
    "records by region without their cap": Plant(
        (Edit("counting/by_user/tallies.py", "WHOLE_RECORD * capped // sizes[:, None]", "WHOLE_RECORD + 0 * capped"),),
        "^exact: ug, users, all records(, Parquet folder)?$",
        "loss",
    ),
    "records by region at the price of one": Plant(
        (Edit("release/all_records.py", "change=WHOLE_RECORD * cap", "change=WHOLE_RECORD"),),
        "^exact: ug, users, all records$",
        "loss",
    ),
    "a cap that true users choose": Plant(
        (
            Edit(
                "release/all_records.py",
                "chosen = best_cap(tally, users, ",
                "chosen = best_cap(tally, 10**4 * true_tallies.true_users, ",
            ),
        ),
        "^exact: ug, users, all records$",
        "taint",
    ),
    "records bounded chunk by chunk": Plant(
        (
            Edit(
                "counting/bounded.py",
                "        return rule.keep(rows.ids, rows.longitudes, rows.latitudes, rows.slices)\n",
                "        chunks = [slice(start, start + 16) for start in range(0, max(rows.longitudes.size, 1), 16)]\n"
                "        ids = [rows.ids._replace(numbers=rows.ids.numbers[chunk]) for chunk in chunks]\n"
                "        keeps = [rule.keep(own, rows.longitudes[chunk], rows.latitudes[chunk])\n"
                "                 for own, chunk in zip(ids, chunks, strict=True)]\n"
                "        kept = np.concatenate([16 * k + part.rows for k, part in enumerate(keeps)])\n"
                "        return Kept(rows=kept, true_capped_total=sum(part.true_capped_total for part in keeps))\n",
            ),
        ),
        "^exact: (ug, users|ug, users, private total, Parquet folder|areas, areas, users)$",
        "loss",
    ),
    "another sample of records in every pass": Plant(
        (
            Edit(
                "counting/bounded.py",
                "        joined = Points.joined(points)\n"
                "        source = ArrayPoints((joined.longitudes, joined.latitudes), slices=joined.slices)\n",
                "        class Redrawn(ArrayPoints):\n"
                "            def parts(self):\n"
                "                from dataclasses import replace\n"
                "                from os import urandom\n"
                "                again = []\n"
                "                _keep_all(partitions, replace(rule, key=urandom(32)), memory_bytes, again.append)\n"
                "                return ArrayPoints(Points.joined(again)[:2]).parts()\n"
                "        source = Redrawn(Points.joined(points)[:2])\n",
            ),
        ),
        exact("ag, users"),
        "loss",
    ),
    "ten times the records of a user": Plant(
        (Edit("counting/bounding.py", "most=self.max_per_user,\n", "most=10 * self.max_per_user,\n"),),
        "^exact: ug, (distinct )?users$",
        "loss",
    ),
    "the number of rows in the notes": Plant(
        (
            Edit(
                "release/request.py",
                RELEASED,
                RELEASED.replace(
                    "        return",
                    "        note = f'{counter.rows()} rows were read'\n"
                    "        synopsis = replace(synopsis, method=replace(synopsis.method, notes=(note,)))\n"
                    "        return",
                ),
            ),
        ),
        exact("uniform, given"),
        "taint",
    ),
    "half the noise by the way": Plant(
        (
            Edit(
                UG,
                GRID_MEASURED,
                GRID_MEASURED + "        halved = (measured.values + counter.count(grid)) // 2\n"
                "        measured = type(measured).at_one_rate(halved, measured.rates[0])\n",
            ),
        ),
        exact("ug, given"),
        "taint",
    ),
    "intervals calibrated on the data": Plant(
        (
            Edit(
                "release/request.py",
                RELEASED,
                "        synopsis = self._published(counter, budget, prior)\n"
                "        true_counts = counter.count(synopsis.partition).astype(float)\n"
                "        found = self.with_intervals(replace(synopsis, counts=true_counts))\n"
                "        return replace(synopsis, calibration=found.calibration)",
            ),
        ),
        exact("ag, calibrated"),
        "taint",
    ),
    "a size that is not charged": Plant(
        (
            Edit(
                BUDGET,
                '            self._spend("size", rate, measured=False)\n            self._for_counts -= rate\n',
                "",
            ),
        ),
        exact("ug, half"),
        "loss",
    ),
    "a claim of half of what was spent": Plant(
        (Edit(BUDGET, "epsilon=self._spent * self._max_per_unit,", "epsilon=self._spent * self._max_per_unit / 2,"),),
        exact("uniform, given"),
        "loss",
    ),
    "a key of the ledger that holds the number of points": Plant(
        (
            Edit(
                "release/on_ledger.py",
                "        wanted = charge.wanted(request)\n",
                "        wanted = replace(charge.wanted(request), user_column=str(len(points)))\n",
            ),
        ),
        exact("ag, ledger"),
        "taint",
    ),
    "an answer that is marked by the truth": Plant(
        (
            Edit(
                "release/request.py",
                RELEASED,
                RELEASED.replace(
                    "        return",
                    "        object.__setattr__(synopsis, 'true_total', counter.total())\n        return",
                ),
            ),
            Edit(
                "synopsis/synopsis.py",
                "    def answer(self, rects: ArrayLike, *, confidence: float = 0.95) -> Answer:\n",
                "    def answer(self, rects: ArrayLike, *, confidence: float = 0.95) -> Answer:\n"
                "        answer = self._answer(rects, confidence=confidence)\n"
                "        true_total = getattr(self, 'true_total', 0)\n"
                "        return replace(answer, usable=np.asarray(answer.estimate) < true_total)\n\n"
                "    def _answer(self, rects: ArrayLike, *, confidence: float = 0.95) -> Answer:\n",
            ),
        ),
        exact("uniform, given"),
        "taint",
    ),
    "a warning about few records": Plant(
        (
            Edit(
                "release/request.py",
                RELEASED,
                RELEASED.replace(
                    "        return",
                    "        if counter.total() < 10:\n            print('hardly any records')\n        return",
                ),
            ),
        ),
        exact("uniform, given"),
        "taint",
    ),
    "an error that one record causes": Plant(
        (
            Edit(
                "release/request.py",
                RELEASED,
                RELEASED.replace(
                    "        return",
                    "        if counter.rows() != counter.total():\n            raise ValueError\n        return",
                ),
            ),
        ),
        exact("uniform, given"),
        "taint",
    ),
    "nodes cut by their true counts": Plant(
        (
            Edit(
                "methods/trees.py",
                "large = (measure(np.full(len(nodes), units)) >= stop_below) | (units == 0)",
                "measure(np.full(len(nodes), units))\n        large = true_counts >= stop_below",
            ),
        ),
        exact("kd, given"),
        "taint",
    ),
    "a path that spends what it has twice": Plant(
        (Edit("privacy/paths.py", "        self._left -= spent\n", "        self._left -= (spent + 1) // 2\n"),),
        exact("staq, given"),
        "loss",
    ),
    "wavelet coefficients charged once for two": Plant(
        (Edit("methods/privlet.py", "/ touched(rows, columns)", "* 2 / touched(rows, columns)"),),
        exact("privlet, given"),
        "loss",
    ),
    "squares merged by true deviations": Plant(
        (
            Edit(
                "methods/dawa.py",
                "return [budget.perturb(deviations(true_cells, QUARTERS**above), rate) for",
                "return [budget.perturb(deviations(true_cells, QUARTERS**above), rate) * 0\n"
                "            + deviations(true_cells, QUARTERS**above) for",
            ),
        ),
        exact("dawa, given"),
        "taint",
    ),
    "costs of all levels at the rate of one": Plant(
        (Edit("methods/dawa.py", 'purpose="partition") / levels', 'purpose="partition")'),),
        exact("dawa, given"),
        "loss",
    ),
    "deviations counted twice": Plant(
        (
            Edit(
                "methods/dawa.py",
                "np.abs(squares - medians[:, None]).sum",
                "2 * np.abs(squares - medians[:, None]).sum",
            ),
        ),
        exact("dawa, given"),
        "loss",
    ),
    "a sampler a twentieth off": Plant(
        (
            Edit(
                "privacy/laplace.py",
                "    return add_codes(check_counts(true_counts), plan_for(check_rate(rate), signed=True), bits)",
                "    rate = check_rate(rate) * 21 / 20\n"
                "    return add_codes(check_counts(true_counts), plan_for(rate, signed=True), bits)",
            ),
        ),
        "^noise: Noise of counts at rate",
        "noise",
    ),
    "float noise, rounded": Plant(
        (
            Edit(
                BUDGET,
                NOISY,
                NOISY.replace(
                    "add_noise(true_values, rate=rate, bits=self._bits)",
                    "true_values + np.rint(np.random.laplace(0, 1 / rate, np.shape(true_values))).astype(int)",
                ),
            ),
        ),
        "^(noise: Noise of counts at rate|exact: ug, given)",
        "noise",
    ),
    "count noise a fifth too small, from outside": Plant(
        (Edit(BUDGET, NOISY, NOISY.replace("rate=rate", "rate=rate * Fraction(5, 4)")),),
        "^neighbours: ug, (arrays|users$|CSV|Parquet folder)",
        "neighbours",
    ),
}
