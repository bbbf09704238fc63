"""Rows made up so that every statement of the paper holds in them, and ways to spoil them."""

import math

from experiments.figures.adaptive import ALPHAS, C2S
from experiments.figures.means import PAPER_NAMES, QUERY_SIZES
from experiments.suites.hierarchies import base_side

SUGGESTED = {  # side of UG by set and budget, as in Table II
    ("uk_postcodes", 1.0): 400,
    ("uk_postcodes", 0.1): 126,
    ("checkin_gowalla_sub", 1.0): 316,
    ("checkin_gowalla_sub", 0.1): 100,
    ("us_chains", 1.0): 300,
    ("us_chains", 0.1): 95,
    ("us_cvs", 1.0): 30,
    ("us_cvs", 0.1): 10,
}
PEAKS = {"road": 5, "checkin": 4, "landmark": 3, "storage": 3}
TREES = {"road": 1.4, "checkin": 1.06, "landmark": 1.06, "storage": 1.2}  # error of KD-hybrid, the best UG being 1
FACTORS = (0.25, 0.5, 0.8, 1.0, 1.25, 2.0, 4.0)  # of the best size
ADAPTIVE = 0.6  # AG's best error, UG's best being 1
C2_ERRORS = {3.0: 1.02, 4.0: 1.01, 5.0: 1.0, 6.0: 1.02, 7.0: 1.05, 10.0: 1.15, 15.0: 1.3}
ALPHA_ERRORS = {0.2: 0.99, 0.25: 0.97, 0.3: 0.97, 0.4: 0.98, 0.5: 1.0, 0.6: 1.04, 0.75: 1.15, 0.9: 1.4}
QUANTILES = {"p25": 0.05, "median": 0.4, "p75": 1.2, "p95": 3.0, "mean": 1.0}
RUNS = {0: 0.999, 1: 1.001}  # factors of all errors: standard errors are a thousandth of them, and cancel in ratios
MEASURED = ("relative_", "absolute_", "coverage_", "publish_seconds", "nodes")


def trial_rows(dataset, epsilon, method, parameters=None, *, relative=1.0, absolute=None, seed=0, **fields):
    """Rows of a trial whose mean errors over all queries are given; they peak at the set's own query size."""
    about = {"dataset": dataset, "epsilon": epsilon, "method": method, "parameters": parameters or {}, "seed": seed}
    key = repr(sorted(about.items(), key=lambda item: item[0]))
    filled = {"cells": 100, "nodes": 100, "publish_seconds": 1.0, "version": "0.0", "coverage_80": 0.8}
    peak = PEAKS.get(PAPER_NAMES.get(dataset), 3)
    relatives = {size: 0.1 if size == 6 else 0.9 ** abs(size - peak) for size in range(1, 7)}
    absolutes = {size: 2.0**size for size in range(1, 7)}
    rows = []
    for queries in (*QUERY_SIZES, "all"):
        row = {"key": key, **about, **filled, "coverage_95": 0.95, "coverage_99": 0.99, **fields, "queries": queries}
        shape = zip(("relative", "absolute"), (relatives, absolutes), (relative, absolute or relative), strict=True)
        shown = QUANTILES if queries == "all" else {"mean": 1.0}
        for error, sizes, mean in shape:
            part = 1.0 if queries == "all" else sizes[int(queries[1])] / (sum(sizes.values()) / 6)
            row |= {f"{error}_{name}": mean * part * quantile for name, quantile in shown.items()}
        rows.append(row)
    return rows


def cube_rows(dimensions, branching, levels, error, *, cells=4096, epsilon=0.1):
    """Rows of the runs of a trial of dimensions."""
    about = {"dataset": "clusters_small", "dimensions": dimensions, "cells": cells, "branching": branching}
    rows = []
    for seed, factor in RUNS.items():
        key = f"{dimensions} {branching} {levels} {cells} {epsilon} {seed}"
        row = {"key": key, **about, "levels": levels, "epsilon": epsilon, "seed": seed, "version": "0.0"}
        rows += [{**row, "queries": queries, "relative_mean": factor * error} for queries in (*QUERY_SIZES, "all")]
    return rows


