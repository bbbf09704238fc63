"""Noise follows its law as far as millions of draws can tell, and the same checks reject noise 5 % off."""

from fractions import Fraction
from functools import cache

import numpy as np
import opendp.prelude as dp
import pytest
from scipy import stats

from hushgrid.privacy.bits import SystemBits, simulation_rng
from hushgrid.privacy.codes import add_codes
from hushgrid.privacy.digit import DigitLaw
from hushgrid.privacy.laplace import discrete_laplace, geometric, plan_for
from hushgrid.privacy.mixture import Mixture, add_noise_each, compact_plan

pytestmark = pytest.mark.slow

RATES = [Fraction(1, 10**k) for k in (9, 6, 4, 3, 2, 1)] + [Fraction(1, 2), Fraction(1), Fraction(3)]
DRAWS = {32: 2_000_000, 12: 50_000, 10: 30_000, 8: 20_000}  # by bits of a word; short ones take the slow path often
ACCEPT, REJECT = 1e-4, 1e-6
OFF = [Fraction(95, 100), Fraction(105, 100)]
off = pytest.mark.parametrize("factor", OFF, ids=["too wide", "too narrow"])


def cumulative(z, rate):
    """P(Z <= z) for integers z."""
    rate = float(rate)
    tail = np.exp(-rate * np.where(z < 0, -z, z + 1)) / (1 + np.exp(-rate))
    return np.where(z < 0, tail, 1 - tail)


def p_value(draws, rate, bins=60):
    """Chi-square test of draws against the law, in bins of about equal probability with whole integers each."""
    rate = float(rate)
    shares = np.arange(1, bins) / bins
    quantiles = np.log(np.minimum(shares, 1 - shares) * (1 + np.exp(-rate))) / rate
    edges = np.unique(np.round(np.where(shares < 0.5, quantiles, -quantiles))).astype(np.int64)
    probabilities = np.diff(cumulative(edges, rate), prepend=0, append=1)
    observed = np.bincount(np.searchsorted(edges, draws), minlength=len(edges) + 1)
    return stats.chisquare(observed, len(draws) * probabilities).pvalue


def noise(rate, word_bits, seed):
    """Draws with words of so many bits."""
    plan = plan_for(rate, signed=True, word_bits=word_bits)
    return add_codes(np.zeros(DRAWS[word_bits], np.int64), plan, simulation_rng(seed))


