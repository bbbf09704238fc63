"""How often the stated intervals hold the truth."""

import numpy as np
from matplotlib.figure import Figure

from experiments.estimate import mean_of
from experiments.figures.means import Means
from experiments.figures.style import empty, in_style, panels
from experiments.figures.table import Table, number
from experiments.figures.variant import Variant, method_label
from experiments.trial import CONFIDENCES, Row

SHOWN = "coverage_95"
REFERENCE = CONFIDENCES[SHOWN]
FARTHEST = 0.10  # deviations from the reference beyond this have the fullest colour


def table(rows: list[Row]) -> Table:
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
def draw(rows: list[Row]) -> Figure:
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
