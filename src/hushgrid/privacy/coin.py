"""Exact coins that come up heads with probability ``exp(-gamma)``."""

from fractions import Fraction

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hushgrid.privacy.bits import Bits
from hushgrid.privacy.codes import check_counts
from hushgrid.privacy.laplace import geometric


def flip_exp_each(true_gaps: ArrayLike, *, rate: Fraction, bits: Bits) -> NDArray[np.bool_]:
    """For every integer gap, true with probability exactly ``exp(-rate * gap)``; always where the gap is not positive.

    A geometric integer of the rate reaches the gap with that very probability.
    """
    gaps = check_counts(true_gaps)
    return geometric(gaps.size, rate=rate, bits=bits).reshape(gaps.shape) >= gaps
