"""Decimal numbers in text, without error and without exception. Private side."""

import numpy as np
from numpy.typing import NDArray

from hushgrid.compiled import compiled
from hushgrid.kernels.lines import Text, is_space

PLUS, MINUS, POINT, ZERO, NINE, SMALL_E, LARGE_E = (np.uint8(ord(character)) for character in "+-.09eE")

EXACT_INTEGER = np.uint64(2**53)  # integers up to here are doubles
EXACT_POWERS = 10.0 ** np.arange(23)  # and so are these
MOST_DIGITS = 18  # of an integer below 2**60
SPLITTER = 2.0**27 + 1  # cuts a double into two halves of 26 bits
QUOTIENT_ERROR = 2.0**-95  # relative; far above what `_long_quotient` can be off by, far below half a unit
LARGEST_EXPONENT = 1_000_000  # beyond any double: stop adding digits before the sum overflows


@compiled
def _digits(text: Text, first: int, stop: int, value: np.uint64, count: int) -> tuple[int, np.uint64, int]:
    """Where a run of digits ends, the integer they extend, and how many of its digits are significant."""
    while first < stop and ZERO <= text[first] <= NINE:
        if count > 0 or text[first] != ZERO:
            count += 1
            if count <= MOST_DIGITS:
                value = value * np.uint64(10) + np.uint64(text[first] - ZERO)
        first += 1
    return first, value, count


@compiled
def _exponent(text: Text, first: int, stop: int) -> tuple[int, int]:
    """Where the exponent that begins with the letter at `first` ends, or -1 if it is none; and its value."""
    first += 1
    negative = first < stop and text[first] == MINUS
    if first < stop and (negative or text[first] == PLUS):
        first += 1
    begin, value = first, 0
    while first < stop and ZERO <= text[first] <= NINE:
        value = min(10 * value + int(text[first] - ZERO), LARGEST_EXPONENT)
        first += 1
    return (first if first > begin else -1), (-value if negative else value)


@compiled
def _product_error(a: float, b: float) -> float:
    """What rounding took from ``a * b``, exactly (Dekker 1971)."""
    a_high = SPLITTER * a - (SPLITTER * a - a)
    b_high = SPLITTER * b - (SPLITTER * b - b)
    a_low, b_low = a - a_high, b - b_high
    return a_low * b_low - (((a * b - a_high * b_high) - a_low * b_high) - a_high * b_low)


@compiled
def _long_quotient(value: np.uint64, divisor: float) -> tuple[float, bool]:
    """An integer below 2**60 divided by a power of ten; and whether that is certainly the nearest double.

    The quotient is computed to about 104 bits as a sum of two doubles, then rounded from a little below and a little
    above; the two agree but for one number in 2**40 or so, and for exact ties.
    """
    high = np.float64(value)
    low = np.float64(np.int64(value) - np.int64(high))
    quotient = high / divisor
    product = quotient * divisor
    remainder = (high - product) - _product_error(quotient, divisor)
    correction = (remainder + low) / divisor
    slack = quotient * QUOTIENT_ERROR
    below, above = quotient + (correction - slack), quotient + (correction + slack)
    return below, bool(below == above)


@compiled
def _scaled(value: np.uint64, power: int) -> tuple[float, bool]:
    """``value * 10**power``; and whether that is certainly the nearest double."""
    if value <= EXACT_INTEGER:
        # One operation on exact operands rounds once (Clinger 1990, How to read floating point numbers accurately).
        exact = np.float64(value)
        return (exact / EXACT_POWERS[-power] if power < 0 else exact * EXACT_POWERS[power]), True
    if power < 0:
        return _long_quotient(value, EXACT_POWERS[-power])
    return np.nan, False


@compiled
def _number(text: Text, first: int, stop: int) -> tuple[float, bool]:
    """The decimal number in a span, NaN if there is none; and whether this result is final."""
    negative = first < stop and text[first] == MINUS
    if first < stop and (negative or text[first] == PLUS):
        first += 1
    point, value, count = _digits(text, first, stop, np.uint64(0), 0)
    end, decimals = point, 0
    if point < stop and text[point] == POINT:
        end, value, count = _digits(text, point + 1, stop, value, count)
        decimals = end - point - 1
    if point == first and decimals == 0:
        return np.nan, True
    power = -decimals
    if end < stop and (text[end] == SMALL_E or text[end] == LARGE_E):
        end, exponent = _exponent(text, end, stop)
        power += exponent
    if end != stop:
        return np.nan, True
    if count == 0:
        return (-0.0 if negative else 0.0), True
    if count > MOST_DIGITS or abs(power) >= EXACT_POWERS.size:
        return np.nan, False
    size, final = _scaled(value, power)
    return -size if negative else size, final


@compiled
def parse_numbers(text: Text, spans: NDArray[np.int64], numbers: NDArray[np.float64], hard: NDArray[np.int64]) -> int:
    """Write the number in every span, spaces around it ignored, and NaN for whatever is not a decimal number.

    A number with so many digits or so large a power that its nearest double is not certain is left to the caller: its
    row goes to `hard`, and its span is narrowed to the number itself.

    Parameters
    ----------
    text : array of uint8
    spans : array of int64, shape (rows, 2)
    numbers : array of float64, shape (rows,)
    hard : array of int64, shape (rows,)

    Returns
    -------
    int
        How many of `hard` were written.
    """
    count = 0
    for row in range(numbers.size):
        first, stop = spans[row, 0], spans[row, 1]
        while first < stop and is_space(text[first]):
            first += 1
        while first < stop and is_space(text[stop - 1]):
            stop -= 1
        numbers[row], final = _number(text, first, stop)
        if not final:
            spans[row, 0], spans[row, 1] = first, stop
            hard[count] = row
            count += 1
    return count
