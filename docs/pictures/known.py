"""What is drawn of a release, beside its cells as they are: four sets of points at two budgets."""

import math
from functools import partial

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import LogNorm
from matplotlib.figure import Figure

from docs.pictures.look import DENSITIES, Floats, panels
from experiments.datasets import DATASETS
from experiments.datasets.table import TableDataset
from hushgrid import Domain, Synopsis, publish
from hushgrid.export.picture import Picture, row_sizes
from hushgrid.export.plot import DECADES, DENSEST, draw_ground
from hushgrid.export.raster import Raster, pixels

PIXELS = 1024  # on the longer side
PANEL, TITLE = 12.0, 0.3  # square inches, and inches above
RECORDS_KEPT = 10  # of each user
WITH_USERS = "checkin_gowalla_nyc"
SHOWN = {  # the part of the domain that is shown
    "us_chains": Domain(west=-126, south=23, east=-66, north=51),
    "uk_postcodes": Domain(west=-8, south=49.8, east=2, north=59),
    WITH_USERS: Domain(west=-74.13, south=40.55, east=-73.77, north=40.88),
    "places": Domain(west=-25, south=30, east=65, north=72),
}
BUDGETS = ("0.1", "1")


def set_at_hand(name: str) -> TableDataset | None:
    """A set of points, or None where its file is missing."""
    found = DATASETS[name]
    assert isinstance(found, TableDataset)
    return found if found.at_hand else None


def draw_known(name: str, epsilon: str) -> Figure:
    """Cells as they are, and what is drawn; with a user protected too where there are users."""
    dataset = set_at_hand(name)
    if dataset is None:
        msg = f"{name} is not there: let HUSHGRID_DATA name the folder that holds it."
        raise FileNotFoundError(msg)
    release = partial(publish, dataset.path, domain=dataset.domain, epsilon=epsilon, calibrate=False)
    by_record = release()
    shown = {
        "the cells, each as it is": (by_record, raw_cells(by_record)),
        "what is drawn": (by_record, drawn(by_record)),
    }
    if name == WITH_USERS:
        by_user = release(user="user", max_per_user=RECORDS_KEPT)
        shown["what is drawn, users protected"] = (by_user, drawn(by_user))
    width, height = _inches(SHOWN[name])
    figure, places = panels(1, len(shown), size=(width * len(shown), height + TITLE))
    for axes, (title, (synopsis, densities)) in zip(places, shown.items(), strict=True):
        draw_densities(axes, synopsis.domain, densities, SHOWN[name], highest=_highest(drawn(synopsis)))
        axes.set_title(f"{title}, ε = {epsilon}", fontsize=9.5)
    return figure


def raw_cells(synopsis: Synopsis) -> Floats:
    """Density of the cell that each pixel lies in."""
    raster = Raster.of(synopsis, pixels(synopsis, PIXELS))
    return raster.estimates / row_sizes(raster.grid)[:, None]


def drawn(synopsis: Synopsis) -> Floats:
    """Density of each pixel, as finely as the release knows it."""
    return Picture.of(synopsis, longest=PIXELS).paint()


def _inches(shown: Domain) -> tuple[float, float]:
    """Width and height of a panel."""
    ratio = shown.width / shown.height * math.cos(math.radians((shown.south + shown.north) / 2))
    return math.sqrt(PANEL * ratio), math.sqrt(PANEL / ratio)


def _highest(densities: Floats) -> float:
    """The density of the last colour."""
    return float(np.quantile(densities[densities > 0], DENSEST))


def draw_densities(
    axes: Axes, domain: Domain, densities: Floats, shown: Domain, *, highest: float | None = None
) -> None:
    """Draw pixels of a domain on the part of it that is shown, by default up to their own densest."""
    highest = _highest(densities) if highest is None else highest
    lowest = highest / 10**DECADES
    draw_ground(axes, shown)
    axes.imshow(
        np.ma.masked_less(densities, lowest),
        extent=(domain.west, domain.east, domain.south, domain.north),
        origin="lower",
        aspect=axes.get_aspect(),
        norm=LogNorm(lowest, highest),
        cmap=DENSITIES,
        interpolation="none",
        zorder=2,
    )
    axes.set_xlim(shown.west, shown.east)
    axes.set_ylim(shown.south, shown.north)
    axes.set_xticks([])
    axes.set_yticks([])
