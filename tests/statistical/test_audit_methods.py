"""Every method audited as a black box on neighbouring data sets: none gives away more than it claims."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from hushgrid.audit.estimator import epsilon_lower_bound
from hushgrid.counting.counter import PointCounter
from hushgrid.counting.opening import open_points
from hushgrid.inference.haar import transform
from hushgrid.inference.measurements import NoisyValues
from hushgrid.methods import METHODS
from hushgrid.privacy.bits import simulation_rng
from hushgrid.privacy.budget import Budget
from hushgrid.privacy.laplace import add_noise
from hushgrid.privacy.mixture import add_noise_each
from hushgrid.privacy.paths import PathBudget
from tests.conformance.test_methods import EXPLICIT
from tests.plain import UNIT_SQUARE

pytestmark = pytest.mark.slow

PLACE = (0.1, 0.1)  # of the record that one data set has more
CROWD = ((0.2, 0.2), (0.1, 0.15), (0.7, 0.3), (0.6, 0.8)) * 10
POINTS = {"dense spot": CROWD, "empty spot": ((0.9, 0.9),), "stacked duplicates": (PLACE,) * 25}
RUNS = 1_200
EPSILON = Fraction(2)  # high enough for a bound worth the name from so few runs
AROUND = (0.0, 0.0, 0.25, 0.25)


def samples(method, points, *, budget=Budget, runs=RUNS):
    """What an attacker would look at in each of many releases."""
    bits = simulation_rng(7)
    counter = PointCounter(UNIT_SQUARE, open_points(list(points), crs=UNIT_SQUARE.crs))
    return np.array([statistics(method.release(counter, budget(EPSILON, bits=bits))) for _ in range(runs)])


def statistics(release):
    """Structure, the cell of the record, what lies around it, sums and differences."""
    west, south, east, north = release.partition.bounds().T
    here = int(np.flatnonzero((west <= PLACE[0]) & (PLACE[0] < east) & (south <= PLACE[1]) & (PLACE[1] < north))[0])
    counts = release.counts
    return (
        coefficient_sum(release, here),
        *(release.partition.cells, east[here] - west[here], north[here] - south[here], counts[here]),
        *(counts[here] - counts[here - 1], counts.sum(), release.count(AROUND), counts.max(), counts[0] - counts[-1]),
    )


def coefficient_sum(release, cell):
    """Sum of the wavelet coefficients that the cell is part of, with its signs; zero where there are none."""
    wavelet = release.measurements.wavelet
    if wavelet is None:
        return 0
    unit = np.zeros(release.partition.cells, np.int64)
    unit[cell] = 1
    signs = transform(unit.reshape(release.partition.rows, release.partition.columns))
    return int(np.sum(signs.ravel() * wavelet.coefficients.values))


@pytest.mark.parametrize("name", METHODS)
@pytest.mark.parametrize("points", POINTS.values(), ids=POINTS)
def test_no_method_gives_away_more_than_it_claims(name, points):
    """Its bound is at most epsilon, on each of three kinds of neighbours."""
    bound = epsilon_lower_bound(samples(EXPLICIT[name], points), samples(EXPLICIT[name], (*points, PLACE)))

    assert bound.epsilon <= EPSILON


class CarelessPaths(PathBudget):
    """Measures along paths with a tenth of the noise that is claimed."""

    def measure(self, true_counts, units):
        """Noisy counts at ten times the rates."""
        claimed = super().measure(true_counts, units)
        taken = claimed.rate_index >= 0
        values = claimed.values.copy()
        rates = [10 * rate for rate in claimed.rates]
        index = claimed.rate_index[taken]
        values[taken] = add_noise_each(true_counts[taken], rates=rates, rate_index=index, bits=self._bits)
        return replace(claimed, values=values)


class Careless(Budget):
    """Measures, perturbs and decides with a tenth of the noise that is claimed."""

    def measure(self, true_counts, share, *, purpose="counts"):
        """Noisy counts at ten times the rate."""
        claimed = super().measure(true_counts, share, purpose=purpose)
        return NoisyValues.at_one_rate(
            add_noise(true_counts, rate=10 * claimed.rates[0], bits=self._bits), claimed.rates[0]
        )

    def paths(self, share, cells, *, purpose):
        """Paths as careless as the rest."""
        return CarelessPaths(self.charge(share, purpose=purpose, measured=True), cells, bits=self._bits)

    def perturb(self, true_values, rate):
        """Noisy integers at ten times the rate."""
        return super().perturb(true_values, 10 * rate)

    def decide(self, true_values, rate):
        """Decisions at ten times the rate."""
        return super().decide(true_values, 10 * rate)


@pytest.mark.parametrize("name", METHODS)
def test_the_audit_would_notice_a_careless_build(name):
    """Negative control: with a tenth of the noise the bound is above the claim."""
    points = POINTS["empty spot"]
    bound = epsilon_lower_bound(
        samples(EXPLICIT[name], points, budget=Careless), samples(EXPLICIT[name], (*points, PLACE), budget=Careless)
    )

    assert bound.epsilon > EPSILON
