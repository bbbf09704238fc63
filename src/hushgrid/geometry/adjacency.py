"""Which cells of a grid hang together."""

from itertools import pairwise

import numpy as np
from numpy.typing import NDArray


def connected_groups(chosen: NDArray[np.bool_]) -> NDArray[np.int64]:
    """Number of the group of every chosen cell, -1 for the others; cells that share an edge are in one group.

    Groups are numbered in the order of their first cells. Each cell takes the smallest number of its neighbours until
    nothing changes, in sweeps along all four directions.

    Examples
    --------
    >>> connected_groups(np.array([[True, False, True], [True, False, True], [False, True, False]]))
    array([[ 0, -1,  1],
           [ 0, -1,  1],
           [-1,  2, -1]])
    """
    far = chosen.size
    labels = np.where(chosen, np.arange(far).reshape(chosen.shape), far)
    while True:
        before = labels.copy()
        for view in (labels, labels[::-1], labels.T, labels.T[::-1]):
            for low, high in pairwise(view):
                np.minimum(high, low, out=high, where=(high < far) & (low < far))
        if np.array_equal(labels, before):
            break
    return np.where(chosen, np.searchsorted(np.unique(labels[chosen]), labels), -1)
