"""AG with slopes: the release of AG, bit by bit, and another density inside its leaves."""

from dataclasses import replace

import numpy as np
import pytest
import shapely

from hushgrid.files.verify import verify_file
from hushgrid.methods.adaptive_grid import AdaptiveGrid
from hushgrid.synopsis.scale import Scale
from hushgrid.synopsis.synopsis import read
from tests.conformance.test_methods import EXPLICIT, POINTS, clustered, release
from tests.conformance.test_polygons import STAR, some_rects
from tests.conformance.test_released_values import differs

SMOOTH = {"explicit": replace(EXPLICIT["ag"], smooth=True), "guideline": AdaptiveGrid(smooth=True)}
CROWD = clustered(20_000)


@pytest.mark.parametrize("points", POINTS.values(), ids=POINTS)
@pytest.mark.parametrize("method", SMOOTH.values(), ids=SMOOTH)
def test_only_the_density_inside_leaves_differs(method, points):
    """Equal noise gives equal measurements, counts and claim; leaves and the domain count the same."""
    smooth, plain = release(method, points), release(replace(method, smooth=False), points)
    queries = np.concatenate([plain.partition.bounds(), [[0, 0, 1, 1]]])

    assert smooth.partition == plain.partition
    assert smooth.claim == plain.claim
    assert np.array_equal(smooth.counts, plain.counts)
    assert np.array_equal(smooth.variances, plain.variances)
    assert np.array_equal(smooth.measurements.leaves.values, plain.measurements.leaves.values)
    assert np.allclose(smooth.count(queries), plain.count(queries), atol=1e-6)


def test_points_that_lie_together_make_leaves_slope():
    """Answers differ from those of flat leaves, and errors are smaller for it."""
    places = np.array(CROWD)
    west, south, east, north = rects = some_rects()[:200].T
    inside = (west <= places[:, :1]) & (places[:, :1] < east) & (south <= places[:, 1:]) & (places[:, 1:] < north)
    smooth = release(AdaptiveGrid(smooth=True), CROWD)
    plain = release(AdaptiveGrid(), CROWD)
    kept = np.all((places >= 0) & (places <= 1), axis=1)

    true_counts = inside[kept].sum(axis=0)
    errors = [np.abs(synopsis.count(rects.T) - true_counts).mean() for synopsis in (smooth, plain)]
    assert smooth.slopes.any()
    assert len(plain.slopes) == 0
    assert errors[0] < 0.97 * errors[1]


def test_nothing_of_the_data_shows_but_what_was_released():
    """The smooth grid passes the check of every method."""
    assert not differs(AdaptiveGrid(smooth=True))


def test_the_file_is_consistent_and_answers_alike(tmp_path):
    """Slopes are learned again from what was saved."""
    synopsis, path = release(AdaptiveGrid(smooth=True), CROWD), tmp_path / "release.dp.parquet"
    synopsis.save(path, allow_simulation=True)
    found = read(path)

    assert {check.name for check in verify_file(path).checks if not check.ok} == {"release"}  # its noise is seeded
    assert found.inference == "two-level-sloped"
    assert np.array_equal(found.slopes, synopsis.slopes)
    assert np.array_equal(found.count(some_rects()), synopsis.count(some_rects()))


@pytest.mark.parametrize("scaled", [False, True], ids=["as it is", "scaled"])
def test_a_rectangle_as_a_polygon_is_the_rectangle(scaled):
    """The estimate to 1e-9 of the total, the deviations to rounding; a polygon and the rest sum to the total."""
    synopsis = release(AdaptiveGrid(smooth=True), CROWD)
    if scaled:
        synopsis = synopsis.scaled(Scale.to(70_000, synopsis.counts, source="public"))
    rects = some_rects()
    area, rect = synopsis.answer_polygons(shapely.box(*rects.T)), synopsis.answer(rects)
    rest = shapely.difference(shapely.box(-1, -1, 2, 2), STAR)

    assert np.allclose(area.estimate, rect.estimate, rtol=0, atol=1e-9 * abs(synopsis.counts).sum())
    for deviation in ("noise_std", "spread_std"):
        ours, theirs = getattr(area, deviation) ** 2, getattr(rect, deviation) ** 2
        assert np.allclose(ours, theirs, rtol=1e-9, atol=1e-9 * theirs.max())
    assert np.isclose(synopsis.count_polygons([STAR, rest]).sum(), synopsis.total)


def test_slopes_are_for_nested_grids(tmp_path):
    """A grouped grid has none, and no file may say so."""
    grouped = replace(release(EXPLICIT["dag"], ()), inference="two-level-sloped")

    with pytest.raises(ValueError, match="do not fit"):
        grouped.save(tmp_path / "release.dp.parquet", allow_simulation=True)
