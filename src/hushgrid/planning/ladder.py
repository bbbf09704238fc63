"""Figures for any number of points and any budget, from a few rehearsals.

The structure of a release depends on points times epsilon, and so do its errors relative to the points. With ten
times the points and a tenth of the budget, counts and noise are ten times as large everywhere. So figures are
rehearsed where this signal is a power of ten, with few people, and follow power laws between and beyond.
"""

import math
from dataclasses import fields, replace
from fractions import Fraction
from functools import cache

import numpy as np

from hushgrid.methods.method import most_cells
from hushgrid.planning.rehearsal import METHODS, Figures, rehearse
from hushgrid.release.cost import OTHER, PRICES

LOWEST_DECADE, HIGHEST_DECADE = 0, 5
LARGEST_POPULATION = 2**17

LARGEST_SIGNAL = 1e8  # that figures are given for

ERRORS = ("typical_error", "reach", "relative_typical_error", "relative_reach")


def figures_at(method: str, size: int, epsilon: Fraction, filled: float) -> Figures:
    """What to expect of a method, by interpolation.

    Examples
    --------
    >>> few, many = (figures_at("ug", size, Fraction(1), 0.2).relative_reach for size in (1000, 10_000))
    >>> bool(all(few > many))
    True
    """
    exponent = math.log10(min(float(size * epsilon), largest_signal(method)))
    decade = min(max(math.floor(exponent), LOWEST_DECADE), HIGHEST_DECADE - 1)
    low, high = (rung(method, min(size, LARGEST_POPULATION), each, filled) for each in (decade, decade + 1))
    return _between(low, high, exponent - decade)


def largest_signal(method: str) -> float:
    """Points times epsilon beyond which figures get no better.

    There a release has about as many cells as it may.

    Examples
    --------
    >>> largest_signal("staq") < largest_signal("ug") == LARGEST_SIGNAL
    True
    """
    return min(LARGEST_SIGNAL, most_cells(METHODS[method]) / PRICES.get(method, OTHER).cells)


@cache
def rung(method: str, people: int, decade: int, filled: float) -> Figures:
    """Figures where people times epsilon is a power of ten.

    No error is larger than on the rung below.
    """
    figures = rehearse(method, people, Fraction(10**decade, people), filled)
    if decade == LOWEST_DECADE:
        return figures
    below = rung(method, people, decade - 1, filled)
    return replace(figures, **{name: np.minimum(getattr(figures, name), getattr(below, name)) for name in ERRORS})


def _between(low: Figures, high: Figures, place: float) -> Figures:
    """Figures between two rungs, on power laws.

    At 0 they are the first, at 1 the second.
    """
    pairs = {field.name: (getattr(low, field.name), getattr(high, field.name)) for field in fields(Figures)}
    return Figures(**{name: first * (last / first) ** place for name, (first, last) in pairs.items()})
