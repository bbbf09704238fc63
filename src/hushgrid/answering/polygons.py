"""Densities over polygons, and of given areas."""

from functools import cached_property
from typing import Any

import numpy as np

from hushgrid.answering.areas import AreaShapes
from hushgrid.answering.boxes import BoxTree
from hushgrid.answering.cover import Cover
from hushgrid.answering.outlines import Geometries, import_shapely, outlines
from hushgrid.answering.polygon_noise import AreaNoise, area_noise
from hushgrid.answering.surface import FLAT, spread
from hushgrid.arrays import Floats, Indices
from hushgrid.geometry.areas import AreaPartition
from hushgrid.geometry.domain import Domain
from hushgrid.geometry.quadrants import node_depths
from hushgrid.geometry.rects import area_shares
from hushgrid.geometry.tree import Tree
from hushgrid.inference.evidence import Evidence


class AreaSurface:
    """A density that sums over polygons.

    It offers the estimates and variances that `Surface` has for rectangles.

    Parameters
    ----------
    counts : array, shape (leaves,)
        Estimated counts.
    slopes : array, shape (leaves, 2)
        Of the density inside leaves along x and y; empty where it is flat.
    """

    def __init__(self, evidence: Evidence, counts: Floats, *, slopes: Floats = FLAT) -> None:
        self._evidence = evidence
        self._partition = evidence.partition
        self._leaf_counts = counts
        self._leaf_slopes = slopes

    @property
    def domain(self) -> Domain:
        """The public rectangle the density covers."""
        return self._partition.domain

    @property
    def nodes(self) -> BoxTree | AreaShapes:
        """The leaves, and what they make up."""
        return self._nodes

    def cover(self, geometries: Any) -> Cover:
        """What polygons cover of the leaves."""
        if isinstance(self._nodes, AreaShapes):
            return self._nodes.cover(geometries)
        return Cover.of(self._nodes, outlines(geometries, self._partition.domain), self._slopes)

    def counts(self, cover: Cover) -> Floats:
        """Estimated points in each area, shape (areas,)."""
        first, stop = cover.runs.T
        # Single nodes are read directly: a difference of running sums has the rounding error of the total.
        inside = np.where(stop - first == 1, self._counts[first], self._running[stop] - self._running[first])
        return cover.total(cover.mass_shares * inside)

    def area_shares(self, cover: Cover) -> Floats:
        """Each area's share of the domain, shape (areas,)."""
        first, stop = cover.runs.T
        running = self._running_areas
        return cover.total(cover.area_shares * (running[stop] - running[first]))

    def variances(self, cover: Cover) -> tuple[Floats, Floats]:
        """Variances by noise and by spread, shape (areas,) each."""
        if self._evidence.measured is not self._evidence:
            return self._noise.variances(cover), self._spread_as_measured(cover)
        shares = cover.area_shares
        cut = cover.total(shares * (1 - shares) * self._spreads[cover.runs[:, 0]])
        return self._noise.variances(cover), cut

    def _spread_as_measured(self, cover: Cover) -> Floats:
        """Variance by spread where leaves were divided further than they were measured.

        How points lie inside a leaf that was measured is uncertain as a whole, so its parts are put together first.
        """
        single = cover.node_by_node()
        leaf_of_node, part, spreads = self._measured_leaves
        nodes = single.runs[:, 0]
        cut = leaf_of_node[nodes] >= 0
        areas = np.repeat(np.arange(cover.areas), np.diff(single.starts))[cut]
        pairs, where = np.unique(areas * len(spreads) + leaf_of_node[nodes][cut], return_inverse=True)
        shares = np.minimum(np.bincount(where, (single.area_shares * part[nodes])[cut]), 1)
        of_area, leaf = np.divmod(pairs, len(spreads))
        cut_leaves = np.bincount(of_area, shares * (1 - shares) * spreads[leaf], minlength=cover.areas)
        return np.asarray(cut_leaves, np.float64)

    @cached_property
    def _measured_leaves(self) -> tuple[Indices, Floats, Floats]:
        """The measured leaf of each node, and what it takes to vary it.

        That is the number of the leaf by node, -1 for nodes above all of them; the share of its leaf that a node is;
        and the variance scale of every leaf.
        """
        tree = self._partition
        assert isinstance(tree, Tree)
        reached = self._evidence.measured_nodes[self._evidence.measured.nodes.tree.leaves]
        first, depths = tree.runs[0], node_depths(tree)
        number = np.searchsorted(first[reached], first, side="right") - 1
        below = depths - depths[reached][number]
        leaf_of_node = np.where(below >= 0, number, -1)
        return leaf_of_node, 0.25 ** np.maximum(below, 0), spread(self._counts[reached])

    @cached_property
    def _nodes(self) -> BoxTree | AreaShapes:
        return (
            AreaShapes(self._partition) if isinstance(self._partition, AreaPartition) else BoxTree.of(self._partition)
        )

    @cached_property
    def _noise(self) -> AreaNoise:
        return area_noise(self._nodes, self._evidence)

    @cached_property
    def _counts(self) -> Floats:
        """Counts of all nodes."""
        return self._nodes.sums(self._leaf_counts)

    @cached_property
    def _running(self) -> Floats:
        """Running sums of counts, shape (nodes + 1,)."""
        return np.concatenate([[0.0], np.cumsum(self._counts)])

    @cached_property
    def _running_areas(self) -> Floats:
        """Running sums of domain shares, shape (nodes + 1,)."""
        if isinstance(self._nodes, AreaShapes):
            shares = self._nodes.area_shares
        else:
            shares = area_shares(self._partition.bounds(), self._partition.domain)
        return np.concatenate([[0.0], np.cumsum(self._nodes.sums(shares))])

    @cached_property
    def _spreads(self) -> Floats:
        """Variance scale of the points inside leaves.

        It is zero for other nodes, which are never cut.
        """
        spreads = np.zeros(self._nodes.nodes)
        spreads[self._nodes.leaves] = spread(self._leaf_counts)
        return spreads

    @cached_property
    def _slopes(self) -> Floats:
        """Slopes of all nodes, zero for inner ones.

        The array is empty where all leaves are flat.
        """
        if len(self._leaf_slopes) == 0:
            return FLAT
        slopes = np.zeros((self._nodes.nodes, 2))
        slopes[self._nodes.leaves] = self._leaf_slopes
        return slopes


