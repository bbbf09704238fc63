"""Figures for any number of points and any budget, from rehearsals at powers of ten."""

import math
from dataclasses import fields, replace
from fractions import Fraction
from functools import cache

import numpy as np

from hushgrid.plan.rehearsal import Figures, rehearse

# Points times epsilon is what the structure of a release depends on, and its errors in proportion to the points: with
# ten times the points and a tenth of the budget, counts and noise are ten times as large everywhere. So figures are
# rehearsed at powers of ten of this signal, with no more people than are quickly made up, and follow power laws between
# and beyond these.
LOWEST_DECADE, HIGHEST_DECADE = 0, 5
LARGEST_POPULATION = 2**17

# Beyond it a release has about as many cells as it may have, and figures are taken to improve no further.
LARGEST_SIGNAL = 1e8

ERRORS = ("typical_error", "reach", "relative_typical_error", "relative_reach")


def figures_at(method: str, size: int, epsilon: Fraction, filled: float) -> Figures:
    """What to expect of a method with about so many points and so much budget for counts.

    Examples
    --------
    >>> few, many = (figures_at("ug", size, Fraction(1), 0.2).relative_reach for size in (1000, 10_000))
    >>> bool(all(few > many))
    True
    """
    exponent = math.log10(min(float(size * epsilon), LARGEST_SIGNAL))
    decade = min(max(math.floor(exponent), LOWEST_DECADE), HIGHEST_DECADE - 1)
    low, high = (rung(method, min(size, LARGEST_POPULATION), each, filled) for each in (decade, decade + 1))
    return _between(low, high, exponent - decade)


@cache
def rung(method: str, people: int, decade: int, filled: float) -> Figures:
    """Figures where people times epsilon is a power of ten; no error is larger than on the rung below."""
    figures = rehearse(method, people, Fraction(10**decade, people), filled)
    if decade == LOWEST_DECADE:
        return figures
    below = rung(method, people, decade - 1, filled)
    return replace(figures, **{name: np.minimum(getattr(figures, name), getattr(below, name)) for name in ERRORS})


def _between(low: Figures, high: Figures, place: float) -> Figures:
    """Figures on the power laws through two rungs, at 0 the one and at 1 the other."""
    pairs = {field.name: (getattr(low, field.name), getattr(high, field.name)) for field in fields(Figures)}
    return Figures(**{name: first * (last / first) ** place for name, (first, last) in pairs.items()})
