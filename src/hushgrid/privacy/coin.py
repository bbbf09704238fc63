"""Exact coins that come up heads with probability ``exp(-gamma)``."""

from fractions import Fraction
from functools import partial

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hushgrid.errors import ArgumentError
from hushgrid.privacy.bits import Bits, UniformReal
from hushgrid.privacy.codes import check_counts
from hushgrid.privacy.enclosure import certified_floor, exp_neg
from hushgrid.privacy.laplace import geometric


def flip_exp(gamma: Fraction, bits: Bits) -> bool:
    """True with probability exactly ``exp(-gamma)``, for a rational ``gamma >= 0``.

    Examples
    --------
    >>> from hushgrid.privacy.bits import SystemBits
    >>> flip_exp(Fraction(0), bits=SystemBits())
    True
    """
    if gamma < 0:
        msg = f"gamma must be a rational number >= 0, got gamma={gamma!r}."
        raise ArgumentError(msg)
    return UniformReal(bits).is_below(partial(certified_floor, partial(exp_neg, gamma)))


def flip_exp_each(true_gaps: ArrayLike, *, rate: Fraction, bits: Bits) -> NDArray[np.bool_]:
    """For every integer gap, true with probability exactly ``exp(-rate * gap)``; always where the gap is not positive.

    A geometric integer of the rate reaches the gap with that very probability.
    """
    gaps = check_counts(true_gaps)
    return geometric(gaps.size, rate=rate, bits=bits).reshape(gaps.shape) >= gaps
