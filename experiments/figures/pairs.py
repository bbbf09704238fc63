"""The paper's layout: for each set a row, for each budget a panel of lines and one of candlesticks beside it."""

from collections.abc import Callable, Sequence

from matplotlib.figure import Figure

from experiments.figures.means import Means, Scene
from experiments.figures.series import Series
from experiments.figures.style import candlesticks, empty, panels, query_lines, shared_legend

Chooser = Callable[[Means, Scene], list[Series]]


def draw_pairs(means: Means, scenes: Sequence[Scene], *, lines: Chooser, sticks: Chooser) -> Figure:
    """Pairs of panels by relative error, two budgets side by side; scenes without anything to show are left out."""
    shown = [scene for scene in scenes if sticks(means, scene)]
    if not shown:
        return empty("not run")
    datasets = list(dict.fromkeys(scene.dataset for scene in shown))
    epsilons = sorted({scene.epsilon for scene in shown})
    figure, grid = panels(len(datasets), 2 * len(epsilons), height=3.0)
    for row, dataset in enumerate(datasets):
        for column, epsilon in enumerate(epsilons):
            left, right = grid[row][2 * column : 2 * column + 2]
            scene = Scene(dataset=dataset, epsilon=epsilon)
            if scene not in shown:
                left.set_axis_off()
                right.set_axis_off()
                continue
            query_lines(left, means, scene, lines(means, scene))
            candlesticks(right, means, scene, sticks(means, scene))
            left.set_title(scene.label, loc="left")
            left.set_ylabel("relative error")
            for axes in (left, right):
                axes.set_ylim(bottom=0)
    shared_legend(figure, [axes for line in grid for axes in line])
    return figure
