"""Decimal numbers against Python's own parser."""

import re

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from hushgrid.counting.csv import _numbers
from hushgrid.counting.csv_loops import parse_numbers

GRAMMAR = re.compile(rb"[ \t\r]*[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?[ \t\r]*")

NUMBERS = [b"0", b"-0", b"+1", b"1.", b".5", b"-.5e3", b"007", b" 1.5\t", b"1e5", b"1E-5", b"1e+05", b"1e22", b"1e23"]
NUMBERS += [b"1e308", b"1e309", b"-1e400", b"1e-400", b"1e-320", b"1e99999999999999999999", b"0e99999999999999999999"]
NUMBERS += [b"9007199254740993", b"9007199254740993e-3", b"123456789012345678901234567890", b"0." + b"0" * 400 + b"1"]
NUMBERS += [b"1" + b"0" * 400, b"-73.98123456789012345678", b"4503599627370496.5", b"4503599627370497.5"]

NOT_NUMBERS = [
    b"",
    b" ",
    b"nan",
    b"NaN",
    b"inf",
    b"-inf",
    b"infinity",
    b"1_0",
    b"0x10",
    b"1e",
    b"1e+",
    b"e5",
    b".",
    b"-",
]
NOT_NUMBERS += [
    b"+-1",
    b"1 2",
    b"1,5",
    b"1.2.3",
    b"1-",
    b"null",
    b"None",
    b'"1"',
    b"1d5",
    b"\xff",
    b"\xd9\xa1",
    b"1\x00",
]


def parse(*fields, decimal="."):
    """Numbers of a text that is these fields in a row."""
    edges = np.cumsum([0, *map(len, fields)])
    return _numbers(b"".join(fields), np.stack([edges[:-1], edges[1:]], axis=1), decimal)


def with_commas(field):
    """A field with its commas and points exchanged."""
    return field.translate(bytes.maketrans(b".,", b",."))


@pytest.mark.parametrize("field", NUMBERS)
def test_a_number_is_the_nearest_double(field):
    """The result is bit for bit what Python makes of the text."""
    assert parse(field).tobytes() == np.array([float(field)]).tobytes()


@pytest.mark.parametrize("field", NOT_NUMBERS)
def test_what_is_not_a_decimal_number_is_nan(field):
    """Words, other notations and fragments are no numbers, and raise nothing."""
    assert np.isnan(parse(field)).all()


@pytest.mark.parametrize("field", NUMBERS + NOT_NUMBERS)
def test_a_decimal_comma_does_what_a_point_does(field):
    """The same numbers, and the same fields that are none: "1.5" is not a number where decimals follow a comma."""
    expected = parse(field)

    assert parse(with_commas(field), decimal=",").tobytes() == expected.tobytes()


@settings(deadline=None)
@given(st.floats(allow_nan=False, allow_infinity=False))
@example(5e-324)
@example(1.7976931348623157e308)
def test_the_shortest_text_of_a_double_gives_it_back(number):
    """Reading what repr writes of a double gives the same bits."""
    assert parse(repr(number).encode()).tobytes() == np.array([number]).tobytes()


@settings(deadline=None)
@given(st.integers(0, 10**18 - 1), st.integers(1, 30), st.booleans())
def test_decimals_of_up_to_eighteen_digits_are_rounded_correctly(digits, decimals, negative):
    """The fast paths agree with Python's exact one."""
    text = f"{digits:0{decimals + 1}d}"
    field = ("-" * negative + text[:-decimals] + "." + text[-decimals:]).encode()

    assert parse(field).tobytes() == np.array([float(field)]).tobytes()


def test_coordinates_with_every_digit_never_need_the_slow_path():
    """Doubles in degrees, written in full, are settled by the kernel itself, and correctly."""
    values = np.random.default_rng(0).uniform(-180, 180, 20_000)
    fields = [repr(value).encode() for value in values.tolist()]
    edges = np.cumsum([0, *map(len, fields)])
    numbers, hard = np.empty(values.size), np.empty(values.size, np.int64)

    left = parse_numbers(
        np.frombuffer(b"".join(fields), np.uint8),
        np.stack([edges[:-1], edges[1:]], axis=1),
        (ord("."), ord(".")),
        numbers,
        hard,
    )

    np.testing.assert_array_equal(numbers, values)
    assert left == 0


@settings(deadline=None)
@given(st.lists(st.binary(max_size=8) | st.text("0123456789+-.eE ", max_size=12).map(str.encode), max_size=5))
def test_a_number_is_what_the_grammar_says(fields):
    """Any bytes are a number if, and only if, they match the grammar of decimal numbers."""
    expected = [float(field) if GRAMMAR.fullmatch(field) else np.nan for field in fields]

    assert np.array_equal(parse(*fields), expected, equal_nan=True)
