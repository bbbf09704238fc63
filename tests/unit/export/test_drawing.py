"""The drawing of a release: a PNG that other programs read, over land and water."""

import base64
import io
import re
from itertools import pairwise

import matplotlib.image
import numpy as np
import pytest

import hushgrid as hg
from hushgrid.export.drawing import drawing, png
from hushgrid.export.world import in_sight

LAKES = hg.Domain(west=-90, south=40, east=-75, north=50)


def test_a_png_reads_back() -> None:
    """Another program sees the same colours, and shade 0 as transparent."""
    palette = np.array([[255, 255, 255], [10, 20, 30], [200, 0, 7]], np.uint8)
    shades = np.array([[0, 1, 2], [2, 1, 0]], np.uint8)

    seen = matplotlib.image.imread(io.BytesIO(png(shades, palette)), format="png")
    assert np.array_equal(np.rint(255 * seen[..., :3]).astype(int), palette[shades])
    assert np.array_equal(seen[..., 3] > 0, shades > 0)


def test_the_dense_corner_is_dark() -> None:
    """North is up, east is right, and what is dense is darker than what is not."""
    square = hg.Domain(west=580_000, south=4_500_000, east=590_000, north=4_510_000, crs="EPSG:32618")
    points = [[589_000, 4_509_000]] * 4000 + [[581_000, 4_501_000]] * 40
    release = hg.publish(points, domain=square, epsilon=10, method=hg.UniformGrid(side=8), crs="EPSG:32618")
    picture = re.search(r"base64,([\w+/=]+)", drawing(release, label="a"))
    assert picture is not None
    seen = matplotlib.image.imread(io.BytesIO(base64.b64decode(picture[1])), format="png")
    size = len(seen) // 8

    north_east, south_west = seen[:size, -size:], seen[-size:, :size]
    assert north_east[..., 3].all()
    assert north_east[..., :3].mean() < 0.5 < south_west[..., :3].mean()


@pytest.mark.parametrize("label", ['"><script>', "a & b"])
def test_labels_are_escaped(label: str) -> None:
    """Whatever the language file says, no tag is made of it."""
    release = hg.publish([[-80.0, 45.0]], domain=LAKES, epsilon=1, method="uniform", calibrate=False)
    drawn = drawing(release, label=label)

    assert "<script" not in drawn
    assert drawn.count("<path") == 3  # land, shores and borders
    assert len(drawn) < 300_000


def test_only_what_can_be_seen_is_kept() -> None:
    """Every segment that meets the bounds is kept, and the line has both its ends."""
    line = np.cumsum(np.random.default_rng(3).normal(size=(400, 2)), axis=0)
    around = (-2.0, -2.0, 2.0, 2.0)
    kept = in_sight(line, around)

    low, high = np.array(around[:2]), np.array(around[2:])
    for start, stop in pairwise(line):
        meets = any(np.all((low <= place) & (place <= high)) for place in np.linspace(start, stop, 50))
        if meets:
            assert kept[np.all(line == start, axis=1)].all()
            assert kept[np.all(line == stop, axis=1)].all()
    assert kept[0]
    assert kept[-1]
    assert not kept.all()
