"""How often the stated intervals hold the truth."""

import numpy as np
from matplotlib.figure import Figure

from experiments.figures.means import Means
from experiments.figures.style import empty, in_style, panels
from experiments.figures.symbols import DASH
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
    scenes, methods = means.scenes(), means.methods()
    if not scenes:
        return empty("not run")
    values = np.array([[means.value(scene, Variant.of(name), SHOWN) for name in methods] for scene in scenes])
    figure, [[axes]] = panels(1, 1, height=0.32 * len(scenes) + 1.0)
    axes.imshow(values - REFERENCE, cmap="PuOr", vmin=-FARTHEST, vmax=FARTHEST, aspect="auto")
    axes.grid(visible=False)
    axes.set_xticks(range(len(methods)), [method_label(name) for name in methods], rotation=35, ha="right")
    axes.set_yticks(range(len(scenes)), [scene.label for scene in scenes])
    axes.tick_params(length=0)
    for (row, column), value in np.ndenumerate(values):
        strong = abs(value - REFERENCE) > 0.6 * FARTHEST
        axes.text(column, row, number(value, ".1%"), ha="center", va="center", color="white" if strong else "black")
    return figure


def _average(means: Means, method: str, epsilon: float, field: str) -> str:
    values = [means.value(scene, Variant.of(method), field) for scene in means.scenes() if scene.epsilon == epsilon]
    measured = [value for value in values if not np.isnan(value)]
    return number(float(np.mean(measured)), ".1%") if measured else DASH
