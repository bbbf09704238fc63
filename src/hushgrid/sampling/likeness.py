"""Makes up points that clump as released ones do.

Boxes are halved until points are alone, and the share of each half is drawn from a prior.

Every box has a key, which those of its halves follow from, and every draw is a function of a key and a number. So a
last digit that comes out otherwise on another processor moves one point, and not all that follow.
"""

import math
from functools import cache

import numpy as np

from hushgrid.arrays import Floats, Indices
from hushgrid.compiled import compiled, run_in_slices
from hushgrid.inference.inferences import INFERENCES
from hushgrid.inference.split_loops import CONCENTRATIONS
from hushgrid.inference.split_prior import laws_of_mean
from hushgrid.inference.splits import FIRST_WEIGHTS
from hushgrid.sampling.scatter import GAMMA, mixed
from hushgrid.synopsis.synopsis import Synopsis

FINEST = 2.0**-16  # extent, as a share of the domain's, of boxes that points lie evenly in
DEEPEST = 128  # boxes that wait at most: two for each halving of either side down to the finest, and some
ONE_SIDED, EVEN, FIRST_LAW = range(3)  # components of the prior of a split
# Variance of a share by component, as a part of the largest there can be.
VARIANCES = (1.0, 0.0, *(1 / (2 * concentration + 1) for concentration in CONCENTRATIONS))
TABULATED = 513  # shares that laws are tabulated at
NEARLY = 1 + 1e-9  # extents that differ by less are alike


@compiled
def draw(key: np.uint64, number: int) -> float:
    """A draw of a box, in [0, 1).

    The key is the box's own, the number that of the draw.
    """
    return float(np.int64(mixed(key + np.uint64(number + 1) * GAMMA) >> np.uint64(11))) * 2.0**-53


@compiled
def level_of(extent: float) -> int:
    """How often the domain was halved to this extent.

    The exponent of the double, because a logarithm of a power of two may come out on either side.
    """
    return 1 - math.frexp(extent * NEARLY)[1]


@compiled
def round_at_random(seed: np.uint64, expected: Floats, out: Indices) -> None:
    """Write whole numbers that are right on average."""
    key = mixed(seed)
    for place in range(len(expected)):
        out[place] = math.floor(expected[place] + draw(key, place))


@compiled
def draw_share(key: np.uint64, chances: Floats, laws: Floats, shares: Floats) -> float:
    """Draw the share of a box's first half.

    From a prior of mean one half.

    Parameters
    ----------
    chances : array, shape (8,)
        Cumulative weights of the components.
    laws : array, shape (6, n)
        Cumulative probabilities of the laws at the tabulated `shares`.
    """
    component, chance = 0, draw(key, 0)
    while component < len(chances) - 1 and chance >= chances[component]:
        component += 1
    if component == EVEN:
        return 0.5
    chance = draw(key, 1)
    if component == ONE_SIDED:
        return 0.0 if chance < 0.5 else 1.0
    law = laws[component - FIRST_LAW]
    behind, stop = 0, len(law)
    while behind < stop:
        middle = (behind + stop) // 2
        if chance < law[middle]:
            stop = middle
        else:
            behind = middle + 1
    behind = min(max(behind, 1), len(law) - 1)
    low, high = law[behind - 1], law[behind]
    part = (chance - low) / (high - low) if high > low else 0.0
    return float(shares[behind - 1] + part * (shares[behind] - shares[behind - 1]))


@compiled
def fill_boxes(
    seed: np.uint64,
    first: int,
    stop: int,
    corners: Floats,
    extents: Floats,
    starts: Indices,
    chances: Floats,
    laws: Floats,
    shares: Floats,
    out: Floats,
) -> None:
    """Place the points of boxes `first` to `stop`.

    The boxes lie in the unit square. Each is halved along its longer side.

    Parameters
    ----------
    corners, extents : array, shape (boxes, 2)
    starts : array of int, shape (boxes + 1,)
        The points of a box lie from ``starts[box]`` to ``starts[box + 1]`` of `out`.
    chances : array, shape (levels, 2, 8)
        Cumulative weights of the components of the prior, for each level and axis.
    laws, shares : array
        As for `draw_share`.
    """
    key = mixed(seed)
    boxes, numbers, keys = np.empty((DEEPEST, 4)), np.empty(DEEPEST, np.int64), np.empty(DEEPEST, np.uint64)
    for box in range(first, stop):
        place, waiting = starts[box], 1
        boxes[0, 0], boxes[0, 1] = corners[box, 0], corners[box, 1]
        boxes[0, 2], boxes[0, 3] = extents[box, 0], extents[box, 1]
        numbers[0], keys[0] = starts[box + 1] - starts[box], mixed(key + np.uint64(box + 1) * GAMMA)
        while waiting > 0:
            waiting -= 1
            west, south = boxes[waiting, 0], boxes[waiting, 1]
            width, height = boxes[waiting, 2], boxes[waiting, 3]
            number, own = numbers[waiting], keys[waiting]
            axis = 1 if height > width * NEARLY else 0
            extent = height if axis == 1 else width
            if number <= 1 or extent <= FINEST:
                for point in range(number):
                    out[place, 0] = west + width * draw(own, 2 * point)
                    out[place, 1] = south + height * draw(own, 2 * point + 1)
                    place += 1
                continue
            share = draw_share(own, chances[min(level_of(extent), len(chances) - 1), axis], laws, shares)
            inside = 0
            for point in range(number):
                inside += draw(own, 2 + point) < share
            if axis == 0:
                width /= 2
            else:
                height /= 2
            for half in range(2):
                boxes[waiting, 0] = west + width if half == 1 and axis == 0 else west
                boxes[waiting, 1] = south + height if half == 1 and axis == 1 else south
                boxes[waiting, 2], boxes[waiting, 3] = width, height
                numbers[waiting] = inside if half == 0 else number - inside
                keys[waiting] = mixed(own + np.uint64(half + 1))
                waiting += 1


