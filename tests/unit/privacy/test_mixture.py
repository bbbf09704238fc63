"""Noise of many rates in one array: equal, draw for draw, to a plain version; and what is refused."""

from fractions import Fraction

import numpy as np
import pytest

from hushgrid.errors import ArgumentError
from hushgrid.inference.measurements import NOT_MEASURED
from hushgrid.privacy.bits import SystemBits, simulation_rng
from hushgrid.privacy.codes import BLOCK, add_codes
from hushgrid.privacy.mixture import Mixture, add_noise_each, compact_plan
from tests.plain_noise import compact_digits, draw_codes, zigzag_noise

# From one digit to four, on both sides of the rules that choose them.
RATES = [
    Fraction(1, 10**9),
    Fraction(1, 10**4),
    Fraction(1, 2**10) - Fraction(1, 10**9),
    Fraction(1, 2**10),
    Fraction(1, 100),
    Fraction(1, 8) - Fraction(1, 10**9),
    Fraction(1, 8),
    Fraction(2),
    Fraction(100),
]


def random_index(size, seed=0):
    """An index into RATES for every draw."""
    return np.random.default_rng(seed).integers(0, len(RATES), size)


def test_draws_equal_those_of_the_plain_version():
    """A block and a part of one, rates in random order, from the same seed."""
    index = random_index(BLOCK + 3_616)

    drawn = add_noise_each(np.zeros(len(index), int), rates=RATES, rate_index=index, bits=simulation_rng(21))

    codes = draw_codes([compact_digits(rate) for rate in RATES], index, simulation_rng(21))
    assert drawn.tolist() == zigzag_noise(codes)


@pytest.mark.parametrize("word_bits", [8, 11])
def test_draws_with_short_words_equal_those_of_the_plain_version(word_bits):
    """The slow path decides many of them, each with the digits of its own rate."""
    index = random_index(900)
    plans = tuple(compact_plan(rate, word_bits=word_bits) for rate in RATES)

    drawn = add_codes(np.zeros(900, np.int64), Mixture.of(plans, index.astype(np.int32)), simulation_rng(22))

    codes = draw_codes([compact_digits(rate) for rate in RATES], index, simulation_rng(22), word_bits=word_bits)
    assert drawn.tolist() == zigzag_noise(codes)


def test_a_rate_that_is_not_used_changes_no_noise():
    """As long as it has no more digits than those that are: tables are told apart."""
    index = np.zeros(500, int)
    noise = [
        add_noise_each(np.zeros(500, int), rates=[Fraction(1, 100), other], rate_index=index, bits=simulation_rng(1))
        for other in (Fraction(1, 99), Fraction(5))
    ]

    assert np.array_equal(*noise)


@pytest.mark.parametrize("power", range(45))
def test_kernels_never_reach_the_limit(power):
    """Whatever the words, a code that tables decide is below 2**61."""
    plan = compact_plan(Fraction(1, 2**power))

    assert sum((len(digit.thresholds)) << place for digit, place in zip(plan.digits, plan.places, strict=True)) < 2**61


def test_hardly_any_noise_gives_the_counts_back():
    """In two dimensions, strided, with an index of another layout."""
    counts = np.arange(24).reshape(4, 6).T
    index = np.arange(24).reshape(6, 4) % 2

    noisy = add_noise_each(counts, rates=[Fraction(1000), Fraction(2000)], rate_index=index, bits=SystemBits())

    assert noisy.shape == counts.shape
    assert np.array_equal(noisy, counts)


def test_every_count_gets_the_noise_of_its_rate():
    """Next to none at rate 1000, plenty at a thousandth."""
    index = np.arange(10_000) % 2

    noise = add_noise_each(
        np.zeros(10_000, int), rates=[Fraction(1, 1000), Fraction(1000)], rate_index=index, bits=simulation_rng(1)
    )

    assert 900 < np.mean(np.abs(noise[::2])) < 1100
    assert not noise[1::2].any()


def test_no_counts_need_no_rates():
    """An empty array comes back."""
    empty = np.zeros((0, 2), int)

    for rates in ([], [Fraction(1)]):
        assert add_noise_each(empty, rates=rates, rate_index=empty, bits=SystemBits()).shape == (0, 2)


@pytest.mark.parametrize(
    "index",
    [[0, NOT_MEASURED], [0, 2], [0], [[0, 1]], [0.0, 1.0], [0, 2**32], np.array([0, 1], np.uint64)],
    ids=["not measured", "too large", "too few", "other shape", "float", "beyond int32", "uint64"],
)
def test_an_index_that_names_no_rate_is_refused(index):
    """Kernels trust it, so nothing else may get there."""
    with pytest.raises(ArgumentError, match="rate_index must be"):
        add_noise_each([1, 2], rates=[Fraction(1), Fraction(2)], rate_index=index, bits=SystemBits())


@pytest.mark.parametrize("rate", [Fraction(0), Fraction(-1), Fraction(1, 2**45), 0.5], ids=repr)
def test_all_rates_are_checked(rate):
    """Those that are not used too."""
    with pytest.raises(ArgumentError, match="got rate="):
        add_noise_each([1], rates=[Fraction(1), rate], rate_index=[0], bits=SystemBits())


def test_counts_beyond_the_limit_are_refused_without_being_shown():
    """Counts beyond 2**62 are refused, and the message does not show them."""
    with pytest.raises(ArgumentError, match=r"^counts must be within plus or minus 2\*\*62.$"):
        add_noise_each([2**62], rates=[Fraction(1)], rate_index=[0], bits=SystemBits())
