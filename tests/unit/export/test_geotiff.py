"""Pixels as a cloud-optimised GeoTIFF, read back by rasterio."""

import io
import sys

import numpy as np
import pytest
import rasterio
from rasterio.io import MemoryFile

from hushgrid.errors import ArgumentError, MissingExtraError
from hushgrid.export.raster import pixels, write_geotiff
from tests.plain import coverage
from tests.unit.export.conftest import TOWN, made


def opened(synopsis, resolution=None):
    """The GeoTIFF of a synopsis: tags, profile, bands and overviews."""
    out = io.BytesIO()
    write_geotiff(synopsis, out, resolution=resolution)
    with MemoryFile(out.getvalue()) as memory, memory.open() as file:
        layout = file.tags(ns="IMAGE_STRUCTURE").get("LAYOUT")
        return file.read(), file.profile, file.tags(), file.descriptions, (layout, file.overviews(1), file.bounds)


@pytest.mark.parametrize("resolution", [None, 1, 7, 100, (5, 3), (64, 200)], ids=str)
def test_estimates_sum_to_the_total(synopsis, resolution):
    """At any resolution, coarser or finer than the cells."""
    bands, *_ = opened(synopsis, resolution)

    assert bands[0].sum() == pytest.approx(synopsis.total, rel=1e-12)


def test_pixels_hold_what_cells_cover(synopsis):
    """North first; shares of cells by area, as a plain sum over all cells has them."""
    bands, profile, *_ = opened(synopsis, (9, 5))
    grid = pixels(synopsis, (9, 5))
    plain = (coverage(synopsis.partition, grid.bounds()) @ synopsis.counts).reshape(5, 9)

    assert np.allclose(bands[0], plain[::-1])
    assert np.allclose(bands[1].ravel(), synopsis.answer(grid.bounds()).noise_std.reshape(5, 9)[::-1].ravel())
    assert profile["dtype"] == "float64"


def test_a_grid_is_written_cell_by_cell():
    """Counts and standard errors as they are."""
    synopsis = made("grid")
    bands, *_ = opened(synopsis)

    assert np.allclose(bands[0][::-1].ravel(), synopsis.counts)
    assert np.allclose(bands[1][::-1].ravel(), np.sqrt(synopsis.variances))


def test_the_file_is_cloud_optimised(synopsis):
    """Tiles of 256 pixels, overviews, and the layout that GDAL declares."""
    _, profile, _, descriptions, (layout, overviews, bounds) = opened(synopsis, 1000)

    assert layout == "COG"
    assert profile["tiled"]
    assert (profile["blockxsize"], profile["blockysize"]) == (256, 256)
    assert overviews == [2, 4]
    assert descriptions == ("estimate", "standard error by noise")
    assert np.allclose(bounds, TOWN.bounds)


def test_tags_say_what_it_is(synopsis, simulated):
    """The guarantee, the method, and whether it is none."""
    _, profile, tags, *_ = opened(synopsis)

    assert tags["GUARANTEE"] == synopsis.claim.sentence
    assert tags["METHOD"] == synopsis.method.name
    assert "SIMULATION" not in tags
    assert "not a release" in opened(simulated)[2]["SIMULATION"]
    assert profile["crs"] == rasterio.crs.CRS.from_epsg(4326)


def test_the_reference_system_is_kept(in_metres):
    """With the bounds in it."""
    _, profile, *_, (_, _, bounds) = opened(in_metres)

    assert profile["crs"] == rasterio.crs.CRS.from_epsg(32618)
    assert tuple(bounds) == in_metres.domain.bounds


@pytest.mark.parametrize("resolution", [0, -3, (0, 5), (10**5, 10**5)], ids=str)
def test_pixels_that_are_none_or_too_many_are_refused(resolution):
    """A resolution of no pixels or too many is refused."""
    with pytest.raises(ArgumentError):
        pixels(made("grid"), resolution)


def test_a_missing_library_is_named_with_its_extra(monkeypatch):
    """Instead of an ImportError from deep inside."""
    monkeypatch.setitem(sys.modules, "rasterio", None)

    with pytest.raises(MissingExtraError, match=r"needs rasterio: pip install 'hushgrid\[raster\]'"):
        write_geotiff(made("grid"), io.BytesIO())
