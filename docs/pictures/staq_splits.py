"""What STAQ makes of one set of measurements, by each of its inferences."""

import numpy as np
from matplotlib.figure import Figure

from docs.pictures.look import draw_cells, panels
from docs.pictures.places import release
from hushgrid import Domain, Staq
from hushgrid.methods.method import Method

IBERIA = Domain(west=-9.8, south=35.9, east=3.4, north=44)
PIXELS = 160
TITLES: dict[str, Method] = {
    "least squares: parts add up": Staq(inference="least-squares"),
    "learned splits: none below zero": Staq(inference="bayes"),
    "belief propagation: neighbours count, cells slope": Staq(inference="belief"),
}


def draw_staq_splits() -> Figure:
    """The same noisy counts through the three inferences, seen through a fine raster."""
    figure, places = panels(1, 3, size=(12, 3.6))
    edges_x = np.linspace(IBERIA.west, IBERIA.east, PIXELS + 1)
    edges_y = np.linspace(IBERIA.south, IBERIA.north, PIXELS + 1)
    west, south = (each.ravel() for each in np.meshgrid(edges_x[:-1], edges_y[:-1]))
    east, north = (each.ravel() for each in np.meshgrid(edges_x[1:], edges_y[1:]))
    raster = np.stack([west, south, east, north], axis=1)
    for axes, (title, method) in zip(places, TITLES.items(), strict=True):
        synopsis = release(method, epsilon="0.1")
        draw_cells(axes, IBERIA, raster, np.asarray(synopsis.count(raster)), edges=False)
        axes.set_title(title, fontsize=10)
    return figure
