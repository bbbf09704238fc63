"""What each stage of STAQ adds, as a ratio to AG."""

from matplotlib.figure import Figure

from experiments.estimate import Estimate, geometric_mean_of
from experiments.figures.accuracy import ratio
from experiments.figures.means import Means, Scene
from experiments.figures.series import PALEST, Series
from experiments.figures.style import empty, in_style, panels
from experiments.figures.table import Table, number
from experiments.figures.variant import Variant
from experiments.trial import Row

ERRORS = ("relative", "absolute")
STAGES = (
    Series(label="UG", variant=Variant.of("ug")),
    Series(label="AG", variant=Variant.of("ag")),
    Series(label="STAQ, least squares", variant=Variant.of("staq", inference="least-squares"), white=PALEST),
    Series(label="STAQ, Bayes splits", variant=Variant.of("staq", inference="bayes"), white=PALEST / 2),
    Series(label="STAQ, belief propagation", variant=Variant.of("staq")),
)


@in_style
def draw(rows: list[Row]) -> Figure:
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


def table(rows: list[Row]) -> Table:
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
