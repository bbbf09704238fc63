"""The look that the pictures share: sizes, colours, cells of a release on a map."""

from collections.abc import Callable
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib import colormaps
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.collections import LineCollection, PolyCollection
from matplotlib.colors import ListedColormap, LogNorm
from matplotlib.figure import Figure
from numpy.typing import NDArray
from PIL import Image

from hushgrid import Domain
from hushgrid.export.plot import coast

Floats = NDArray[np.float64]
Draw = Callable[[], Figure]

INK, NOISE, UNIFORMITY, TOTAL = "#2b3238", "#c2452d", "#2f6db3", "#2b3238"
LAND, SHORE, EDGE = "#fbfbf9", "#5b6770", "#8a939a"
DENSITIES = ListedColormap(colormaps["magma_r"](np.linspace(0.0, 0.95, 256)))
FEW = 192  # colours; nearly all are of one scale
LOOK: Any = {  # matplotlib's type is one of all its names
    "font.family": "DejaVu Sans",
    "font.size": 9.5,
    "axes.edgecolor": "#666666",
    "axes.spines.top": False,
    "axes.spines.right": False,
    "legend.frameon": False,
    "text.color": INK,
    "figure.facecolor": "white",
}


def panels(rows: int, columns: int, *, size: tuple[float, float]) -> tuple[Figure, list[Axes]]:
    """A figure of so many inches, with panels in reading order."""
    figure = Figure(figsize=size, layout="constrained")
    FigureCanvasAgg(figure)
    return figure, list(np.ravel(figure.subplots(rows, columns)))


def save(figure: Figure, path: Path) -> None:
    """Write a picture whose bytes do not depend on the day."""
    figure.savefig(path, dpi=130, metadata={"Software": None})


def save_small(figure: Figure, path: Path) -> None:
    """Write a picture in few colours, a third as large."""
    drawn = BytesIO()
    figure.savefig(drawn, dpi=110)
    Image.open(drawn).convert("RGB").quantize(FEW, dither=Image.Dither.NONE).save(path, optimize=True)


def draw_cells(axes: Axes, domain: Domain, bounds: Floats, counts: Floats, *, edges: bool = True) -> None:
    """Cells coloured by density on a log scale, over coastlines; cells that may as well be empty stay blank."""
    west, south, east, north = bounds.T
    corners = np.stack([west, south, east, south, east, north, west, north], axis=1).reshape(-1, 4, 2)
    densities = np.maximum(counts, 0) / ((east - west) * (north - south))
    highest = float(np.quantile(densities, 0.995))
    filled = PolyCollection(
        list(corners),
        array=np.ma.masked_less(densities, highest / 1000),
        cmap=DENSITIES,
        norm=LogNorm(highest / 1000, highest),
        edgecolors=EDGE if edges else "none",
        linewidths=0.25 if edges else 0,
    )
    axes.add_collection(filled)
    outlines = coast(domain)
    axes.add_collection(LineCollection(outlines.shores, colors=SHORE, linewidths=0.7))
    axes.set_facecolor(LAND)
    axes.set_xlim(domain.west, domain.east)
    axes.set_ylim(domain.south, domain.north)
    axes.set_aspect(1 / np.cos(np.radians((domain.south + domain.north) / 2)))
    axes.set_xticks([])
    axes.set_yticks([])
    for spine in axes.spines.values():
        spine.set_visible(True)
