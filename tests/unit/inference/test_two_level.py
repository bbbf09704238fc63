"""Two-level inference against a dense least-squares solve."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hushgrid.inference.evidence import Evidence
from hushgrid.inference.inferences import INFERENCES
from hushgrid.inference.measurements import (
    NOT_MEASURED,
    Measurements,
    NoisyValues,
    Regions,
    discrete_laplace_variance,
    rate_totals,
)
from tests.strategies import nested_grids

RATES = st.sampled_from([Fraction(1, 100), Fraction(1, 10), Fraction(1, 2), Fraction(3)])


def dense_solution(nested, measurements):
    """Estimate and covariance of the leaves, by the normal equations."""
    cells = len(nested.sides)
    design = np.zeros((cells + nested.cells, nested.cells))
    for cell in range(cells):
        design[cell, nested.offsets[cell] : nested.offsets[cell + 1]] = 1
    design[cells:] = np.eye(nested.cells)
    measured = measurements.region_values, measurements.leaves
    precision = 1 / np.concatenate([part.variances for part in measured])
    values = np.concatenate([part.values for part in measured])
    covariance = np.linalg.inv(design.T @ (precision[:, None] * design))
    return covariance @ design.T @ (precision * values), covariance


@settings(deadline=None, max_examples=50)
@given(nested_grids(), RATES, RATES, st.integers(0, 2**32))
def test_inference_is_the_least_squares_solution(nested, cell_rate, leaf_rate, seed):
    """Counts and variances are those of weighted least squares."""
    values = np.random.default_rng(seed).integers(-50, 500, len(nested.sides) + nested.cells)
    measurements = Measurements(
        leaves=NoisyValues.at_one_rate(values[len(nested.sides) :], leaf_rate),
        regions=Regions.between(nested.offsets),
        region_values=NoisyValues.at_one_rate(values[: len(nested.sides)], cell_rate),
    )
    counts, covariance = dense_solution(nested, measurements)

    two_level, evidence = INFERENCES["two-level"], Evidence(nested, measurements)
    assert np.allclose(two_level.counts(evidence), counts, atol=1e-7)
    assert np.allclose(two_level.variances(evidence), np.diag(covariance))


@pytest.mark.parametrize("rate", ["1/1000", "1/10", "1", "5"])
def test_the_variance_is_that_of_the_law(rate):
    """Summed over the probabilities, term by term."""
    rate = Fraction(rate)
    z = np.arange(-200_000, 200_001)
    probabilities = np.tanh(float(rate) / 2) * np.exp(-float(rate) * np.abs(z))

    assert np.isclose(discrete_laplace_variance(rate), np.sum(probabilities * z.astype(float) ** 2), rtol=1e-9)


def test_noise_that_never_happens_keeps_precisions_finite():
    """At a rate of a billion the variance underflows."""
    assert 0 < discrete_laplace_variance(Fraction(10**9)) < 1e-100


def test_an_unmeasured_value_has_infinite_variance():
    """A value that was not measured has infinite variance, and costs its leaf nothing."""
    leaves = NoisyValues(values=np.zeros(2, np.int64), rates=(Fraction(1),), rate_index=np.array([0, NOT_MEASURED]))
    totals, denominator = rate_totals(Measurements.of_leaves(leaves))

    assert np.isinf(leaves.variances).tolist() == [False, True]
    assert [Fraction(int(total), denominator) for total in totals] == [1, 0]


@pytest.mark.parametrize("scale", [Fraction(1), Fraction(1, 10**30)], ids=["int64", "big-integers"])
def test_rates_over_a_leaf_are_summed_exactly(scale):
    """Over every region that holds it, by integers of any size."""
    leaves = NoisyValues.at_one_rate(np.zeros(3, np.int64), Fraction(1, 3) * scale)
    regions = Regions(first=np.array([0, 1]), stop=np.array([2, 3]))
    values = NoisyValues(values=np.zeros(2, np.int64), rates=(scale / 7, scale / 5), rate_index=np.array([0, 1]))
    totals, denominator = rate_totals(Measurements(leaves=leaves, regions=regions, region_values=values))

    third, fifth, seventh = Fraction(1, 3), Fraction(1, 5), Fraction(1, 7)
    expected = [third + seventh, third + seventh + fifth, third + fifth]
    assert [Fraction(int(total), denominator) for total in totals] == [each * scale for each in expected]
