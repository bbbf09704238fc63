"""The same places by the three methods that most releases use."""

from matplotlib.figure import Figure

from docs.pictures.look import draw_cells, panels
from docs.pictures.places import EUROPE, bounds_of, release

TITLES = {"ug": "UG: one size for all", "ag": "AG: looks twice", "staq": "STAQ: looks until it has seen enough"}


def draw_grids() -> Figure:
    """UG, AG and STAQ at the same budget, every cell outlined."""
    figure, places = panels(1, 3, size=(12, 4.6))
    for axes, (method, title) in zip(places, TITLES.items(), strict=True):
        synopsis = release(method, epsilon="0.1")
        draw_cells(axes, EUROPE, bounds_of(synopsis), synopsis.counts)
        axes.set_title(f"{title}, {synopsis.partition.cells:,} cells", fontsize=10)
    return figure
