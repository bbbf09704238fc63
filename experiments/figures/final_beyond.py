"""Final comparison beyond the paper: newer methods, our own, and smaller budgets."""

from matplotlib.figure import Figure

from experiments.figures.contenders import UNTUNED, contenders, newcomers
from experiments.figures.means import Means, Scene
from experiments.figures.series import Series
from experiments.figures.style import candlesticks, empty, in_style, panels, plain_log
from experiments.trial import Row

EPSILONS = (0.01, 0.1, 1.0)


@in_style
def draw(rows: list[Row]) -> Figure:
    """Candlesticks of what a user gets without tuning, one row a set, one column a budget, on a log axis."""
    means = Means(rows)
    scenes = [scene for scene in means.paper_scenes(epsilons=EPSILONS) if newcomers(means, scene)]
    if not scenes:
        return empty("not run")
    datasets = list(dict.fromkeys(scene.dataset for scene in scenes))
    epsilons = sorted({scene.epsilon for scene in scenes})
    figure, grid = panels(len(datasets), len(epsilons), height=3.0)
    for line, dataset in zip(grid, datasets, strict=True):
        line[0].set_ylabel("relative error")
        for axes, epsilon in zip(line, epsilons, strict=True):
            scene = Scene(dataset=dataset, epsilon=epsilon)
            if scene not in scenes:
                axes.set_axis_off()
                continue
            candlesticks(axes, means, scene, _sticks(means, scene))
            axes.set_title(scene.label, loc="left")
            plain_log(axes)
    return figure


def _sticks(means: Means, scene: Scene) -> list[Series]:
    return [*(stick for stick in contenders(means, scene) if stick.label in UNTUNED), *newcomers(means, scene)]
