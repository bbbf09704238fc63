"""Rationals as text: how a release file keeps every epsilon and rate exactly."""

import math
import re
from collections.abc import Iterable
from fractions import Fraction

from hushgrid.errors import SynopsisFileError

LONGEST_RATIONAL = 512  # characters
WIDEST_DENOMINATOR = 2048  # bits, of sums
RATIONAL = re.compile(r"[1-9][0-9]*(/[1-9][0-9]*)?", re.ASCII)


def parse_rational(text: str) -> Fraction | None:
    """The rational above zero that `str` of a Fraction writes so, or None if there is none.

    Examples
    --------
    >>> parse_rational("99/200"), parse_rational("2/4"), parse_rational("-1")
    (Fraction(99, 200), None, None)
    """
    if len(text) > LONGEST_RATIONAL or not RATIONAL.fullmatch(text):
        return None
    value = Fraction(text)
    return value if str(value) == text else None


def check_common_denominator(rationals: Iterable[Fraction]) -> None:
    """Refuse rationals whose exact sums would be numbers of unreasonable length."""
    common = 1
    for rational in rationals:
        common = math.lcm(common, rational.denominator)
        if common.bit_length() > WIDEST_DENOMINATOR:
            msg = "its rates or epsilons have no common denominator of reasonable size."
            raise SynopsisFileError(msg)
