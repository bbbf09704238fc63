"""The queries of the paper: six sizes, 200 rectangles each, and their true answers."""

import numpy as np
from numpy.typing import NDArray

from hushgrid.geometry.domain import Domain

# Qardaji et al. 2013, section V-A.
QUERY_SIZES = 6
RECTS_PER_SIZE = 200


def workload(domain: Domain, largest_query: tuple[float, float], *, seed: int) -> NDArray[np.float64]:
    """Rectangles of six sizes, each half as wide and half as high as the next, placed uniformly inside the domain.

    Returns
    -------
    array of float, shape (6, 200, 4)
        West, south, east, north of each rectangle, the smallest first.

    Examples
    --------
    >>> rects = workload(Domain(west=0, south=0, east=60, north=40), (40, 20), seed=1)
    >>> rects.shape
    (6, 200, 4)
    >>> (rects[:, 0, 2:] - rects[:, 0, :2]).round(4)
    array([[ 1.25 ,  0.625],
           [ 2.5  ,  1.25 ],
           [ 5.   ,  2.5  ],
           [10.   ,  5.   ],
           [20.   , 10.   ],
           [40.   , 20.   ]])
    """
    extent = np.array([domain.width, domain.height])
    halvings = np.arange(QUERY_SIZES - 1, -1, -1)
    size = (np.array(largest_query) / 2.0 ** halvings[:, None])[:, None, :]
    place = np.random.default_rng(seed).random((QUERY_SIZES, RECTS_PER_SIZE, 2))
    low = (domain.west, domain.south) + place * (extent - size)
    # The sum may round to just beyond the edge.
    high = np.minimum(low + size, (domain.east, domain.north))
    return np.concatenate([low, high], axis=2)


def true_counts(points: NDArray[np.float64], rects: NDArray[np.float64]) -> NDArray[np.int64]:
    """Exact number of points in each closed rectangle, shape (n,).

    Points are sorted by longitude once, so that a rectangle only looks at those of its own strip.

    Examples
    --------
    >>> true_counts(np.array([[0.0, 0.0], [1.0, 1.0], [2.0, 0.5]]), np.array([[0.0, 0.0, 1.0, 1.0], [1.5, 0, 3, 0.4]]))
    array([2, 0])
    """
    ordered = points[np.argsort(points[:, 0])]
    longitudes, latitudes = np.ascontiguousarray(ordered.T)
    first = np.searchsorted(longitudes, rects[:, 0], side="left")
    stop = np.searchsorted(longitudes, rects[:, 2], side="right")
    counts = np.empty(len(rects), np.int64)
    for index, (_, south, _, north) in enumerate(rects):
        strip = latitudes[first[index] : stop[index]]
        counts[index] = np.count_nonzero((strip >= south) & (strip <= north))
    return counts
