"""Made-up points inside boxes whose density is flat or slopes.

Every point has bits of its own, a function of a key and its number, so that it does not matter which thread places it:
SplitMix64 (Steele, Lea, Flood: "Fast splittable pseudorandom number generators", 2014), started anew for each point.
"""

import math

import numpy as np

from hushgrid.arrays import Floats, Indices
from hushgrid.compiled import compiled

GAMMA = np.uint64(0x9E3779B97F4A7C15)  # this and the multipliers: Steele, Lea, Flood 2014, figure 16
FIRST_FACTOR, SECOND_FACTOR = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)


@compiled
def mixed(bits: np.uint64) -> np.uint64:
    """64 bits of which every one depends on all those given."""
    bits = (bits ^ (bits >> np.uint64(30))) * FIRST_FACTOR
    bits = (bits ^ (bits >> np.uint64(27))) * SECOND_FACTOR
    return bits ^ (bits >> np.uint64(31))


@compiled
def uniform(key: np.uint64, point: int, number: int) -> float:
    """The draw of this number, from 1, of a point: above 0 and below 1."""
    start = mixed(key + np.uint64(point + 1) * GAMMA)
    bits = mixed(start + np.uint64(number) * GAMMA) >> np.uint64(12)
    return (float(np.int64(bits)) + 0.5) * 2.0**-52


@compiled
def place_of_share(share: float, slope: float) -> float:
    """The place U from 0 to 1 below which a share of a mass lies: the inverse of `sloped_answers.share_below`.

    The root of ``slope U² + (1 - slope) U = share``, in the form that loses no digits and needs no special case.
    """
    linear = 1.0 - slope
    return min(2.0 * share / (linear + math.sqrt(max(linear * linear + 4.0 * slope * share, 0.0))), 1.0)


@compiled
def place(key: np.uint64, point: int, draw: int, axis: int, leaf: int, bounds: Floats, slopes: Floats) -> float:
    """A coordinate of a point in a leaf."""
    share = uniform(key, point, draw)
    if len(slopes) > 0:
        share = place_of_share(share, slopes[leaf, axis])
    low, high = bounds[leaf, axis], bounds[leaf, axis + 2]
    return float(min(low + share * (high - low), high))


@compiled
def scatter(key: np.uint64, first: int, stop: int, ends: Indices, bounds: Floats, slopes: Floats, out: Floats) -> None:
    """Place the points `first` to `stop`.

    Parameters
    ----------
    ends : array of int, shape (leaves,)
        The points of a leaf end before this number, and start where those of the leaf before end.
    bounds : array, shape (leaves, 4)
    slopes : array, shape (leaves, 2)
        Of the density inside leaves; empty where it is flat.
    out : array, shape (points, 2)
    """
    leaf = int(np.searchsorted(ends, first, side="right"))
    for point in range(first, stop):
        while ends[leaf] <= point:
            leaf += 1
        for axis in range(2):
            out[point, axis] = place(key, point, axis + 1, axis, leaf, bounds, slopes)


@compiled
def scatter_again(
    key: np.uint64, points: Indices, leaves: Indices, attempt: int, bounds: Floats, slopes: Floats, out: Floats
) -> None:
    """Place points of these numbers in their leaves, several times from `attempt` on, shape (points, times, 2)."""
    for row in range(len(points)):
        for time in range(out.shape[1]):
            for axis in range(2):
                draw = 2 * (attempt + time) + axis + 1
                out[row, time, axis] = place(key, points[row], draw, axis, leaves[row], bounds, slopes)
