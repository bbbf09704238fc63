"""Every method against AG, and STAQ stage by stage."""

import math

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from experiments.estimate import Estimate, geometric_mean_of
from experiments.figures.exhibit import Exhibit, Table, number
from experiments.figures.means import MADE_UP, Means, Scene
from experiments.figures.series import PALEST, Series
from experiments.figures.style import empty, in_style, panels
from experiments.figures.variant import Variant, method_label
from experiments.trial import Row

REFERENCE = Variant.of("ag")
ERRORS = ("relative", "absolute")
FULLEST = 3.0  # doublings and halvings beyond this have the fullest colour
STAGES = (
    Series(label="UG", variant=Variant.of("ug")),
    Series(label="AG", variant=Variant.of("ag")),
    Series(label="STAQ, least squares", variant=Variant.of("staq", inference="least-squares"), white=PALEST),
    Series(label="STAQ, Bayes splits", variant=Variant.of("staq", inference="bayes"), white=PALEST / 2),
    Series(label="STAQ, belief propagation", variant=Variant.of("staq")),
)


@in_style
def draw_ratios(rows: list[Row]) -> Figure:
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


@in_style
def draw_stages(rows: list[Row]) -> Figure:
    """Geometric mean over sets of the error relative to AG's, by budget and stage."""
    means = Means(rows)
    epsilons = sorted({scene.epsilon for scene in _scenes(means)})
    if not epsilons:
        return empty("not run")
    figure, [line] = panels(1, len(ERRORS), height=2.9)
    for axes, error in zip(line, ERRORS, strict=True):
        for place, stage in enumerate(STAGES):
            at = [column + 0.16 * (place - 2) for column in range(len(epsilons))]
            heights = [overall(means, stage.variant, epsilon, error) for epsilon in epsilons]
            bars = axes.bar(
                at,
                [height.value for height in heights],
                yerr=[height.error for height in heights],
                width=0.15,
                color=stage.colour,
                label=stage.label,
            )
            texts = [number(height.value, ".2f") for height in heights]
            axes.bar_label(bars, texts, fontsize=8, padding=2, bbox={"facecolor": "white", "linewidth": 0, "pad": 0.6})
        axes.axhline(1, color="black", linewidth=0.9, zorder=0.9)
        axes.set_xticks(range(len(epsilons)), [f"ε = {epsilon:g}" for epsilon in epsilons])
        axes.set_ylabel(f"{error} error / AG's")
    figure.legend(*line[0].get_legend_handles_labels(), loc="outside upper center", ncols=len(STAGES))
    return figure


def stage_table(rows: list[Row]) -> Table:
    """The ratios of every set."""
    means = Means(rows)
    headings = ("data set", "ε", *(f"{stage.label}: {error}" for stage in STAGES for error in ERRORS))
    return Table(headings=headings, lines=tuple(_line(means, scene) for scene in _scenes(means)))


def overall(means: Means, variant: Variant, epsilon: float, error: str) -> Estimate:
    """Geometric mean over sets of a ratio to AG."""
    found = (scene for scene in _scenes(means) if scene.epsilon == epsilon)
    return geometric_mean_of(ratio(means, scene, variant, error=error) for scene in found)


def _scenes(means: Means) -> list[Scene]:
    """Where a stage other than the last was run."""
    return [scene for scene in means.scenes() if any(means.has(scene, stage.variant) for stage in STAGES[2:4])]


def _line(means: Means, scene: Scene) -> tuple[str, ...]:
    ratios = [ratio(means, scene, stage.variant, error=error) for stage in STAGES for error in ERRORS]
    return scene.dataset, f"{scene.epsilon:g}", *(value.text() for value in ratios)


AGAINST_AG = Exhibit(
    title="Every method against AG",
    caption="Mean error as a ratio to AG's at its suggested size, and the standard error of that, paired by "
    "workload: purple below 1 is better, orange worse.",
    draw=draw_ratios,
)


BY_STAGE = Exhibit(
    title="STAQ, stage by stage",
    caption="Geometric mean over sets of the error as a ratio to AG's, with its standard error.",
    draw=draw_stages,
    table=stage_table,
)