def paper_rows():
    """A world as the paper describes it."""
    rows = [row for dataset, epsilon in SUGGESTED for row in _scene_rows(dataset, epsilon)]
    for dimensions, narrow, wide in ((1, 0.4, 1.1), (2, 0.8, 1.1), (3, 0.97, 1.2)):
        rows += cube_rows(dimensions, 2, 1, 1.0)
        rows += cube_rows(dimensions, 2, 2, narrow) + cube_rows(dimensions, 4, 2, wide)
    return rows


def raised(rows, power):
    """Rows with every measured number raised to a power: differences reversed, levelled or exaggerated."""
    return [{name: value**power if name.startswith(MEASURED) else value for name, value in row.items()} for row in rows]


def resized(rows, factor):
    """Rows with releases of more cells, so that the suggested sizes seem to have been others."""
    return [{**row, "cells": row["cells"] * factor} if "method" in row else row for row in rows]


def _scene_rows(dataset, epsilon):
    paper, suggested = PAPER_NAMES[dataset], SUGGESTED[dataset, epsilon]
    best, depth = (suggested / 1.6, 0.3) if paper == "road" else (suggested / 1.1, 0.6)

    def rows(method, parameters=None, *, relative, absolute=None, **fields):
        for seed, factor in RUNS.items():
            errors = {"relative": factor * relative, "absolute": factor * (absolute or relative)}
            yield from trial_rows(dataset, epsilon, method, parameters, **errors, seed=seed, **fields)

    def uniform(side):
        return {"relative": _bowl(side / best, depth), "absolute": _bowl(side / suggested, 0.6)}

    yield from rows("ug", **uniform(suggested), cells=suggested**2, publish_seconds=1.0)
    base = base_side(dataset)
    sides = {round(best * factor) for factor in FACTORS} | {base, 96, 360, 384, 400, 512}
    for side in sorted(sides):
        gain = 0.8 if side in (base, 360) else 1.2 if side <= 128 else 0.97
        yield from rows("ug", {"side": side}, **uniform(side))
        yield from rows("privlet", {"side": side}, relative=gain * uniform(side)["relative"], absolute=2.0)
    yield from rows("kd-hybrid-paper", relative=TREES[paper], absolute=2.0, publish_seconds=10.0, nodes=1000)
    yield from rows("kd-paper", relative=2 * TREES[paper])
    for side in sorted({max(2, round(best / 4 * factor)) for factor in FACTORS}):
        yield from rows("ag", {"first_side": side}, relative=ADAPTIVE * _bowl(4 * side / best, 0.08))
    yield from rows("ag", relative=1.03 * ADAPTIVE, publish_seconds=2.0)
    if paper in ("checkin", "landmark"):
        yield from _parameter_rows(rows)
        for branching, levels, gain in ((2, 2, 1.0), (2, 3, 0.95), (6, 2, 0.88)):
            parameters = {"side": base, "branching": branching, "levels": levels}
            yield from rows("hierarchy", parameters, relative=gain * uniform(base)["relative"])
    for method, ratio in (("hb", 1.9), ("dawa", 1.3), ("privtree", 0.8), ("staq", 0.5), ("auto", 0.9)):
        yield from rows(method, relative=ratio * ADAPTIVE)
    for inference, ratio in (("least-squares", 0.7), ("bayes", 0.6)):
        yield from rows("staq", {"inference": inference}, relative=ratio * ADAPTIVE)


def _parameter_rows(rows):
    nine = [(alpha, c2) for alpha in ALPHAS for c2 in C2S]
    longer = [(0.5, c2) for c2 in C2_ERRORS] + [(alpha, 5.0) for alpha in ALPHA_ERRORS]
    for alpha, c2 in dict.fromkeys(nine + longer):
        parameters = {"first_side": 33, "alpha": alpha, "c2": c2}
        yield from rows("ag", parameters, relative=1.1 * ADAPTIVE * C2_ERRORS[c2] * ALPHA_ERRORS[alpha])


def _bowl(ratio, depth):
    """Error of a size by its ratio to the best one."""
    return 1 + depth * math.log2(ratio) ** 2
