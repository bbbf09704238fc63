"""Areas in levels: the noise of every level has its law, and estimates the variance that is told."""

from fractions import Fraction

import numpy as np
import pytest
import shapely
from scipy.stats import chi2

import hushgrid as hg
from hushgrid.audit.laws import discrete_laplace_p_value
from hushgrid.inference.measurements import discrete_laplace_variance
from hushgrid.inference.noise_law import fourth_cumulant
from tests.plain import UNIT_SQUARE

pytestmark = pytest.mark.slow

ACCEPT, REJECT = 1e-3, 1e-6
EPSILON, RUNS = Fraction(1, 2), 400
LEVELS = ["land", "state", "county"]
SHARES = (Fraction(1, 5), Fraction(3, 10), Fraction(1, 2))
# Eight lands of one to four states, each of one to three counties: an only part is the same area as what it lies in.
LANDS = [[1, 3], [2, 2, 1], [3], [1, 1, 2, 3], [2, 3], [3, 1], [1], [2, 1, 2]]
PLACES = [(land, state, part) for land, states in enumerate(LANDS) for state, parts in enumerate(states)
          for part in range(parts)]  # fmt: skip
COLUMNS = {
    "geometry": [shapely.box(number / len(PLACES), 0, (number + 1) / len(PLACES), 1) for number in range(len(PLACES))],
    "land": [f"{land}" for land, _, _ in PLACES],
    "state": [f"{land}.{state}" for land, state, _ in PLACES],
    "county": [f"{land}.{state}.{part}" for land, state, part in PLACES],
}
TRUE_COUNTS = np.arange(len(PLACES)) % 7


def membership(level):
    """Which counties make up each area of a level, shape (areas, counties)."""
    return np.array([[name == each for each in COLUMNS[level]] for name in dict.fromkeys(COLUMNS[level])], float)


@pytest.fixture(scope="module")
def releases():
    """Many simulated releases of the same points."""
    points = np.array([[(number + 0.5) / len(PLACES), 0.5] for number in range(len(PLACES))]).repeat(
        TRUE_COUNTS, axis=0
    )
    method = hg.Areas(COLUMNS, levels=LEVELS, shares=SHARES)
    return [
        hg.publish(points, domain=UNIT_SQUARE, epsilon=EPSILON, method=method, rng=hg.simulation_rng(seed))
        for seed in range(RUNS)
    ]


@pytest.mark.parametrize("level", range(3))
def test_every_level_is_measured_with_its_share(releases, level):
    """What is added to exact counts of a level is discrete Laplace noise of its share of epsilon, and not of more."""
    sizes = np.cumsum([0, *(len(membership(name)) for name in LEVELS[:2])])
    true_counts = membership(LEVELS[level]) @ TRUE_COUNTS
    part = slice(sizes[level], sizes[level + 1]) if level < 2 else None
    measured = [
        release.measurements.leaves.values if part is None else release.measurements.region_values.values[part]
        for release in releases
    ]
    noise = np.concatenate([values - true_counts.astype(int) for values in measured])

    assert discrete_laplace_p_value(noise, SHARES[level] * EPSILON) > ACCEPT
    assert discrete_laplace_p_value(noise, SHARES[level] * EPSILON * Fraction(6, 5)) < REJECT


def dense_law(level):
    """Variance and fourth cumulant of least-squares estimates of a level, by solving for all counties at once."""
    design = np.concatenate([membership(name) for name in LEVELS])
    rates = [share * EPSILON for name, share in zip(LEVELS, SHARES, strict=True) for _ in membership(name)]
    variances = np.array([discrete_laplace_variance(rate) for rate in rates])
    precision = design.T / variances
    weights = membership(level) @ np.linalg.solve(precision @ design, precision)
    return weights**2 @ variances, weights**4 @ np.array([fourth_cumulant(rate) for rate in rates])


def p_value(errors, variances, fourths):
    """Of squared errors over variances summed, by the chi-squared law of the same mean and variance; two-sided.

    The square of an error over its variance has mean 1 and variance 2 plus the excess kurtosis (Satterthwaite 1946).
    """
    squares = errors**2 / variances
    freedom = 2 * squares.size**2 / (len(squares) * np.sum(2 + fourths / variances**2))
    below = chi2.cdf(squares.sum() * freedom / squares.size, freedom)
    return 2 * min(below, 1 - below)


@pytest.mark.parametrize("level", LEVELS)
def test_estimates_of_every_level_have_the_variance_that_is_told(releases, level):
    """By the sum of squares over many releases; a variance a fifth too small or too large would be noticed."""
    variances, fourths = dense_law(level)
    answers = [release.districts.answers(level)[1] for release in releases]
    errors = np.array([answer.estimate for answer in answers]) - membership(level) @ TRUE_COUNTS
    # One area of each land: lands share no noise.
    lands = [name.partition(".")[0] for name in dict.fromkeys(COLUMNS[level])]
    apart = [lands.index(f"{land}") for land in range(len(LANDS))]

    assert answers[0].noise_std ** 2 == pytest.approx(variances, rel=1e-9)
    assert p_value(errors[:, apart], variances[apart], fourths[apart]) > ACCEPT
    for wrong in (0.8, 1.25):
        assert p_value(errors[:, apart], wrong * variances[apart], fourths[apart]) < REJECT