RECTS_AT_ONCE = 2**16


def boxes_of(rects: Floats, domain: Domain) -> Geometries:
    """Rectangles as polygons of a domain; None for one that lies outside."""
    shapely = import_shapely()
    west, south, east, north = domain.bounds
    within = np.clip(rects, (west, south, west, south), (east, north, east, north))  # sides may be infinite
    boxes: Geometries = shapely.box(*within.T)
    boxes[shapely.area(boxes) == 0] = None
    return boxes


class AreaPartitionSurface:
    """The density of given areas, over rectangles.

    Areas were measured independently at one rate. A rectangle is treated as a polygon.
    """

    def __init__(self, evidence: Evidence, counts: Floats) -> None:
        self._evidence = evidence
        self._counts = counts

    def counts(self, rects: Floats) -> Floats:
        """Estimated points in each rectangle, shape (n,)."""
        return np.concatenate([np.empty(0), *(self._areas.counts(cover) for cover in self._covers(rects))])

    def variances(self, rects: Floats) -> tuple[Floats, Floats]:
        """Variances by noise and by spread, shape (n,) each."""
        parts = [np.empty((2, 0)), *(np.stack(self._areas.variances(cover)) for cover in self._covers(rects))]
        noise, spread = np.concatenate(parts, axis=1)
        return noise, spread

    def _covers(self, rects: Floats) -> list[Cover]:
        boxes = boxes_of(rects, self._evidence.partition.domain)
        return [
            self._areas.cover(boxes[first : first + RECTS_AT_ONCE]) for first in range(0, len(boxes), RECTS_AT_ONCE)
        ]

    @cached_property
    def _areas(self) -> AreaSurface:
        return AreaSurface(self._evidence, self._counts)
