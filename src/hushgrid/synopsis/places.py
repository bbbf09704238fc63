"""Places of a release that were counted by themselves.

A release aimed at places counts the points in each of them directly, and all other points on a tree. A point is counted
in one place or on the tree, never twice, so that both have the whole budget.
"""

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np

from hushgrid.answering.around import LEAST_FREE, Overlap, PlacedAreaSurface
from hushgrid.answering.polygons import AreaSurface
from hushgrid.arrays import Floats
from hushgrid.geometry.areas import AreaPartition
from hushgrid.geometry.tree import Tree
from hushgrid.inference.evidence import Evidence
from hushgrid.inference.measurements import Measurements, NoisyValues
from hushgrid.inference.noise_law import fourth_cumulant


@dataclass(frozen=True, kw_only=True, eq=False)
class CountedPlaces:
    """Public areas, and the noisy number of points in each.

    Parameters
    ----------
    areas : AreaPartition
        Without levels, in the domain of the release.
    values : NoisyValues
        One a place, all at one rate.
    """

    areas: AreaPartition
    values: NoisyValues

    @property
    def rate(self) -> Fraction:
        """The one rate of their noise."""
        return self.values.rates[0]

    @property
    def counts(self) -> Floats:
        """Noisy counts, shape (places,)."""
        return self.values.values.astype(np.float64)

    @property
    def measurements(self) -> Measurements:
        """The noisy counts as measurements of areas."""
        return Measurements.of_leaves(self.values)

    @cached_property
    def _surface(self) -> AreaSurface:
        return AreaSurface(Evidence(self.areas, self.measurements), self.counts)

    def surface(self, around: AreaSurface, overlap: Overlap) -> PlacedAreaSurface:
        """The density of the places, and around them."""
        cumulants = float(self.values.variances[0]), fourth_cumulant(self.rate)
        return PlacedAreaSurface(around, self._surface, overlap, cumulants=cumulants)


class PlacesOnTree:
    """Places of a release on the leaves of its tree."""

    def __init__(self, tree: Tree, places: CountedPlaces) -> None:
        self._tree = tree
        self._places = places
        self.overlap = Overlap(tree, places.areas)

    def added(self, around: Floats) -> Floats:
        """Counts of leaves with the points in places, shape (leaves,).

        `around` are the counts of all other points, of which a leaf that places cover has none.
        """
        return self._out_of_covered(around) + self._by_leaf

    def taken(self, counts: Floats) -> Floats:
        """Counts of leaves without the points in places: the reverse."""
        return np.where(self.overlap.free > 0, counts - self._by_leaf, 0.0)

    def variances(self, around: Floats) -> Floats:
        """Noise variances of leaves with the points in places, shape (leaves,)."""
        placed = self.overlap.variances_by_leaf(float(self._places.values.variances[0]))
        return np.where(self.overlap.free > 0, around, 0.0) + placed

    def _out_of_covered(self, around: Floats) -> Floats:
        """Counts of leaves, those of covered ones dealt out to others nearby.

        No point outside the places lies in a leaf that they cover, but an inference expects some there: what it found
        belongs to the other leaves of the smallest node that has any, in proportion to their counts.
        """
        is_free = self.overlap.free > 0
        counts, (first, stop) = np.where(is_free, around, 0.0), self._tree.runs
        for node in self._tree.leaves[~is_free].tolist():
            found, above = around[first[node]], node
            while above > 0 and not is_free[first[above] : stop[above]].any():
                above = int(self._tree.parents[above])
            leaves = slice(int(first[above]), int(stop[above]))
            weights = np.where(is_free[leaves], np.maximum(around[leaves], 0.0), 0.0)
            if weights.sum() <= 0:
                weights = self.overlap.free[leaves]
            counts[leaves] += found * weights / max(float(weights.sum()), LEAST_FREE)
        return counts

    @cached_property
    def _by_leaf(self) -> Floats:
        return self.overlap.by_leaf(self._places.counts)
