"""Polygon counts on the release of every method in METHODS."""

import numpy as np
import pytest
import shapely

from hushgrid.methods import METHODS
from hushgrid.synopsis.synopsis import read
from tests.conformance.test_methods import EXPLICIT, clustered, release

STAR = shapely.Polygon(
    [(0.5, 1.1), (0.4, 0.6), (-0.1, 0.5), (0.4, 0.4), (0.5, -0.1), (0.6, 0.4), (1.1, 0.5), (0.6, 0.6)]
)


def some_rects():
    """Rectangles around and across the unit square, some of them along edges of cells."""
    rng = np.random.default_rng(0)
    low = rng.uniform(-0.2, 1, (300, 2))
    rects = np.hstack([low, low + rng.uniform(0.001, 1, (300, 2))])
    rects[200:] = np.round(rects[200:] * 16) / 16 + [0, 0, 1 / 16, 1 / 16]
    return np.vstack([rects, [[0, 0, 1, 1], [-1, -1, 2, 2], [1, 1, 2, 2]]])


@pytest.mark.parametrize("form", ["explicit", "guideline"])
@pytest.mark.parametrize("name", METHODS)
def test_a_rectangle_as_a_polygon_is_the_rectangle(name, form):
    """The estimate to 1e-9 of the total, the deviations to rounding."""
    synopsis = release(EXPLICIT[name] if form == "explicit" else METHODS[name](), clustered())
    rects = some_rects()
    area, rect = synopsis.answer_polygons(shapely.box(*rects.T)), synopsis.answer(rects)

    assert np.allclose(area.estimate, rect.estimate, rtol=0, atol=1e-9 * abs(synopsis.counts).sum())
    for deviation in ("noise_std", "spread_std"):
        ours, theirs = getattr(area, deviation) ** 2, getattr(rect, deviation) ** 2
        assert np.allclose(ours, theirs, rtol=1e-9, atol=1e-9 * theirs.max())


@pytest.mark.parametrize("name", METHODS)
def test_a_polygon_and_the_rest_sum_to_the_total(name):
    """A star across the edges of the domain and the rest around it sum to the total."""
    synopsis = release(METHODS[name](), clustered())
    rest = shapely.difference(shapely.box(-1, -1, 2, 2), STAR)

    assert np.isclose(synopsis.count_polygons([STAR, rest]).sum(), synopsis.total)


@pytest.mark.parametrize("name", METHODS)
def test_the_file_answers_alike(name, tmp_path):
    """Nothing that polygons need is lost on the way."""
    synopsis = release(METHODS[name](), clustered())
    synopsis.save(tmp_path / "release.dp.parquet", allow_simulation=True)

    assert vars(read(tmp_path / "release.dp.parquet").answer_polygons(STAR)) == vars(synopsis.answer_polygons(STAR))


@pytest.mark.slow
@pytest.mark.parametrize("name", METHODS)
def test_noise_has_the_variance_it_states(name):
    """Over many releases of nothing, with sizes given."""
    answers = [release(EXPLICIT[name], (), seed=seed).answer_polygons(STAR) for seed in range(300)]
    estimates = np.array([answer.estimate for answer in answers])
    # The structure differs from release to release, and the variance with it.
    stated = np.sqrt(np.mean([answer.noise_std**2 for answer in answers]))

    assert abs(estimates.mean()) < 5 * stated / np.sqrt(len(estimates))
    assert 0.8 < estimates.std() / stated < 1.2
