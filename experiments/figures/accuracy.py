"""Every method's error as a ratio to AG's, on every set."""

import math

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from experiments.figures.means import Means, Scene, geometric_mean
from experiments.figures.style import empty, in_style, panels
from experiments.figures.table import number
from experiments.figures.variant import Variant, method_label
from experiments.trial import Row

REFERENCE = Variant.of("ag")
ERRORS = ("relative", "absolute")
FULLEST = 3.0  # doublings and halvings beyond this have the fullest colour


@in_style
def draw(rows: list[Row]) -> Figure:
    """Ratios of mean error, relative above and absolute below: purple is better than AG, orange worse."""
    means = Means(rows)
    scenes = [scene for scene in means.scenes() if means.has(scene, REFERENCE)]
    methods = means.methods()
    if not scenes:
        return empty("AG was not run")
    figure, grid = panels(len(ERRORS), 1, height=0.3 * len(methods) + 0.9)
    for [axes], error in zip(grid, ERRORS, strict=True):
        _ratios(axes, means, scenes, methods, error)
        axes.set_title(f"{error} error / AG's", loc="left")
    return figure


def ratio(means: Means, scene: Scene, variant: Variant, *, error: str, to: Variant = REFERENCE) -> float:
    """Mean error of a variant as a share of another's."""
    name = f"{error}_mean"
    return means.value(scene, variant, name) / means.value(scene, to, name)


def _ratios(axes: Axes, means: Means, scenes: list[Scene], methods: list[str], error: str) -> None:
    values = [[ratio(means, scene, Variant.of(name), error=error) for scene in scenes] for name in methods]
    overall = [geometric_mean(value for value in line if not math.isnan(value)) for line in values]
    shown = np.column_stack([values, overall])
    axes.imshow(-np.log2(shown), cmap="PuOr", vmin=-FULLEST, vmax=FULLEST, aspect="auto")
    axes.grid(visible=False)
    axes.axvline(len(scenes) - 0.5, color="white", linewidth=5)
    names = [f"{scene.dataset}\nε = {scene.epsilon:g}" for scene in scenes]
    labels = [*names, "geometric\nmean"]
    axes.set_xticks(range(len(labels)), labels, rotation=40, ha="right", rotation_mode="anchor")
    axes.label_outer()
    axes.set_yticks(range(len(methods)), [method_label(name) for name in methods])
    axes.tick_params(length=0)
    for (row, column), value in np.ndenumerate(shown):
        strong = abs(math.log2(value)) > 0.6 * FULLEST
        axes.text(column, row, number(value, ".2f"), ha="center", va="center", color="white" if strong else "black")
