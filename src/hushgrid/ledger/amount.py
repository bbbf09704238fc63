"""Budgets in words."""

from decimal import Context, Decimal, Inexact
from fractions import Fraction

DIGITS = Context(prec=12, traps=[Inexact])


def amount(value: Fraction) -> str:
    """A rational as a decimal where that is exact and short, as a fraction where it is not.

    Examples
    --------
    >>> amount(Fraction(1, 2)), amount(Fraction(300)), amount(Fraction(1, 3))
    ('0.5', '300', '1/3')
    """
    try:
        return f"{DIGITS.divide(Decimal(value.numerator), Decimal(value.denominator)):f}"
    except Inexact:
        return str(value)
