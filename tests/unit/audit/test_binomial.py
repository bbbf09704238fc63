"""Clopper-Pearson bounds against scipy, identities, and their coverage."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from hushgrid.audit.estimator import lower_bound, upper_bound

ERRORS = (0.25, 0.05, 1e-3, 1e-6, 1e-12)


@settings(deadline=None, max_examples=100)
@given(trials=st.integers(1, 20_000), share=st.floats(0, 1), error=st.sampled_from(ERRORS))
def test_bounds_are_quantiles_of_beta_laws(trials, share, error):
    """As scipy computes them, for any outcome."""
    successes = round(share * trials)
    low = stats.beta.ppf(error, successes, trials - successes + 1) if successes else 0.0
    high = stats.beta.isf(error, successes + 1, trials - successes) if successes < trials else 1.0

    assert lower_bound(successes, trials, error=error) == pytest.approx(low, rel=1e-8)
    assert upper_bound(successes, trials, error=error) == pytest.approx(high, rel=1e-8)


@pytest.mark.parametrize(("successes", "trials"), [(0, 1), (1, 1), (0, 5000), (5000, 5000), (1, 5000), (4999, 5000)])
def test_bounds_enclose_the_observed_share(successes, trials):
    """Bounds enclose the observed share, at 0 and 1 too."""
    assert 0 <= lower_bound(successes, trials, error=0.01) <= successes / trials
    assert successes / trials <= upper_bound(successes, trials, error=0.01) <= 1


@pytest.mark.parametrize("error", ERRORS)
def test_a_lower_bound_gives_the_outcome_the_probability_allowed(error):
    """The binomial tail at the bound, summed by scipy, is the error."""
    assert stats.binom.sf(29, 100, lower_bound(30, 100, error=error)) == pytest.approx(error, rel=1e-8)


@pytest.mark.parametrize("p", [0.003, 0.2, 0.5, 0.97])
@pytest.mark.parametrize("trials", [7, 60, 400])
def test_bounds_fail_no_more_often_than_allowed(p, trials):
    """Exactly, as the probability of all outcomes whose bound excludes p."""
    error = 0.05
    outcomes = np.arange(trials + 1)
    probabilities = stats.binom.pmf(outcomes, trials, p)
    too_high = [lower_bound(int(k), trials, error=error) > p for k in outcomes]
    too_low = [upper_bound(int(k), trials, error=error) < p for k in outcomes]

    assert probabilities[too_high].sum() <= error
    assert probabilities[too_low].sum() <= error
