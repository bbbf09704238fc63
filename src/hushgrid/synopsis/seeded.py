"""Chance on the public side: for made-up points, which protect nobody and may be drawn again from their seed."""

import numpy as np


def seeded(seed: int | None = None) -> np.random.Generator:
    """A generator of made-up points; without a seed, another one each time.

    Examples
    --------
    >>> seeded(1).random() == seeded(1).random()
    True
    """
    return np.random.default_rng(seed)