@pytest.fixture(scope="module", autouse=True)
def remembered_thresholds():
    """With short words the slow path meets the same thresholds again and again: compute each once."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(DigitLaw, "threshold", cache(DigitLaw.threshold))
        yield


@pytest.fixture(scope="module")
def all_noise():
    """Noise of every rate for every length of words."""
    return {(rate, bits): noise(rate, bits, seed) for seed, rate in enumerate(RATES) for bits in DRAWS}


@pytest.mark.parametrize("word_bits", DRAWS)
def test_noise_follows_its_law(all_noise, word_bits):
    """For all rates, whether one word suffices or not."""
    p_values = [p_value(all_noise[rate, word_bits], rate) for rate in RATES]

    assert min(p_values) > ACCEPT


def test_p_values_are_uniform(all_noise):
    """As a whole they neither flatter nor doubt the law."""
    p_values = [p_value(draws, rate) for (rate, _), draws in all_noise.items()]

    assert stats.kstest(p_values, "uniform").pvalue > ACCEPT


@off
@pytest.mark.parametrize("word_bits", [32, 12])
def test_the_check_would_notice_a_wrong_rate(all_noise, word_bits, factor):
    """Negative control: every rate, taken 5 % off either way, is rejected."""
    p_values = [p_value(all_noise[rate, word_bits], rate * factor) for rate in RATES]

    assert max(p_values) < REJECT


@pytest.mark.parametrize("rate", [Fraction(1, 10**6), Fraction(1, 100), Fraction(1)], ids=str)
def test_geometric_integers_follow_their_law(rate):
    """P(G >= k) = exp(-rate k), in bins of about equal probability."""
    draws = geometric(1_000_000, rate=rate, bits=simulation_rng(50))

    edges = np.unique(np.ceil(-np.log1p(-np.arange(1, 60) / 60) / float(rate))).astype(np.int64)
    observed = np.bincount(np.searchsorted(edges, draws, side="right"), minlength=len(edges) + 1)
    expected = len(draws) * -np.diff(np.exp(-float(rate) * edges), prepend=1, append=0)
    assert stats.chisquare(observed, expected).pvalue > ACCEPT


def test_system_noise_follows_its_law_too():
    """Bits that no seed gives; a level that chance does not reach."""
    draws = discrete_laplace(2_000_000, rate=Fraction(1, 10), bits=SystemBits())

    assert p_value(draws, Fraction(1, 10)) > 1e-9


@pytest.fixture(scope="module")
def much_noise():
    """Twenty million draws of rate 1/10."""
    return discrete_laplace(20_000_000, rate=Fraction(1, 10), bits=simulation_rng(60))


def test_noise_is_symmetric(much_noise):
    """Each z as often as -z, and a mean of zero."""
    counts = np.bincount(np.clip(much_noise, -80, 80) + 80)
    positive, negative = counts[:80:-1], counts[:80]
    statistic = np.sum((positive - negative) ** 2 / (positive + negative))

    assert stats.chi2.sf(statistic, 80) > ACCEPT
    assert stats.ttest_1samp(much_noise, 0).pvalue > ACCEPT


def tail_p_value(draws, share, rate):
    """Binomial test of the number of draws at least as far out as a share of the law is."""
    reach = int(np.ceil(-np.log(share * (1 + np.exp(-0.1)) / 2) / 0.1))
    far = int(np.sum(np.abs(draws) >= reach))
    return stats.binomtest(far, len(draws), 2 * float(cumulative(np.int64(-reach), rate))).pvalue


@pytest.mark.parametrize("share", [1e-2, 1e-3, 1e-4, 1e-5, 1e-6])
def test_tails_are_as_heavy_as_they_should_be(much_noise, share):
    """Beyond reaches that one draw in a hundred to one in a million exceeds."""
    assert tail_p_value(much_noise, share, Fraction(1, 10)) > ACCEPT


@off
@pytest.mark.parametrize("share", [1e-3, 1e-5])
def test_the_check_would_notice_wrong_tails(much_noise, share, factor):
    """Negative control: tails of a rate 5 % off are rejected."""
    assert tail_p_value(much_noise, share, factor / 10) < REJECT


def test_draws_are_not_related_to_their_neighbours(much_noise):
    """Next draws, those a block apart, and words of one output of the generator."""
    for lag in (1, 2, 16_384):
        related = np.corrcoef(much_noise[:-lag], much_noise[lag:])[0, 1]
        assert abs(related) < 4.5 / np.sqrt(len(much_noise))


@pytest.fixture(scope="module")
def mixed_noise():
    """Noise of all rates in one array, in random order, with words of 32 and of 12 bits."""
    drawn = {}
    for word_bits, size in ((32, 5_000_000), (12, 100_000)):
        index = np.random.default_rng(70).integers(0, len(RATES), size).astype(np.int32)
        bits = simulation_rng(71)
        if word_bits == 32:
            noisy = add_noise_each(np.zeros(size, np.int64), rates=RATES, rate_index=index, bits=bits)
        else:
            plans = tuple(compact_plan(rate, word_bits=word_bits) for rate in RATES)
            noisy = add_codes(np.zeros(size, np.int64), Mixture.of(plans, index), bits)
        drawn[word_bits] = [noisy[index == r] for r in range(len(RATES))]
    return drawn


@pytest.mark.parametrize("word_bits", [32, 12])
def test_mixed_noise_follows_the_law_of_each_rate(mixed_noise, word_bits):
    """Rates from a billionth to three beside each other."""
    p_values = [p_value(draws, rate) for draws, rate in zip(mixed_noise[word_bits], RATES, strict=True)]

    assert min(p_values) > ACCEPT


@off
def test_the_check_would_notice_a_wrong_rate_in_the_mixture(mixed_noise, factor):
    """Negative control: every rate, taken 5 % off either way, is rejected."""
    p_values = [p_value(draws, rate * factor) for draws, rate in zip(mixed_noise[32], RATES, strict=True)]

    assert max(p_values) < REJECT


def opendp_noise(scale, size):
    """Draws of OpenDP's own exact sampler."""
    dp.enable_features("contrib")
    space = dp.vector_domain(dp.atom_domain(T="i32")), dp.l1_distance(T="i32")
    return np.array(dp.m.make_laplace(*space, scale=float(scale))([0] * size))


def two_sample_p_value(first, second):
    """Chi-square test that two samples of integers have one law."""
    edges = np.unique(np.quantile(np.concatenate([first, second]), np.arange(1, 40) / 40, method="nearest"))
    table = [np.bincount(np.searchsorted(edges, draws), minlength=len(edges) + 1) for draws in (first, second)]
    return stats.chi2_contingency(table).pvalue


@pytest.mark.parametrize("scale", [2, 10])
def test_noise_looks_like_that_of_opendp(scale):
    """An independent exact sampler, which takes no seed: levels that chance does not reach. 5 % off is told apart."""
    size = 150_000
    theirs = opendp_noise(scale, size)
    ours = discrete_laplace(size, rate=Fraction(1, scale), bits=simulation_rng(80))

    assert two_sample_p_value(ours, theirs) > 1e-7
    for factor in OFF:
        wrong = discrete_laplace(size, rate=Fraction(1, scale) * factor, bits=simulation_rng(81))
        assert two_sample_p_value(wrong, theirs) < 1e-7
