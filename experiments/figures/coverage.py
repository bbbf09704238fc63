"""How often the stated intervals hold the truth, on real sets and at scale."""

from collections import defaultdict

import numpy as np
from matplotlib.figure import Figure

from experiments.estimate import Estimate, mean_of
from experiments.figures.exhibit import Exhibit, Table, number
from experiments.figures.means import Means
from experiments.figures.style import empty, in_style, panels
from experiments.figures.variant import Variant, method_label
from experiments.scale import COVERAGES
from experiments.trial import ALL_SIZES, CONFIDENCES, QUERIES, Row

SHOWN = "coverage_95"
REFERENCE = CONFIDENCES[SHOWN]
FARTHEST = 0.10  # deviations from the reference beyond this have the fullest colour
BY_SIZE = "coverage_95"  # shown for each query size too
Scale = tuple[str, int, float]  # a law, points, and points times epsilon


def coverage_table(rows: list[Row]) -> Table:
    """Coverage of intervals at 80, 95 and 99 %, mean over the data sets, by method and budget."""
    means = Means(rows)
    columns = [(epsilon, field) for epsilon in sorted({s.epsilon for s in means.scenes()}) for field in CONFIDENCES]
    return Table(
        headings=("method", *(f"{CONFIDENCES[field]:.0%}, ε = {epsilon:g}" for epsilon, field in columns)),
        lines=tuple(
            (method_label(name), *(_average(means, name, *column) for column in columns)) for name in means.methods()
        ),
    )


@in_style
def draw_coverage(rows: list[Row]) -> Figure:
    """Coverage of 95 % intervals by set, budget and method: orange is too low, purple too high."""
    means = Means(rows)
    methods = means.methods()
    lines = {scene: [means.estimate(scene, Variant.of(name), SHOWN) for name in methods] for scene in means.scenes()}
    shown = {scene: line for scene, line in lines.items() if any(each.known for each in line)}
    if not shown:
        return empty("not run")
    values = np.array([[each.value for each in line] for line in shown.values()])
    errors = np.array([[each.error for each in line] for line in shown.values()])
    figure, [[axes]] = panels(1, 1, height=0.4 * len(shown) + 1.0)
    axes.imshow(values - REFERENCE, cmap="PuOr", vmin=-FARTHEST, vmax=FARTHEST, aspect="auto")
    axes.grid(visible=False)
    axes.set_xticks(range(len(methods)), [method_label(name) for name in methods], rotation=35, ha="right")
    axes.set_yticks(range(len(shown)), [scene.label for scene in shown])
    axes.tick_params(length=0)
    for (row, column), value in np.ndenumerate(values):
        strong = abs(value - REFERENCE) > 0.6 * FARTHEST
        colour = "white" if strong else "black"
        axes.text(column, row - 0.16, number(value, ".1%"), ha="center", va="center", color=colour)
        if errors[row, column] > 0:
            text = f"± {100 * errors[row, column]:.1f}"
            axes.text(column, row + 0.27, text, ha="center", va="center", color=colour, fontsize=7)
    return figure


def _average(means: Means, method: str, epsilon: float, field: str) -> str:
    scenes = (scene for scene in means.scenes() if scene.epsilon == epsilon)
    return mean_of(means.estimate(scene, Variant.of(method), field) for scene in scenes).text(".1%")


def scale_table(rows: list[Row]) -> Table:
    """Coverage at every confidence over all queries, and of 95 % intervals by query size; means over runs."""
    scales: dict[Scale, dict[str, list[Row]]] = defaultdict(lambda: defaultdict(list))
    for row in rows:
        if "evidence" in row:
            scales[row["dataset"], row["points"], row["evidence"]][row["queries"]].append(row)
    return Table(
        headings=(
            *("law", "points", "points · ε", "cells", "CPU s"),
            *(f"{confidence:.0%}" for confidence in COVERAGES.values()),
            *(f"{COVERAGES[BY_SIZE]:.0%}, {queries}" for queries in QUERIES[:-1]),
        ),
        lines=tuple(_scale_line(scale, scales[scale]) for scale in sorted(scales)),
    )


def _scale_line(scale: Scale, groups: dict[str, list[Row]]) -> tuple[str, ...]:
    law, points, evidence = scale
    everything = groups[ALL_SIZES]
    return (
        *(law, _power(points), _power(evidence)),
        *(number(_mean(everything, "cells").value, ",.0f"), _mean(everything, "publish_cpu").short),
        *(_mean(everything, name).text(".1%") for name in COVERAGES),
        *(_mean(groups[queries], BY_SIZE).text(".1%") for queries in QUERIES[:-1]),
    )


def _mean(rows: list[Row], name: str) -> Estimate:
    return Estimate.of({row["seed"]: row[name] for row in rows})


def _power(value: float) -> str:
    """A large number in few characters.

    Examples
    --------
    >>> _power(10**8), _power(2.5e6)
    ('1e8', '2.5e6')
    """
    digits, exponent = f"{value:e}".split("e")
    return f"{float(digits):g}e{int(exponent)}"


COVERAGE = Exhibit(
    title="Coverage of intervals",
    caption="Share of queries whose 95 % interval holds the truth, with its standard error over runs: orange "
    "too few, purple too many.",
    draw=draw_coverage,
    table=coverage_table,
)


AT_SCALE = Exhibit(
    title="Coverage at scale",
    caption="The default release of made-up points, very clumpy (towns) and smooth (plains): share of queries "
    "whose interval holds the truth, over all queries, and at 95 % by query size, with standard errors over "
    "the two or four runs.",
    table=scale_table,
)
