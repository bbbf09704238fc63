"""Static pictures: what is drawn, from the artists of matplotlib."""

import math
import sys

import matplotlib as mpl
import numpy as np
import pytest

mpl.use("Agg")
import matplotlib.pyplot as plt

from hushgrid.errors import MissingExtraError
from hushgrid.export.plot import coast
from hushgrid.geometry.domain import Domain
from hushgrid.geometry.grid import Grid
from tests.synopses import synopsis_on
from tests.unit.export.conftest import TOWN, made


@pytest.fixture(autouse=True)
def closed(monkeypatch):
    """Pictures are coarse, and no figure is left open."""
    monkeypatch.setattr("hushgrid.export.plot.RESOLUTION", 60)
    yield
    plt.close("all")


def test_a_picture_has_a_title_a_scale_and_a_colour_bar(synopsis):
    """The title states epsilon, the bar what is shown."""
    axes = synopsis.plot()
    texts = [text.get_text() for text in axes.texts]
    (bar,) = (other for other in axes.figure.axes if other is not axes)

    assert axes.get_title().endswith("ε = 1")
    assert bar.get_ylabel() == "points per km²"
    assert "5 km" in texts
    assert (axes.get_xlim(), axes.get_ylim()) == ((TOWN.west, TOWN.east), (TOWN.south, TOWN.north))


def test_densities_are_per_square_kilometre_of_ground():
    """They sum, over true areas, to the total of the release."""
    grid = Grid(domain=Domain(west=0, south=40, east=20, north=60), rows=40, columns=10)
    synopsis = synopsis_on(grid, values=np.arange(400) + 500)
    densities = synopsis.plot().images[0].get_array()
    sines = np.sin(np.radians(np.linspace(40, 60, densities.shape[0] + 1)))
    areas = 6371.0088**2 * math.radians(20 / densities.shape[1]) * np.diff(sines)

    assert (densities * areas[:, None]).sum() == pytest.approx(synopsis.total)


def test_nothing_is_drawn_where_there_is_nothing():
    """A cell below zero is blank, and a full one is not."""
    synopsis = synopsis_on(Grid(domain=TOWN, rows=8, columns=24), values=np.tile(np.repeat([1000, 1, -50], 8), 8))
    blank = np.ma.getmaskarray(synopsis.plot().images[0].get_array())
    third = blank.shape[1] // 3

    assert (blank[:, : third // 2].any(), blank[:, -1].all()) == (False, True)


def test_no_line_leaps_around_the_world():
    """Outlines that cross 180 degrees go on beyond it, and are seen on both sides."""
    outlines = coast(Domain(west=-180, south=-90, east=180, north=90))
    lines = [*outlines.shores, *outlines.borders, *outlines.land]

    assert max(np.abs(np.diff(line[:-2, 0])).max() for line in lines if len(line) > 3) < 180
    assert any(line[:, 0].max() > 181 for line in outlines.land)
    assert any(line[:, 0].min() < -181 for line in outlines.land)


@pytest.mark.parametrize("values", [[0, 0], [-5, -9]], ids=["zeros", "negative"])
def test_a_release_without_points_is_drawn_too(values):
    """Counts of zero or below are drawn without an error."""
    synopsis_on(Grid(domain=TOWN, rows=1, columns=2), values=values).plot().figure.canvas.draw()


def test_given_axes_and_title_are_used(synopsis):
    """A plot is drawn on the axes given, under the title given."""
    _, axes = plt.subplots()

    assert synopsis.plot(axes, title="Trips") is axes
    assert axes.get_title() == "Trips"


def test_a_simulation_is_marked(simulated):
    """In the picture itself."""
    assert "simulation: not a release" in [text.get_text() for text in simulated.plot().texts]


def test_a_projected_domain_has_a_scale_but_no_coast(in_metres):
    """Kilometres follow from its units."""
    axes = in_metres.plot()

    assert "10 km" in [text.get_text() for text in axes.texts]
    assert axes.get_xlabel() == "easting (EPSG:32618)"
    assert len(axes.collections) == 0


def test_without_pyproj_units_are_the_domain_s_own(in_metres, monkeypatch):
    """Without pyproj there is no scale, and densities are per square unit."""
    monkeypatch.setitem(sys.modules, "pyproj", None)
    axes = in_metres.plot()

    assert len(axes.texts) == 0
    assert "points per square unit" in [other.get_ylabel() for other in axes.figure.axes]


def test_coasts_are_those_near_the_domain():
    """Long Island is, Hawaii is not; shores and borders are apart."""
    lines = coast(TOWN)

    assert all(line[:, 0].min() < TOWN.east and line[:, 0].max() > TOWN.west for line in lines.shores)
    assert lines.shores
    assert lines.borders == []
    assert coast(Domain(west=5, south=45, east=15, north=50)).borders


def test_a_missing_library_is_named_with_its_extra(monkeypatch):
    """Instead of an ImportError from deep inside."""
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)

    with pytest.raises(MissingExtraError, match=r"needs matplotlib: pip install 'hushgrid\[plots\]'"):
        made("grid").plot()
