"""Noise on counts: equal, draw for draw, to a plain version with another arithmetic; and what is refused."""

import tracemalloc
from fractions import Fraction

import mpmath
import numpy as np
import pytest

from hushgrid.errors import ArgumentError
from hushgrid.privacy.bits import SystemBits, simulation_rng
from hushgrid.privacy.codes import BLOCK, CodeBlock, add_block, add_codes
from hushgrid.privacy.laplace import add_noise, discrete_laplace, geometric, plan_for
from tests.plain_noise import (
    ScriptedBits,
    draw_codes,
    plain_digits,
    plain_thresholds,
    probability,
    survival,
    zigzag_noise,
)

RATES = {
    "a billionth": Fraction(1, 10**9),
    "a millionth": Fraction(1, 10**6),
    "1e-4": Fraction(1, 10**4),
    "just below one table": Fraction(1, 2**8) - Fraction(1, 10**9),
    "just one table": Fraction(1, 2**8),
    "odd": Fraction(355, 11_300),
    "a tenth": Fraction(1, 10),
    "one": Fraction(1),
    "ten": Fraction(10),
}
rates = pytest.mark.parametrize("rate", RATES.values(), ids=RATES.keys())
CENTRE = 2**62


@rates
@pytest.mark.parametrize("signed", [True, False], ids=["noise", "geometric"])
def test_draws_equal_those_of_the_plain_version(rate, signed):
    """A block and a part of one, from the same seed."""
    size = BLOCK + 3_616
    sampler = discrete_laplace if signed else geometric

    drawn = sampler(size, rate=rate, bits=simulation_rng(11))

    codes = draw_codes([plain_digits(rate, signed=signed)], np.zeros(size, int), simulation_rng(11))
    assert drawn.tolist() == (zigzag_noise(codes) if signed else codes.tolist())


@rates
@pytest.mark.parametrize("word_bits", [8, 12])
def test_draws_with_short_words_equal_those_of_the_plain_version(rate, word_bits):
    """The slow path decides many of them, reading bits in the order the contract says."""
    plan = plan_for(rate, signed=True, word_bits=word_bits)

    drawn = add_codes(np.zeros(300, np.int64), plan, simulation_rng(12))

    codes = draw_codes([plain_digits(rate)], np.zeros(300, int), simulation_rng(12), word_bits=word_bits)
    assert drawn.tolist() == zigzag_noise(codes)


@pytest.mark.parametrize("rate", [Fraction(1, 10**4), Fraction(1, 10), Fraction(3)], ids=str)
def test_words_that_equal_a_threshold_are_settled(rate):
    """Full words, every tenth threshold and zero in each digit's place in turn, the others random."""
    digits = plain_digits(rate)
    random = np.random.default_rng(3)
    columns = []
    for j, digit in enumerate(digits):
        for threshold in [*plain_thresholds(digit, 32)[::10].tolist(), 0]:
            column = random.integers(0, 2**32, len(digits)).tolist()
            column[j] = threshold
            columns.append(column)
    words = np.array(columns).T.ravel().tolist()
    integers = random.integers(0, 2**63, 3 * len(columns)).tolist()

    drawn = discrete_laplace(len(columns), rate=rate, bits=ScriptedBits(words=words, integers=integers))

    codes = draw_codes([digits], np.zeros(len(columns), int), ScriptedBits(words=words, integers=integers))
    assert drawn.tolist() == zigzag_noise(codes)


@rates
def test_digits_multiply_to_the_law(rate):
    """The probability of noise z is the product of those of the digits of its code, to 60 decimals."""
    laws = plan_for(rate, signed=True)
    with mpmath.workprec(400):
        for z in [0, 1, -1, 2, 7, -8, 100, -1000, 4095, 4096, -(2**20), 2**31 + 5]:
            code = 2 * z if z >= 0 else -2 * z - 1
            product = mpmath.mpf(1)
            for digit, place in zip(laws.digits, laws.places, strict=True):
                value = code >> place if digit.law.size is None else (code >> place) % digit.law.size
                law = {"rate": digit.law.rate, "signed": digit.law.signed, "size": digit.law.size, "precision": 4000}
                with mpmath.workprec(4000):
                    product *= survival(value, **law) - survival(value + 1, **law)
            assert abs(product / probability(z, rate) - 1) < mpmath.mpf(10) ** -60


@pytest.mark.parametrize("signed", [True, False])
@pytest.mark.parametrize("power", range(45))
def test_kernels_never_reach_the_limit(power, signed):
    """Whatever the words, a code that a table decides is below 2**61."""
    plan = plan_for(Fraction(1, 2**power), signed=signed)

    assert sum((len(digit.thresholds)) << place for digit, place in zip(plan.digits, plan.places, strict=True)) < 2**61


@pytest.mark.parametrize("size", [0, 1, 2, BLOCK - 1, BLOCK, BLOCK + 1, 3 * BLOCK + 7])
def test_adding_is_adding(size):
    """Noisy counts are the counts plus the noise of the same seed."""
    counts = np.arange(size) - 5

    noisy = add_noise(counts, rate=Fraction(1, 50), bits=simulation_rng(2))

    assert np.array_equal(noisy, counts + discrete_laplace(size, rate=Fraction(1, 50), bits=simulation_rng(2)))
    assert noisy.dtype == np.int64


