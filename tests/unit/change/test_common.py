"""What errors have in common: the spread of two releases, and the factor of one, against plain ways to find them."""

import math

import numpy as np
import pytest
import shapely

import hushgrid as hg
from hushgrid.change.common import _correlation, common_spread, scale_variance
from tests.plain import UNIT_SQUARE
from tests.priors import clustered


def released(points, seed, **more):
    """A simulated release of points."""
    options = {"domain": UNIT_SQUARE, "epsilon": 1, "method": "staq", "calibrate": False, **more}
    return hg.publish(points, rng=hg.simulation_rng(seed), **options)


@pytest.fixture(scope="module")
def month():
    """A month of clustered points."""
    return released(clustered(6000, seed=1), 1)


def test_months_of_one_law_have_much_in_common(month):
    """Other points of the same clusters."""
    assert common_spread(month, released(clustered(6000, seed=2), 2)) > 0.4


def test_months_that_lie_elsewhere_have_nothing_in_common(month):
    """The same clusters, turned over: as uneven, and not alike."""
    assert common_spread(month, released(clustered(6000, seed=2)[:, ::-1], 2)) < 0.1


def test_noise_alone_has_nothing_in_common():
    """Of hardly any points."""
    one, other = (released(np.full((1, 2), 0.5), seed, epsilon=0.1, method=hg.UniformGrid(side=16)) for seed in (1, 2))

    assert common_spread(one, other) < 0.2


def test_releases_on_few_cells_or_on_areas_are_taken_as_independent(month):
    """Nothing is known of how points lie in them."""
    import shapely

    areas = released(clustered(600, seed=1), 1, method=hg.Areas([shapely.box(0, 0, 0.5, 1), shapely.box(0.5, 0, 1, 1)]))
    coarse = released(clustered(600, seed=1), 1, method=hg.UniformGrid(side=3))

    assert common_spread(areas, areas) == 0
    assert common_spread(month, areas) == 0
    assert common_spread(month, coarse) == 0


def test_the_correlation_is_that_of_a_plain_loop():
    """Halves of each block across and along, relative to the root of its points."""
    rng = np.random.default_rng(0)
    one, other = rng.poisson(3, (2, 16, 16)).astype(float)
    products = []
    for row in range(0, 16, 4):
        for column in range(0, 16, 4):
            blocks = [each[row : row + 4, column : column + 4] for each in (one, other)]
            weight = 1 / np.sqrt(blocks[0].sum() * blocks[1].sum())
            across = [block[2:].sum() - block[:2].sum() for block in blocks]
            along = [block[:, 2:].sum() - block[:, :2].sum() for block in blocks]
            products += [weight * np.outer(halves, halves) for halves in (across, along)]
    total = np.sum(products, axis=0)

    assert _correlation(one, other, 4) == pytest.approx(total[0, 1] / np.sqrt(total[0, 0] * total[1, 1]))


WHO = np.repeat(np.arange(400), 5)
HALVES = hg.Areas(
    {"geometry": [shapely.box(0, 0, 0.5, 1), shapely.box(0.5, 0, 1, 1)], "name": ["a", "b"]}, names="name"
)
KINDS = [("private", hg.UniformGrid(side=2)), (2000, hg.UniformGrid(side=2)), ("private", HALVES), (2000, HALVES)]


@pytest.fixture(scope="module", params=KINDS, ids=["private", "public", "private on areas", "public on areas"])
def of_one_month(request):
    """Sixty releases of the same users, scaled to a total each."""
    total, method = request.param
    points = np.random.default_rng(1).random((2000, 2))
    users = {"user": WHO, "max_per_user": 2, "scale_to_total": total, "max_for_total": 10}
    return [released(points, seed, method=method, epsilon=0.3, **users) for seed in range(60)]


def test_the_error_of_a_factor_is_how_factors_differ(of_one_month):
    """Over releases of the same records."""
    factors = np.array([each.factor for each in of_one_month])
    stated = np.median([math.sqrt(scale_variance(each)) for each in of_one_month])

    assert stated / 1.4 < factors.std() / factors.mean() < 1.4 * stated


def test_noise_in_totals_is_no_change(of_one_month):
    """Where nothing has changed but the noise, it does not make a half or all of the map rise."""
    pairs = [hg.compare(one, other) for one, other in zip(of_one_month[::2], of_one_month[1::2], strict=True)]
    found = [pair.areas()[1] if pair.on_same_areas else pair.blocks(2)[1] for pair in pairs]

    assert sum(bool(np.any(each.significant)) for each in found) <= 4


def test_counts_that_are_not_scaled_have_no_such_error(month):
    """Theirs are the intervals of before."""
    assert scale_variance(month) == 0
