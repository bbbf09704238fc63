"""A made-up point set like the one a release may have been made from: as many points in each leaf, and as uneven."""

import numpy as np
from numpy.typing import NDArray

from hushgrid.geometry.tree import Tree
from hushgrid.inference.splits import FIRST_WEIGHTS, bayes_masses
from hushgrid.kernels.splits import CONCENTRATIONS
from hushgrid.synopsis.synopsis import Synopsis

Floats = NDArray[np.float64]
Indices = NDArray[np.int64]

FINEST = 2.0**-16  # extent, as a share of the domain's, of boxes that points lie evenly in
ONE_SIDED, EVEN, FIRST_LAW = range(3)  # components of the prior of a split
LEARNED = frozenset({"bayes", "belief", "belief-2"})  # inferences that learn how masses are shared


def replica(synopsis: Synopsis, size: int, rng: np.random.Generator) -> Floats:
    """About so many points, shape (n, 2), that fall into leaves as the counts say.

    Inside a leaf they are divided by splits into halves, whose shares follow the prior that the release has learned
    for splits of that level, or the one it would have begun with. So they clump as the points of the release do.

    Examples
    --------
    >>> import hushgrid as hg
    >>> from hushgrid.synopsis.seeded import seeded
    >>> domain = hg.Domain(west=0, south=0, east=1, north=1)
    >>> synopsis = hg.publish([[0.5, 0.5]] * 1000, domain=domain, epsilon=1, method="ug", rng=hg.simulation_rng(1))
    >>> 490 < len(replica(synopsis, 500, seeded(1))) < 510
    True
    """
    masses = np.maximum(synopsis.counts, 0)
    numbers = np.floor(size * masses / masses.sum() + rng.random(len(masses))).astype(np.int64)
    domain = synopsis.domain
    origin, extent = np.array([domain.west, domain.south]), np.array([domain.width, domain.height])
    bounds = synopsis.partition.bounds()
    corners, extents = (bounds[:, :2] - origin) / extent, (bounds[:, 2:] - bounds[:, :2]) / extent
    return origin + extent * _scatter(corners, extents, numbers, _weights_by_level(synopsis), rng)


def _scatter(corners: Floats, extents: Floats, numbers: Indices, weights: Floats, rng: np.random.Generator) -> Floats:
    """So many points in each box of the unit square, halved along its longer side until points are alone."""
    placed = [np.empty((0, 2))]
    while len(numbers):
        axis = (extents[:, 1] > extents[:, 0]).astype(np.int64)
        extent = np.take_along_axis(extents, axis[:, None], axis=1)[:, 0]
        settled = (numbers <= 1) | (extent <= FINEST)
        within = np.repeat(np.flatnonzero(settled), numbers[settled])
        placed.append(corners[within] + extents[within] * rng.random((len(within), 2)))

        going = np.flatnonzero(~settled)
        level = np.minimum(-np.floor(np.log2(extent[going])).astype(np.int64), len(weights) - 1)
        first = rng.binomial(numbers[going], _shares(weights[level, axis[going]], rng))
        halved = axis[going, None] == (0, 1)
        halves = np.where(halved, extents[going] / 2, extents[going])
        beyond = np.where(halved, corners[going] + halves, corners[going])
        numbers = np.concatenate([first, numbers[going] - first])
        some = np.flatnonzero(numbers)
        corners = np.concatenate([corners[going], beyond])[some]
        extents, numbers = np.concatenate([halves, halves])[some], numbers[some]
    return np.concatenate(placed)


def _shares(weights: Floats, rng: np.random.Generator) -> Floats:
    """Share of the first half of each split, drawn from its prior with mean one half, shape (splits,)."""
    component = (rng.random((len(weights), 1)) > np.cumsum(weights, axis=1)).sum(axis=1)
    component = np.minimum(component, weights.shape[1] - 1)  # where the weights sum to a little less than one
    strength = np.array(CONCENTRATIONS)[np.maximum(component - FIRST_LAW, 0)]
    shares: Floats = rng.beta(strength, strength)
    shares[component == EVEN] = 0.5
    one_sided = component == ONE_SIDED
    shares[one_sided] = rng.integers(2, size=np.count_nonzero(one_sided))
    return shares


def _weights_by_level(synopsis: Synopsis) -> Floats:
    """Weights of the components of the prior, for each level and axis, shape (levels, 2, 8)."""
    partition = synopsis.partition
    if synopsis.inference in LEARNED and isinstance(partition, Tree):
        return bayes_masses(partition, synopsis.measurements).prior_weights
    return np.broadcast_to(FIRST_WEIGHTS, (1, 2, len(FIRST_WEIGHTS)))
