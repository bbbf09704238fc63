"""Budgets as exact rationals."""

import math
from collections.abc import Sequence
from decimal import Decimal
from fractions import Fraction

import numpy as np

from hushgrid.errors import ArgumentError, quoted

LARGEST_EXPONENT = 100  # of ten: far beyond any budget, and still a double

PER_CENT = {"epsilon": " 'hushgrid plan --accuracy 10%' tells the epsilon that an accuracy takes."}

Exactable = int | float | str | Decimal | Fraction


def exact(value: Exactable, *, name: str, below: float = math.inf) -> Fraction:
    """The rational that a number stands for.

    A float stands for its shortest decimal, so that ten times 0.1 makes 1.

    Examples
    --------
    >>> exact(0.1, name="epsilon"), exact("1/3", name="epsilon"), exact("2.50", name="epsilon")
    (Fraction(1, 10), Fraction(1, 3), Fraction(5, 2))
    """
    rational = _rational(value)
    if rational is None:
        msg = f"{name} must be a finite number, got {name}={quoted(value)}."
        text = value if isinstance(value, str) else ""
        meant = _rational(text.replace(",", "."))
        if meant is not None and 0 < meant < below:
            msg += " Write a decimal point, not a comma."
            raise ArgumentError(msg, instead={name: text.replace(",", ".")})
        hundredths = _rational(text.strip().removesuffix("%")) if "%" in text else None
        if hundredths is not None and 0 < hundredths / 100 < below:
            msg += f" It is not in per cent.{PER_CENT.get(name, '')}"
            raise ArgumentError(msg, instead={name: float(hundredths / 100)})
        raise ArgumentError(msg, instead={name: 1} if name == "epsilon" else None)
    return rational


def _rational(value: Exactable) -> Fraction | None:
    if isinstance(value, Fraction):
        return value
    try:
        # numpy's own repr names the type; its str is the shortest decimal of its precision.
        text = str(value) if isinstance(value, str | Decimal | int | np.number) else repr(value)
        number = Fraction(text) if "/" in text else Decimal(text)
    except (ArithmeticError, ValueError):
        return None
    # A decimal exponent of many digits would make an integer too large to hold.
    if isinstance(number, Decimal) and not (number.is_finite() and abs(number.adjusted()) <= LARGEST_EXPONENT):
        return None
    return Fraction(number)


def exact_epsilon(value: Exactable) -> Fraction:
    """A privacy budget as a positive rational."""
    epsilon = exact(value, name="epsilon")
    if epsilon <= 0:
        msg = f"epsilon must be a finite number > 0, got epsilon={quoted(value)}. "
        msg += "Common values are 0.1 to 10; smaller is more private."
        raise ArgumentError(msg, instead={"epsilon": 1})
    return epsilon


def exact_share(value: Exactable, *, name: str) -> Fraction:
    """A share of a budget, between zero and one."""
    share = exact(value, name=name, below=1)
    if not 0 < share < 1:
        msg = f"{name} must lie strictly between 0 and 1, got {name}={quoted(value)}."
        raise ArgumentError(msg)
    return share


GRAIN = 2**20  # parts of a share that weights are rounded down to


def proportional_shares(whole: Fraction, weights: Sequence[float]) -> tuple[Fraction, ...]:
    """Divide a whole exactly, in proportion to weights.

    Weights may be irrational: parts are rounded down, and the last gets the rest.

    Examples
    --------
    >>> proportional_shares(Fraction(7, 10), [1, 1, 2])
    (Fraction(7, 40), Fraction(7, 40), Fraction(7, 20))
    """
    total = math.fsum(weights)
    parts = [whole * Fraction(math.floor(weight / total * GRAIN), GRAIN) for weight in weights[:-1]]
    return (*parts, whole - sum(parts))
