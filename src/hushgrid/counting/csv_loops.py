"""Loops that read lines, fields and numbers.

Nothing here can fail on a value, and nothing in one line changes how another is read: a quote never reaches across
the end of its line.
"""

import numpy as np
from numpy.typing import NDArray

from hushgrid.compiled import compiled

NEWLINE, RETURN, TAB, SPACE, QUOTE = (np.uint8(ord(character)) for character in '\n\r\t "')

Text = NDArray[np.uint8]


@compiled
def is_space(byte: np.uint8) -> bool:
    """Whether a byte is blank inside a line.

    The return of a CRLF ending is.
    """
    return bool((byte == SPACE) | (byte == TAB) | (byte == RETURN))


def line_stops(text: Text) -> NDArray[np.int64]:
    """Where every line ends.

    At its newline, or at the end of the text.
    """
    stops = np.flatnonzero(text == NEWLINE)
    return stops if text.size == 0 or text[-1] == NEWLINE else np.append(stops, text.size)


@compiled
def _is_row(text: Text, first: int, stop: int, longest: int) -> bool:
    """Whether a line holds something, and is short enough.

    Then it is a row. The longest is what is read at once.
    """
    if stop - first > longest:
        return False
    for i in range(first, stop):  # noqa: SIM110  # any() over a generator is not compiled
        if not is_space(text[i]):
            return True
    return False


@compiled
def count_rows(text: Text, stops: NDArray[np.int64], longest: int) -> int:
    """Number of lines that hold something.

    Whether it can be read as a point does not matter.
    """
    rows, first = 0, 0
    for stop in stops:
        rows += int(_is_row(text, first, stop, longest))
        first = stop + 1
    return rows


@compiled
def _skip_to(text: Text, first: int, stop: int, wanted: np.uint8) -> int:
    while first < stop and text[first] != wanted:
        first += 1
    return first


@compiled
def _field(text: Text, first: int, stop: int, delimiter: np.uint8) -> tuple[int, int, int]:
    """Find the field that begins at `first`.

    Gives its first and last byte without quotes, half-open, and where it ends with them.
    """
    if first == stop or text[first] != QUOTE:
        end = _skip_to(text, first, stop, delimiter)
        return first, end, end
    close = _skip_to(text, first + 1, stop, QUOTE)
    while close + 1 < stop and text[close + 1] == QUOTE:  # a doubled quote is part of the text
        close = _skip_to(text, close + 2, stop, QUOTE)
    if close == stop:
        return first, first, stop  # never closed: nothing that could be a number, up to the end of the line
    end = _skip_to(text, close, stop, delimiter)
    for i in range(close + 1, end):
        if not is_space(text[i]):
            return first, first, end  # text after the closing quote: nothing that could be a number
    return first + 1, close, end


@compiled
def find_fields(
    text: Text,
    stops: NDArray[np.int64],
    delimiter: int,
    fields: tuple[int, ...],
    longest: int,
    spans: NDArray[np.int64],
) -> int:
    """Write where the wanted fields of rows lie.

    The span is empty where a row has no such field.

    Parameters
    ----------
    text, stops : array of uint8, array of int64, shape (lines,)
        Whole lines, and where they end.
    delimiter : int
        The byte between fields.
    fields : tuple of int
        Numbers of the wanted fields, from 0.
    longest : int
        Lines with more bytes are not rows.
    spans : array of int64, shape (fields, lines, 2)
        First and last byte, half-open, of each wanted field.

    Returns
    -------
    int
        Number of rows.
    """
    row, first, last = 0, 0, max(fields)
    for stop in stops:
        if _is_row(text, first, stop, longest):
            spans[:, row, :] = stop
            begin, number = first, 0
            while begin <= stop and number <= last:  # past the last field of a row, begin is stop + 1
                low, high, end = _field(text, begin, stop, np.uint8(delimiter))
                for k in range(len(fields)):
                    if fields[k] == number:
                        spans[k, row, 0], spans[k, row, 1] = low, high
                begin, number = end + 1, number + 1
            row += 1
        first = stop + 1
    return row


PLUS, MINUS, ZERO, NINE, SMALL_E, LARGE_E = (np.uint8(ord(character)) for character in "+-09eE")

