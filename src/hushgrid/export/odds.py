"""What epsilon means for somebody's guess, in per cent."""

import math
from fractions import Fraction

LARGEST = 700.0  # of an epsilon whose exponential is a double; beyond, guesses are as good as certain


def sure_at_most(before: float, epsilon: Fraction) -> float:
    """How sure a reader of a release can be of something they thought as likely as `before`.

    Bayes' rule: the odds grow by a factor of exp(ε) at most.

    Examples
    --------
    >>> round(sure_at_most(0.5, Fraction(1)), 4)  # e / (1 + e)
    0.7311
    """
    return 1 / (1 + (1 - before) / before * math.exp(-min(float(epsilon), LARGEST)))


def sure_at_least(before: float, epsilon: Fraction) -> float:
    """How sure a reader of a release remains of something they thought as likely as `before`.

    Examples
    --------
    >>> round(sure_at_least(0.5, Fraction(1)), 4)  # 1 / (1 + e)
    0.2689
    """
    return 1 - sure_at_most(1 - before, epsilon)


def percent(share: float) -> str:
    """A share in per cent, with two digits of what it lacks to none or to all.

    Examples
    --------
    >>> percent(0.7311), percent(0.0267), percent(0.9), percent(0.99955), percent(1 - 1e-12)
    ('73 %', '2.7 %', '90 %', '99.955 %', 'almost 100 %')
    """
    lacking = min(share, 1 - share)
    if lacking < 1e-6:
        return "almost 100 %" if share > 0.5 else "almost 0 %"
    digits = max(0, 1 - math.floor(math.log10(100 * lacking)))
    return f"{round(100 * share, digits):.8g} %"
