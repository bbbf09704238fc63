"""The law of the noise after least squares, against a dense solution and against draws."""

from fractions import Fraction

import numpy as np
import pytest

from hushgrid.geometry.nesting import AreaLevel, branches_of
from hushgrid.inference.least_squares import solve
from hushgrid.inference.measurements import Measurements, NoisyValues, Regions, discrete_laplace_variance
from hushgrid.inference.noise_law import NoiseLaw, fourth_cumulant
from hushgrid.synopsis.answer import reach_of_noise

LEVELS = (
    AreaLevel(name="region", names=("a", "b"), starts=np.array([0, 6, 9])),
    AreaLevel(name="state", names=tuple("uvwxy"), starts=np.array([0, 2, 5, 6, 8, 9])),
)
RUNS = [(0, 6), (6, 9), (0, 2), (2, 5), (5, 6), (6, 8), (8, 9)]
RATES = [Fraction(1, 5)] * 2 + [Fraction(1, 3)] * 5


def tree_noise(runs=RUNS, rates=RATES, leaf_rate=Fraction(1, 2)):
    """Noise of nine areas in two levels, and the same by matrices: weights of the noise of every measurement."""
    tree = branches_of(LEVELS, 9)
    first, stop = (np.array([run[part] for run in runs]) for part in range(2))
    measured = Measurements(
        leaves=NoisyValues.at_one_rate(np.zeros(9, np.int64), leaf_rate),
        regions=Regions(first=first, stop=stop),
        region_values=NoisyValues.joined([NoisyValues.at_one_rate(np.zeros(1, np.int64), rate) for rate in rates]),
    )
    all_rates = [leaf_rate] * 9 + rates
    rows = np.vstack([np.eye(9), *((np.arange(9) >= low) & (np.arange(9) < high) for low, high in runs)])
    variances = np.array([discrete_laplace_variance(rate) for rate in all_rates])
    weights = np.linalg.solve(rows.T @ (rows / variances[:, None]), rows.T / variances)
    return tree, NoiseLaw(solve(tree, measured), measured), weights, all_rates


CUMULANTS = {2: discrete_laplace_variance, 4: fourth_cumulant}


@pytest.mark.parametrize("power", [2, 4])
@pytest.mark.parametrize("root", [[], [(0, 9)]], ids=["root not measured", "root measured"])
def test_cumulants_of_nodes_are_those_of_a_dense_solution(power, root):
    """Of every node, whether or not all of it was measured too."""
    tree, noise, weights, rates = tree_noise(RUNS + root, RATES + [Fraction(1, 7)] * len(root))
    cumulants = np.array([CUMULANTS[power](rate) for rate in rates])
    dense = [weights[first:stop].sum(axis=0) ** power @ cumulants for first, stop in zip(*tree.runs, strict=True)]

    assert noise.of_nodes(power) == pytest.approx(np.array(dense))


@pytest.mark.parametrize("chosen", [[0], [0, 1], [1, 4, 7], list(range(9))])
def test_cumulants_of_sums_are_those_of_a_dense_solution(chosen):
    """Of any areas together."""
    _, noise, weights, rates = tree_noise()
    of_sum = weights[chosen].sum(axis=0)
    expected = [of_sum**power @ np.array([law(rate) for rate in rates]) for power, law in CUMULANTS.items()]

    assert noise.of_sum(np.isin(np.arange(9), chosen).astype(float)) == pytest.approx(expected)


@pytest.mark.parametrize("rate", [Fraction(1, 10), Fraction(1), Fraction(3)])
def test_the_fourth_cumulant_is_that_of_the_law(rate):
    """By its moments, term by term."""
    z = np.arange(-2000, 2001)
    law = np.exp(-float(rate) * np.abs(z))
    law /= law.sum()
    expected = law @ z.astype(float) ** 4 - 3 * (law @ z.astype(float) ** 2) ** 2

    assert fourth_cumulant(rate) == pytest.approx(expected)


@pytest.mark.parametrize("confidence", [0.5, 0.8, 0.9, 0.95, 0.99])
@pytest.mark.parametrize("terms", [1, 2, 3, 5, 20])
def test_the_reach_of_a_sum_of_laplace_noise_holds_as_often_as_it_says(terms, confidence):
    """By four million draws; a normal reach for one term would be off by up to three points."""
    draws = np.random.default_rng(terms).laplace(size=(4_000_000 // terms, terms)).sum(axis=1) / np.sqrt(2 * terms)
    reach = reach_of_noise(confidence, np.array([3 / terms]))[0]

    assert np.mean(np.abs(draws) <= reach) == pytest.approx(confidence, abs=0.002)