@pytest.mark.parametrize(
    "counts",
    [
        np.int64(7),
        [1, 2, 3],
        np.zeros((0, 3), np.int64),
        np.arange(24).reshape(2, 3, 4),
        np.arange(24).reshape(4, 6).T[::2],
        np.arange(9, dtype=np.int8),
        np.arange(9, dtype=np.uint32),
        np.array([CENTRE - 1, 1 - CENTRE]),
    ],
    ids=["scalar", "list", "empty", "three dimensions", "strided", "int8", "uint32", "at the limit"],
)
def test_hardly_any_noise_gives_the_counts_back(counts):
    """At rate 1000, whatever their shape and type; the input is left alone."""
    before = np.array(counts)

    noisy = add_noise(counts, rate=Fraction(1000), bits=SystemBits())

    assert noisy.shape == before.shape
    assert noisy.dtype == np.int64
    assert np.array_equal(noisy, before)
    assert np.array_equal(counts, before)


def test_the_same_seed_gives_the_same_noise():
    """A seed gives the same noise each time, and another seed other noise."""
    first, again, other = (discrete_laplace(1000, rate=Fraction(1, 9), bits=simulation_rng(s)) for s in (1, 1, 2))

    assert np.array_equal(first, again)
    assert not np.array_equal(first, other)


def test_a_seeded_source_goes_on():
    """Two calls do not repeat each other."""
    bits = simulation_rng(1)

    first, second = (discrete_laplace(1000, rate=Fraction(1, 9), bits=bits) for _ in range(2))

    assert not np.array_equal(first, second)


def test_a_sum_is_clamped_and_the_noise_is_not():
    """Noise of 70 bits on small counts, then noise just beyond int64 on counts that bring the sum back into it."""
    counts = np.array([5, 5, -7, 7])
    settled = {0: 2**71, 1: 2**71 - 1, 2: 2 * 2**63, 3: 2 * 2**63 + 1}
    noisy = np.empty(4, np.int64)

    add_block(counts, CodeBlock(slice(0, 4), np.zeros(4, np.int64), settled), noisy)

    assert noisy.tolist() == [2**63 - 1, -(2**63), 2**63 - 7, -(2**63) + 6]


@pytest.mark.parametrize("counts", [[0, CENTRE], [-CENTRE - 1], [2**63 - 1], [-(2**63)]], ids=str)
def test_counts_beyond_the_limit_are_refused_without_being_shown(counts):
    """An overflow would be a leak, and so would be the number."""
    with pytest.raises(ArgumentError, match=r"within plus or minus 2\*\*62") as refusal:
        add_noise(counts, rate=Fraction(1), bits=SystemBits())

    assert not any(str(abs(count)) in str(refusal.value) for count in counts if count)


@pytest.mark.parametrize(
    "counts",
    [np.ones(2), np.array([1], np.uint64), np.array(["1"]), np.array([None]), [2**70]],
    ids=["float", "uint64", "text", "object", "beyond int64"],
)
def test_counts_of_another_type_are_refused(counts):
    """By their type, whatever they are."""
    with pytest.raises(ArgumentError, match="must be integers that fit int64"):
        add_noise(counts, rate=Fraction(1), bits=SystemBits())


@pytest.mark.parametrize("draw", [discrete_laplace, geometric])
@pytest.mark.parametrize(
    "rate", [Fraction(0), Fraction(-1), Fraction(1, 2**44 + 1), 0.5, float("nan"), "1", None], ids=repr
)
def test_a_rate_is_a_rational_number_that_is_not_too_small(draw, rate):
    """The message quotes the rate, and the smallest allowed."""
    with pytest.raises(ArgumentError, match=r"at least 2\*\*-44, got rate="):
        draw(3, rate=rate, bits=SystemBits())


def test_the_smallest_rate_and_an_integer_are_rates():
    """2**-44 gives noise of the order of 2**44; 1000 hardly any."""
    wide = discrete_laplace(1000, rate=Fraction(1, 2**44), bits=simulation_rng(1))

    assert 2**43 < np.mean(np.abs(wide)) < 2**45
    assert not discrete_laplace(1000, rate=1000, bits=simulation_rng(1)).any()


def test_rates_beyond_all_reason_give_no_noise():
    """Rate 1e300, and a word of zero that has to be settled."""
    bits = ScriptedBits(words=[0, 1, 2**32 - 1], integers=[1])

    assert discrete_laplace(3, rate=Fraction(10**300), bits=bits).tolist() == [0, 0, 0]


def test_memory_beside_the_answer_is_a_few_blocks():
    """Three million draws of three digits take less than 2 MB beside their 24 MB."""
    discrete_laplace(10, rate=Fraction(1, 10**6), bits=SystemBits())
    tracemalloc.start()
    try:
        noise = discrete_laplace(3_000_000, rate=Fraction(1, 10**6), bits=SystemBits())
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()

    assert peak < noise.nbytes + 2_000_000
