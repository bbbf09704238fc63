"""Final comparison of six methods by relative error (figure "compare" of the paper)."""

from matplotlib.figure import Figure

from experiments.figures.contenders import contenders
from experiments.figures.means import Means
from experiments.figures.pairs import draw_pairs
from experiments.figures.style import in_style
from experiments.trial import Row


@in_style
def draw(rows: list[Row]) -> Figure:
    """For each set and budget, lines by query size and candlesticks over all sizes."""
    means = Means(rows)
    return draw_pairs(means, means.paper_scenes(), lines=contenders, sticks=contenders)