SMALLEST_SLICE = 1024  # leaves a thread is worth starting for


class Replica:
    """Makes up points that follow the counts.

    Inside a leaf they are divided by splits into halves, whose shares follow the prior that the release has learned
    for splits of that level, or the one it would have begun with. So they clump as the points of the release do.

    Everything is a function of the counts as the file has them, of the measurements and of a seed. On another processor
    the same points come out, but for a few in a billion.

    Examples
    --------
    >>> import hushgrid as hg
    >>> domain = hg.Domain(west=0, south=0, east=1, north=1)
    >>> synopsis = hg.publish([[0.5, 0.5]] * 1000, domain=domain, epsilon=1, method="ug", rng=hg.simulation_rng(1))
    >>> 490 < len(Replica(synopsis).points(500, seed=1)) < 510
    True
    """

    def __init__(self, synopsis: Synopsis) -> None:
        self._masses = np.maximum(synopsis.counts, 0)
        self._total = math.fsum(self._masses)  # exact, so that it is the same in any order
        self._weights = weights_by_level(synopsis)
        domain, bounds = synopsis.domain, synopsis.partition.bounds()
        self._origin, self._extent = np.array([domain.west, domain.south]), np.array([domain.width, domain.height])
        self._corners = (bounds[:, :2] - self._origin) / self._extent
        self._extents = (bounds[:, 2:] - bounds[:, :2]) / self._extent

    def points(self, size: int, *, seed: int) -> Floats:
        """About `size` points, shape (n, 2)."""
        for_numbers, for_places = np.uint64(2 * seed), np.uint64(2 * seed + 1)
        numbers = np.empty(len(self._masses), np.int64)
        round_at_random(for_numbers, size * (self._masses / self._total), numbers)
        starts = np.concatenate([[0], np.cumsum(numbers)])
        placed = np.empty((starts[-1], 2))
        chances, (shares, laws) = np.cumsum(self._weights, axis=2), even_laws()

        def work(first: int, stop: int) -> None:
            boxes = self._corners, self._extents, starts
            fill_boxes(for_places, first, stop, *boxes, chances, laws, shares, placed)

        run_in_slices(work, len(numbers), smallest=SMALLEST_SLICE)
        return np.asarray(self._origin + self._extent * placed)

    @property
    def unevenness(self) -> float:
        """How unevenly the halves of leaves share their points.

        The mean variance of a share, by points: 0 where all halves are alike, 1 where one of two is empty.
        """
        levels = np.minimum(1 - np.frexp(self._extents * NEARLY)[1], len(self._weights) - 1)  # as `level_of` has it
        variances = (self._weights @ VARIANCES)[levels, [0, 1]].mean(axis=1)
        return float(self._masses @ variances) / self._total


def weights_by_level(synopsis: Synopsis) -> Floats:
    """Weights of the components of the prior, shape (levels, 2, 8)."""
    if INFERENCES[synopsis.inference].learned:
        return synopsis.evidence.prior_weights
    return np.broadcast_to(FIRST_WEIGHTS, (1, 2, len(FIRST_WEIGHTS)))


@cache
def even_laws() -> tuple[Floats, Floats]:
    """Shares, and the cumulative laws of even splits at each, shape (6, shares).

    Shares are closer together toward 0 and 1, where the laws are steep.
    """
    place = np.linspace(0, 1, TABULATED)
    shares = np.where(place <= 0.5, 2 * place**2, 1 - 2 * (1 - place) ** 2)
    return shares, laws_of_mean(np.array([0.5]), shares)[:, 0]
