"""The picture in the page: the one that Python paints, at every zoom and through every window."""

import json
import subprocess
from pathlib import Path

import numpy as np
import pytest

import hushgrid as hg
from hushgrid.export.picture import Picture, row_sizes, smoothly_halved
from hushgrid.web import figures
from hushgrid.web.page import map_page
from tests.web.pages import DOMAIN, MODULES, NODE, block, facts_of, needs_node, some_points

SCRIPT = Path(__file__).with_name("picture.mjs")
COARSE = 2 ** (0.5 / figures.STEPS) - 1  # half a step of the logarithms of densities

pytestmark = needs_node


@pytest.fixture(scope="module", params=["ug", "ag", "staq"])
def synopsis(request):
    """A release of two clusters and points between them."""
    return hg.publish(some_points(), domain=DOMAIN, epsilon=1, method=request.param, rng=hg.simulation_rng(3))


def window(left, bottom, right, top):
    return {"left": left, "bottom": bottom, "right": right, "top": top}


def painted(synopsis, *windows):
    """What the page paints in windows of levels."""
    page = map_page(synopsis)
    job = {"facts": facts_of(page), "payload": block(page, "payload"), "windows": windows}
    done = subprocess.run([NODE, SCRIPT, MODULES], input=json.dumps(job), capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


def in_python(synopsis, level):
    """Layers up to a level, finer ones summed up in their blocks, painted."""
    layers = Picture.of(synopsis, longest=figures.FINEST).layers
    target = layers[level].grid
    densities = np.zeros((1, 1))
    for depth, layer in enumerate(layers[: level + 1]):
        densities = smoothly_halved(densities) if depth else densities
        densities = densities + layer.raster() / row_sizes(layer.grid)[:, None]
    for layer in layers[level + 1 :]:
        size = layer.grid.rows // target.rows
        sums = layer.raster().reshape(target.rows, size, target.columns, size).sum(axis=(1, 3))
        densities = densities + sums / row_sizes(target)[:, None]
    return densities


def whole(found, level):
    return window(0, 0, found["columns"] * 2**level, found["rows"] * 2**level)


def test_every_level_is_what_python_paints(synopsis):
    """Up to the rounding of densities, and of the sizes of blocks in one row of a larger one."""
    size = painted(synopsis)
    levels = range(3, size["layers"])
    found = painted(synopsis, *((level, whole(size, level)) for level in levels))

    for level, densities in zip(levels, found["densities"], strict=True):
        expected = in_python(synopsis, level)
        shown = np.reshape(densities, expected.shape)
        assert np.abs(shown - expected).max() <= (COARSE + 0.02) * expected.max()
        assert shown.sum() == pytest.approx(expected.sum(), rel=0.01)


def test_a_tile_is_part_of_the_whole(synopsis):
    """A window gives what the whole level has there, beyond the last layer too."""
    size = painted(synopsis)
    level = size["layers"] + 1
    all_of_it = whole(size, level)
    part = window(all_of_it["right"] // 3, 5, all_of_it["right"] // 3 + 37, 60)
    found = painted(synopsis, (level, all_of_it), (level, part))

    for view in ("densities", "fineness"):
        everything = np.reshape(found[view][0], (all_of_it["top"], all_of_it["right"]))
        expected = everything[part["bottom"] : part["top"], part["left"] : part["right"]]
        assert np.allclose(np.reshape(found[view][1], expected.shape), expected)


def test_fineness_is_the_layer_that_a_place_is_painted_in(synopsis):
    """By the blocks of each layer, and the level itself where blocks are divided further."""
    layers = Picture.of(synopsis, longest=figures.FINEST).layers
    level = 6
    found = painted(synopsis, (level, whole(painted(synopsis), level)))
    grid = layers[level].grid
    expected = np.full((grid.rows, grid.columns), level)
    for depth, layer in enumerate(layers[:level]):
        size = grid.rows // layer.grid.rows
        is_painted = np.isin(np.arange(layer.grid.cells), layer.blocks).reshape(layer.grid.rows, layer.grid.columns)
        expected[np.kron(is_painted, np.ones((size, size))) > 0] = depth

    assert np.array_equal(np.reshape(found["fineness"][0], expected.shape), expected)
