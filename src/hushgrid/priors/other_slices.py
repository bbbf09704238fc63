"""What the total and all other slices say of a slice.

Slices have much in common, and two sources tell of it: the total, which is measured in small cells, and the counts of
the slices, whose noise is low where they are added up. So the other slices are added up cell by cell, spread inside
their cells as the total has it, and the total is added to them. What a slice measured itself is not in its own prior:
it would count twice.
"""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar, Self

import numpy as np

from hushgrid.arrays import Floats, Indices
from hushgrid.geometry.quadrants import finest_runs, quadrants_of
from hushgrid.geometry.tree import Tree
from hushgrid.inference.pooled import AKIN, Trust
from hushgrid.priors.releases import units_per_count
from hushgrid.synopsis.claim import OF_SLICES
from hushgrid.synopsis.synopsis import Synopsis

EVEN = 1.0  # of the total's points in a cell, how many lie evenly: so counts are spread where it has none, too


@dataclass(frozen=True, kw_only=True, eq=False)
class RunningCounts:
    """Counts along the curve of finest cells, even between edges.

    Parameters
    ----------
    edges : array of int, shape (n + 1,)
        Places on the curve, rising.
    sums : array of float, shape (n + 1,)
        What lies before each.
    """

    edges: Indices
    sums: Floats

    @classmethod
    def of(cls, synopsis: Synopsis) -> Self:
        """The counts of a release on a quadtree, none below zero."""
        return cls(edges=edges_of(synopsis), sums=np.append(0.0, np.cumsum(np.maximum(synopsis.counts, 0.0))))

    def before(self, places: Indices) -> Floats:
        """What lies before places on the curve."""
        return np.interp(places, self.edges, self.sums)


@dataclass(frozen=True, kw_only=True, eq=False)
class SpreadEvidence:
    """Evidence along the curve that lies as the total does, and partly evenly.

    Parameters
    ----------
    total : RunningCounts
    edges : array of int, shape (n + 1,)
        Places on the curve, rising.
    followed, even : array of float, shape (n,)
        Between edges: evidence for each of the total's points, and for each finest cell.

    Examples
    --------
    >>> total = RunningCounts(edges=np.array([0, 2, 4]), sums=np.array([0.0, 9.0, 9.0]))
    >>> twenty = SpreadEvidence.within(total, np.array([0, 4]), np.array([20.0]))
    >>> twenty.before(np.array([0, 2, 3, 4]))
    array([ 0. , 19. , 19.5, 20. ])
    """

    total: RunningCounts
    edges: Indices
    followed: Floats
    even: Floats

    @classmethod
    def within(cls, total: RunningCounts, edges: Indices, evidence: Floats) -> Self:
        """Evidence of cells that follow each other, spread inside each."""
        there = np.diff(total.before(edges))
        followed = evidence / (there + EVEN)
        return cls(total=total, edges=edges, followed=followed, even=EVEN * followed / np.diff(edges))

    @classmethod
    def together(cls, parts: Sequence["SpreadEvidence"]) -> "SpreadEvidence":
        """The sum of several that follow one total."""
        edges = np.unique(np.concatenate([part.edges for part in parts]))
        places = [np.searchsorted(edges, part.edges) for part in parts]
        rates = np.zeros((2, len(edges)))
        for part, at in zip(parts, places, strict=True):
            for row, rate in zip(rates, (part.followed, part.even), strict=True):
                row[at] += np.diff(rate, prepend=0.0, append=0.0)
        followed, even = np.cumsum(rates, axis=1)[:, :-1]
        return SpreadEvidence(total=parts[0].total, edges=edges, followed=followed, even=even)

    def before(self, places: Indices) -> Floats:
        """Evidence before places on the curve."""
        part = np.clip(np.searchsorted(self.edges, places, side="right") - 1, 0, len(self.even) - 1)
        rest = self.followed[part] * (self.total.before(places) - self._totals[part])
        return np.asarray(self._sums[part] + rest + self.even[part] * (places - self.edges[part]))

    @cached_property
    def _totals(self) -> Floats:
        """The total's points before each edge."""
        return self.total.before(self.edges)

    @cached_property
    def _sums(self) -> Floats:
        """Evidence before each edge."""
        between = self.followed * np.diff(self._totals) + self.even * np.diff(self.edges)
        return np.append(0.0, np.cumsum(between))


@dataclass(frozen=True, kw_only=True, eq=False)
class OtherSlices:
    """The total and all other slices, as the prior of one.

    A slice is a part of the total, so this needs no proof: it helps most the slices that have too few points to prove
    anything. What was measured still says how far it is followed (decision 16).

    Parameters
    ----------
    sha256 : str
        Digest of what was measured for the total and all slices, in hexadecimal.
    together : SpreadEvidence
        Evidence of the total and all slices.
    own : SpreadEvidence
        The part of it that is the slice's own.
    """

    name: ClassVar[str] = "the total and all other slices"
    kind: ClassVar[str] = OF_SLICES
    licence: ClassVar[None] = None
    needs_proof: ClassVar[bool] = False
    trust: ClassVar[Trust] = AKIN

    sha256: str
    together: SpreadEvidence
    own: SpreadEvidence

    def evidence(self, levels: Indices, codes: Indices) -> Floats:
        """Evidence in quadtree cells of the domain, shape (n,).

        It adds up but where noise makes it negative: such cells have none.
        """
        first, stop = finest_runs(levels, codes)
        others = [running.before(stop) - running.before(first) for running in (self.together, self.own)]
        return np.maximum(others[0] - others[1], 0.0)


def priors_of_slices(total: Synopsis, slices: Sequence[Synopsis]) -> list[OtherSlices | None]:
    """The prior of each slice, in order; None if it has no points.

    Parameters
    ----------
    total : Synopsis
        Of all slices, on a quadtree.
    slices : sequence of Synopsis
        Each on a quadtree by least squares: such counts are off in no direction, so that noise is all that adds up.
    """
    counts, digest = RunningCounts.of(total), _digest([total, *slices])
    owns = [SpreadEvidence.within(counts, edges_of(part), units_per_count(part) * part.counts) for part in slices]
    unit = units_per_count(total)
    of_total = SpreadEvidence(
        total=counts, edges=counts.edges[[0, -1]], followed=np.array([unit]), even=np.array([0.0])
    )
    together = SpreadEvidence.together([of_total, *owns])
    found = [OtherSlices(sha256=digest, together=together, own=own) for own in owns]
    root = np.array([0]), np.array([0])
    return [prior if prior.evidence(*root)[0] > 0 else None for prior in found]


def edges_of(synopsis: Synopsis) -> Indices:
    """Places on the curve where leaves of a quadtree begin, and its end."""
    assert isinstance(synopsis.partition, Tree)
    first, stop = quadrants_of(synopsis.partition).runs
    return np.append(first, stop[-1])


def _digest(releases: Sequence[Synopsis]) -> str:
    """SHA-256 of all that was measured for some releases, in hexadecimal."""
    digest = hashlib.sha256()
    for release in releases:
        for values in (release.measurements.leaves.values, release.measurements.region_values.values):
            digest.update(values.astype("<i8").tobytes())
    return digest.hexdigest()
