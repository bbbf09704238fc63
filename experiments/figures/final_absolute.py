"""Final comparison of six methods by absolute error (figure "absolute" of the paper)."""

from matplotlib.figure import Figure

from experiments.figures.contenders import contenders
from experiments.figures.means import Means
from experiments.figures.style import candlesticks, empty, in_style, label_first, plain_log, tiles
from experiments.trial import Row


@in_style
def draw(rows: list[Row]) -> Figure:
    """Candlesticks on a log axis, because absolute errors have large ranges."""
    means = Means(rows)
    scenes = [scene for scene in means.paper_scenes() if contenders(means, scene)]
    if not scenes:
        return empty("not run")
    figure, places = tiles(len(scenes), height=3.2)
    for axes, scene in zip(places, scenes, strict=True):
        candlesticks(axes, means, scene, contenders(means, scene), error="absolute")
        axes.set_title(scene.title, loc="left")
        plain_log(axes)
    label_first(places, "absolute error")
    return figure
