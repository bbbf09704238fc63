"""Every method's error as a ratio to AG's, on every set."""

import math

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from experiments.estimate import Estimate, geometric_mean_of
from experiments.figures.means import MADE_UP, Means, Scene
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
    scenes = [scene for scene in means.scenes() if means.has(scene, REFERENCE) and scene.dataset not in MADE_UP]
    methods = means.methods()
    if not scenes:
        return empty("AG was not run")
    figure, grid = panels(len(ERRORS), 1, height=0.38 * len(methods) + 0.9)
    for [axes], error in zip(grid, ERRORS, strict=True):
        _ratios(axes, means, scenes, methods, error)
        axes.set_title(f"{error} error / AG's", loc="left")
    return figure


def ratio(means: Means, scene: Scene, variant: Variant, *, error: str, to: Variant = REFERENCE) -> Estimate:
    """Mean error of a variant as a share of another's."""
    name = f"{error}_mean"
    return means.estimate(scene, variant, name) / means.estimate(scene, to, name)


def _ratios(axes: Axes, means: Means, scenes: list[Scene], methods: list[str], error: str) -> None:
    ratios = [[ratio(means, scene, Variant.of(name), error=error) for scene in scenes] for name in methods]
    estimates = [[*line, geometric_mean_of(line)] for line in ratios]
    shown = np.array([[each.value for each in line] for line in estimates])
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
        colour, deviation = "white" if strong else "black", estimates[row][column].error
        axes.text(column, row - 0.16, number(value, ".2f"), ha="center", va="center", color=colour)
        if deviation > 0:  # not of AG against itself, nor of a single run
            axes.text(column, row + 0.27, f"± {deviation:.2f}", ha="center", va="center", color=colour, fontsize=7)
