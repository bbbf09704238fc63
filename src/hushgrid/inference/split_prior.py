"""The prior of how a mass is shared between the two parts of a split.

With probability w0 all of it is in one part, with probability w1 the share s is exactly its prior mean s0, and with
probability w_j it follows the law Beta(2 A_j s0, 2 A_j (1 - s0)), for six strengths A_j.
"""

from functools import cache

import numpy as np

from hushgrid.arrays import Floats
from hushgrid.kernels.belief import MEANS, PLACES
from hushgrid.kernels.incomplete_beta import beta_cdfs
from hushgrid.kernels.splits import CONCENTRATIONS

ATOMS = 2  # of the weights of a prior, the first two are w0 and w1


def cumulative_tables(weights: Floats) -> Floats:
    """Cumulative continuous part of priors, for each prior mean and share of a fixed grid.

    Parameters
    ----------
    weights : array, shape (..., 8)
        w0, w1 and the weights of the six laws.

    Returns
    -------
    array, shape (..., MEANS, PLACES)
    """
    return np.tensordot(weights[..., ATOMS:], _component_tables(), axes=1)


def tabulated_shares() -> Floats:
    """Shares that priors are tabulated at: where `place_of_share` is a whole number, shape (PLACES,)."""
    place = np.linspace(0, 1, PLACES)
    return np.where(place <= 0.5, 2 * place**2, 1 - 2 * (1 - place) ** 2)


@cache
def _component_tables() -> Floats:
    """Cumulative probabilities of each of the six laws, shape (6, MEANS, PLACES)."""
    means = np.arange(1, MEANS + 1) / (MEANS + 1)
    first = 2 * np.outer(CONCENTRATIONS, means)
    second = 2 * np.outer(CONCENTRATIONS, 1 - means)
    tables = np.empty((first.size, PLACES))
    beta_cdfs(first.ravel(), second.ravel(), tabulated_shares(), tables)
    return tables.reshape(len(CONCENTRATIONS), MEANS, PLACES)
