"""Enclosures hold the exact number, and are narrow."""

from fractions import Fraction

import mpmath
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hushgrid.privacy.enclosure import Enclosure, certified_floor, exp_neg

EXPONENTS = [
    Fraction(0),
    Fraction(1, 10**40),
    Fraction(1, 2**44),
    Fraction(1, 1000),
    Fraction(1, 2) - Fraction(1, 10**20),
    Fraction(1),
    Fraction(355, 113),
    Fraction(64) - Fraction(1, 10**9),
    Fraction(64),
    Fraction(1000),
    Fraction(10**300),
]
PRECISIONS = [1, 8, 63, 64, 65, 200, 700]


def encloses_exp(enclosure, exponent):
    """Whether mpmath, with 400 bits to spare, puts exp(-exponent) inside."""
    with mpmath.workprec(enclosure.precision + 400):
        exact = mpmath.ldexp(mpmath.exp(-mpmath.mpf(exponent.numerator) / exponent.denominator), enclosure.precision)
        return enclosure.low <= exact <= enclosure.high


@pytest.mark.parametrize("precision", PRECISIONS)
@pytest.mark.parametrize("exponent", EXPONENTS, ids=lambda exponent: f"{float(exponent):.3g}")
def test_exp_is_enclosed_by_three_units_at_most(exponent, precision):
    """Awkward exponents: zero, tiny, next to a power of two, beyond the precision."""
    enclosure = exp_neg(exponent, precision)

    assert encloses_exp(enclosure, exponent)
    assert 0 <= enclosure.high - enclosure.low <= 3


@given(st.integers(0, 10**12), st.integers(1, 10**12), st.integers(1, 400))
@settings(max_examples=1000, deadline=None)
def test_exp_is_enclosed_everywhere(numerator, denominator, precision):
    """Any rational exponent, any precision."""
    assert encloses_exp(exp_neg(Fraction(numerator, denominator), precision), Fraction(numerator, denominator))


@pytest.mark.parametrize("exponent", EXPONENTS[1:8], ids=lambda exponent: f"{float(exponent):.3g}")
def test_the_check_would_notice_an_enclosure_beside_the_number(exponent):
    """Negative control: moved by its width and one unit, it is found not to enclose."""
    enclosure = exp_neg(exponent, 128)
    width = enclosure.high - enclosure.low

    assert not encloses_exp(Enclosure(enclosure.low + width + 1, enclosure.high + width + 1, 128), exponent)
    assert not encloses_exp(Enclosure(enclosure.low - width - 1, enclosure.high - width - 1, 128), exponent)


@st.composite
def enclosed(draw, precision=20):
    """A rational number and an enclosure of it, as loose as it comes."""
    number = draw(st.fractions(Fraction(1, 1000), 1000, max_denominator=10**6))
    scaled = number * 2**precision
    low = max(scaled.__floor__() - draw(st.integers(0, 5)), 1)
    return number, Enclosure(low, scaled.__ceil__() + draw(st.integers(0, 5)), precision)


@given(enclosed(), enclosed())
@settings(max_examples=500, deadline=None)
def test_operations_round_outward(first, second):
    """Sum, difference, product and quotient of enclosed numbers are enclosed."""
    (x, enclosed_x), (y, enclosed_y) = first, second

    results = [
        (x + y, enclosed_x + enclosed_y),
        (abs(x - y), enclosed_x - enclosed_y if x >= y else enclosed_y - enclosed_x),
        (x * y, enclosed_x * enclosed_y),
        (x / y, enclosed_x / enclosed_y),
    ]
    assert all(result.low <= exact * 2**20 <= result.high for exact, result in results)


def test_exact_numbers_stay_exact():
    """Arithmetic with integers has no width, so that an unbounded digit loses nothing to its formula."""
    one, two = Enclosure.of_integer(1, 30), Enclosure.of_integer(2, 30)

    assert one + one == two
    assert two - one == one
    assert two * two / two == two


def test_a_floor_is_told_only_when_both_bounds_agree():
    """Seven eighths to nine eighths, times two, has floor 1 or 2."""
    assert Enclosure(7, 9, 3).scaled_floor(1) is None
    assert Enclosure(9, 11, 3).scaled_floor(1) == 2


@pytest.mark.parametrize("bits", [0, 1, 32, 64, 500])
@pytest.mark.parametrize("exponent", EXPONENTS[1:], ids=lambda exponent: f"{float(exponent):.3g}")
def test_certified_floors_are_floors(exponent, bits):
    """Certified floors are those that mpmath finds."""
    with mpmath.workprec(bits + 600):
        exact = mpmath.exp(-mpmath.mpf(exponent.numerator) / exponent.denominator)
        expected = int(mpmath.floor(mpmath.ldexp(exact, bits)))

    assert certified_floor(lambda precision: exp_neg(exponent, precision), bits) == expected


def test_precision_rises_until_a_floor_is_certain():
    """1 - exp(-200 ln 2) or so is told from 1 only with 200 bits."""
    asked = []

    def just_below_one(precision):
        asked.append(precision)
        return Enclosure.of_integer(1, precision) - exp_neg(Fraction(139), precision)

    assert certified_floor(just_below_one, 8) == 2**8 - 1
    assert len(asked) > 1