EXACT_INTEGER = np.uint64(2**53)  # all integers up to here are doubles
EXACT_POWERS = 10.0 ** np.arange(23)  # these are exact as doubles
MOST_DIGITS = 18  # an integer of 18 digits is below 2**60
SPLITTER = 2.0**27 + 1  # cuts a double into two halves of 26 bits
QUOTIENT_ERROR = 2.0**-95  # relative; far above what `_long_quotient` can be off by, far below half a unit
LARGEST_EXPONENT = 1_000_000  # beyond any double: stop adding digits before the sum overflows


@compiled
def _digits(text: Text, first: int, stop: int, value: np.uint64, count: int) -> tuple[int, np.uint64, int]:
    """Read a run of digits.

    Gives where it ends, the integer that it extends, and how many digits of that are significant.
    """
    while first < stop and ZERO <= text[first] <= NINE:
        if count > 0 or text[first] != ZERO:
            count += 1
            if count <= MOST_DIGITS:
                value = value * np.uint64(10) + np.uint64(text[first] - ZERO)
        first += 1
    return first, value, count


@compiled
def _exponent(text: Text, first: int, stop: int) -> tuple[int, int]:
    """Read the exponent whose letter is at `first`.

    Gives where it ends, -1 if there is none, and its value.
    """
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
    """Exact rounding error of ``a * b`` (Dekker 1971)."""
    a_high = SPLITTER * a - (SPLITTER * a - a)
    b_high = SPLITTER * b - (SPLITTER * b - b)
    a_low, b_low = a - a_high, b - b_high
    return a_low * b_low - (((a * b - a_high * b_high) - a_low * b_high) - a_high * b_low)


@compiled
def _long_quotient(value: np.uint64, divisor: float) -> tuple[float, bool]:
    """Divide an integer by a power of ten.

    Gives the quotient, and whether it is certainly the nearest double. The integer is below 2**60. The quotient is
    computed to about 104 bits as a sum of two doubles, then rounded from a little below and a little above; the two
    agree but for one number in 2**40 or so, and for exact ties.
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
    """Compute ``value * 10**power``.

    Gives the product, and whether it is certainly the nearest double.
    """
    if value <= EXACT_INTEGER:
        # One operation on exact operands rounds once (Clinger 1990, How to read floating point numbers accurately).
        exact = np.float64(value)
        return (exact / EXACT_POWERS[-power] if power < 0 else exact * EXACT_POWERS[power]), True
    if power < 0:
        return _long_quotient(value, EXACT_POWERS[-power])
    return np.nan, False


@compiled
def _number(text: Text, first: int, stop: int, decimals: tuple[int, int]) -> tuple[float, bool]:
    """Read the decimal number in a span.

    Gives the number, NaN if there is none, and whether this is final.
    """
    negative = first < stop and text[first] == MINUS
    if first < stop and (negative or text[first] == PLUS):
        first += 1
    point, value, count = _digits(text, first, stop, np.uint64(0), 0)
    end, places = point, 0
    if point < stop and (text[point] == decimals[0] or text[point] == decimals[1]):
        end, value, count = _digits(text, point + 1, stop, value, count)
        places = end - point - 1
    if point == first and places == 0:
        return np.nan, True
    power = -places
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
def parse_numbers(
    text: Text,
    spans: NDArray[np.int64],
    decimals: tuple[int, int],
    numbers: NDArray[np.float64],
    hard: NDArray[np.int64],
) -> int:
    """Write the decimal number in every span.

    Blanks around it are ignored; whatever is not a decimal number is NaN. A number with too many digits or too large a
    power for its nearest double to be certain is left to the caller: its row goes to `hard`, and its span is narrowed
    to the number itself.

    Parameters
    ----------
    text : array of uint8
    spans : array of int64, shape (rows, 2)
    decimals : pair of int
        The bytes that may stand between a number and its decimals; twice the same where only one may.
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
        numbers[row], final = _number(text, first, stop, decimals)
        if not final:
            spans[row, 0], spans[row, 1] = first, stop
            hard[count] = row
            count += 1
    return count
