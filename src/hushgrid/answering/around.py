"""A density around places that were counted by themselves.

Places are public areas that do not overlap. The points in them are in no leaf of the release, so that what leaves hold
lies around the places, and a query asks for both. Where a place covers a part of a leaf, the points of the leaf lie in
the rest of it.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hushgrid.answering.areas import AreaShapes, multipolygons
from hushgrid.answering.boxes import BoxTree
from hushgrid.answering.cover import Cover
from hushgrid.answering.outlines import Geometries, import_shapely, outlines, valid_polygons
from hushgrid.answering.polygons import RECTS_AT_ONCE, AreaSurface, boxes_of
from hushgrid.answering.surface import FLAT
from hushgrid.arrays import Floats, Indices
from hushgrid.geometry.areas import AreaPartition
from hushgrid.geometry.domain import Domain
from hushgrid.geometry.rects import area_shares
from hushgrid.geometry.tree import Tree

LEAST_FREE = 1e-6  # share of a leaf: less is rounding, and the places cover all of it


class Overlap:
    """What places cover of the leaves of a tree.

    Parameters
    ----------
    tree : Tree
    places : AreaPartition
        In the same domain.
    """

    def __init__(self, tree: Tree, places: AreaPartition) -> None:
        self.shapes = AreaShapes(places)
        self._leaves, self._domain, self._bounds = tree.cells, tree.domain, tree.bounds()
        cover = Cover.of(BoxTree.of(tree), outlines(self.shapes.shapes, tree.domain), FLAT).node_by_node()
        first, stop = (ends[cover.runs[:, 0]] for ends in tree.runs)
        lengths = stop - first
        starts = np.cumsum(lengths) - lengths
        self.leaf: Indices = np.arange(lengths.sum()) + np.repeat(first - starts, lengths)
        self.place: Indices = np.repeat(np.arange(places.cells), np.diff(cover.starts)).repeat(lengths)
        self.share: Floats = np.repeat(cover.area_shares, lengths)  # of the leaf
        sizes = area_shares(self._bounds, tree.domain)
        self.part: Floats = self.share * sizes[self.leaf] / self.shapes.area_shares[self.place]  # of the place

    @cached_property
    def free(self) -> Floats:
        """Share of each leaf outside all places, shape (leaves,).

        It is zero where next to nothing lies outside.
        """
        left = 1 - np.bincount(self.leaf, self.share, minlength=self._leaves)
        return np.where(left > LEAST_FREE, left, 0.0)

    def by_leaf(self, counts: Floats) -> Floats:
        """Counts of places, dealt out evenly to the leaves under them; shape (leaves,)."""
        return np.asarray(np.bincount(self.leaf, self.part * counts[self.place], minlength=self._leaves), np.float64)

    def variances_by_leaf(self, variance: float) -> Floats:
        """Variances of the same, where each count has this one."""
        return np.asarray(np.bincount(self.leaf, self.part**2 * variance, minlength=self._leaves), np.float64)

    @cached_property
    def holes(self) -> tuple[Geometries, Indices]:
        """Parts of places inside leaves, and where those of each leaf begin.

        Parts come leaf by leaf; where they begin has shape (leaves + 1,).
        """
        order = np.argsort(self.leaf, kind="stable")
        boxes = boxes_of(self._bounds[self.leaf[order]], self._domain)
        inside = multipolygons(import_shapely().intersection(self.shapes.shapes[self.place[order]], boxes))
        return inside, np.searchsorted(self.leaf[order], np.arange(self._leaves + 1))


@dataclass(frozen=True, kw_only=True, eq=False)
class PlacedCover:
    """What polygons cover of leaves and of places.

    Parameters
    ----------
    leaves : Cover
        Of what every leaf has outside the places, the share that is covered.
    places : Cover
    bare : Cover
        Of leaves as if there were no places.
    """

    leaves: Cover
    places: Cover
    bare: Cover


class PlacedAreaSurface:
    """A density around places, and the places, summed over polygons.

    It offers what `AreaSurface` does.

    Parameters
    ----------
    around : AreaSurface
        Of the points outside the places.
    places : AreaSurface
    overlap : Overlap
    cumulants : tuple of float
        Variance and fourth cumulant of the noise in the count of a place.
    """

    def __init__(
        self, around: AreaSurface, places: AreaSurface, overlap: Overlap, *, cumulants: tuple[float, float]
    ) -> None:
        self._around = around
        self._places = places
        self._overlap = overlap
        self._cumulants = cumulants

    def cover(self, geometries: Any) -> PlacedCover:
        """What polygons cover of leaves and places."""
        asked = multipolygons(valid_polygons(geometries, self._around.domain))
        bare, places = self._around.cover(asked), self._places.cover(asked)
        whole = self._without_covered(bare)
        first, stop = whole.runs.T
        leaf = np.where(stop - first == 1, self._leaf_of_node[first], -1)
        cut = np.flatnonzero((leaf >= 0) & (whole.area_shares < 1) & self._has_holes[leaf])
        query = np.repeat(np.arange(whole.areas), np.diff(whole.starts))[cut]
        inside = self._in_holes(asked, query, leaf[cut])
        shares = np.stack([whole.area_shares, whole.mass_shares])
        free = self._free[:, leaf[cut]]
        outside = np.maximum(shares[:, cut] - inside, 0.0)
        shares[:, cut] = np.minimum(np.divide(outside, free, out=np.zeros_like(free), where=free > 0), 1.0)
        around = replace(whole, area_shares=shares[0], mass_shares=shares[1])
        return PlacedCover(leaves=around, places=places, bare=bare)

    def _without_covered(self, cover: Cover) -> Cover:
        """A cover without the nodes that places cover.

        No point outside the places lies there.
        """
        if not self._is_covered.any():
            return cover
        single = cover.node_by_node()
        kept = ~self._is_covered[single.runs[:, 0]]
        return Cover(
            starts=np.concatenate([[0], np.cumsum(kept)])[single.starts],
            runs=single.runs[kept],
            area_shares=single.area_shares[kept],
            mass_shares=single.mass_shares[kept],
        )

    def _in_holes(self, asked: Geometries, query: Indices, leaf: Indices) -> Floats:
        """Shares of leaves that polygons have in places, shape (2, pairs).

        The first are by area, the second by points.
        """
        holes, starts = self._overlap.holes
        lengths = starts[leaf + 1] - starts[leaf]
        pair = np.repeat(np.arange(len(leaf)), lengths)
        number = np.arange(len(pair)) - np.repeat(np.cumsum(lengths) - lengths, lengths) + starts[leaf][pair]
        common = multipolygons(import_shapely().intersection(asked[query[pair]], holes[number]))
        single = self._around.cover(common).node_by_node()
        of_pair = pair[np.repeat(np.arange(single.areas), np.diff(single.starts))]
        here = self._leaf_of_node[single.runs[:, 0]] == leaf[of_pair]  # rounding may reach into neighbours
        return np.stack(
            [
                np.asarray(np.bincount(of_pair[here], shares[here], minlength=len(leaf)), np.float64)
                for shares in (single.area_shares, single.mass_shares)
            ]
        )

    def counts(self, cover: PlacedCover) -> Floats:
        """Estimated points in each polygon, shape (polygons,)."""
        return self._around.counts(cover.leaves) + self._places.counts(cover.places)

    def area_shares(self, cover: PlacedCover) -> Floats:
        """Each polygon's share of the domain, shape (polygons,)."""
        return self._around.area_shares(cover.bare)

    def variances(self, cover: PlacedCover) -> tuple[Floats, Floats]:
        """Variances by noise and by spread, shape (polygons,) each."""
        around, places = self._around.variances(cover.leaves), self._places.variances(cover.places)
        return around[0] + places[0], around[1] + places[1]

    def cumulants(self, cover: PlacedCover) -> tuple[Floats, Floats]:
        """Variance and fourth cumulant of the noise in places, shape (polygons,) each.

        The law of this noise is known, so that its part of an interval needs no calibration.
        """
        variance, fourth = self._cumulants
        shares = cover.places.area_shares
        return variance * cover.places.total(shares**2), fourth * cover.places.total(shares**4)

    @cached_property
    def _leaf_of_node(self) -> Indices:
        """Number of each node among the leaves, -1 for others; shape (nodes,)."""
        numbers = np.full(self._around.nodes.nodes, -1)
        numbers[self._around.nodes.leaves] = np.arange(len(self._around.nodes.leaves))
        return numbers

    @cached_property
    def _is_covered(self) -> NDArray[np.bool_]:
        """Whether places cover all leaves of a node, shape (nodes,)."""
        return np.asarray(self._around.nodes.sums((self._overlap.free > 0).astype(np.float64)) == 0)

    @cached_property
    def _has_holes(self) -> NDArray[np.bool_]:
        return np.diff(self._overlap.holes[1]) > 0

    @cached_property
    def _free(self) -> Floats:
        """Share of every leaf outside the places, shape (2, leaves).

        The first is by area, the second by points. Both are zero for leaves that places cover.
        """
        single = self._around.cover(self._overlap.shapes.shapes).node_by_node()
        nodes, of_leaves = self._around.nodes.nodes, self._around.nodes.leaves
        inside = [
            np.bincount(single.runs[:, 0], each, minlength=nodes) for each in (single.area_shares, single.mass_shares)
        ]
        free = 1 - np.stack(inside)[:, of_leaves]
        return np.where((free > LEAST_FREE) & (self._overlap.free > 0), free, 0.0)


class PlacedSurface:
    """Density around places and in them, summed over rectangles.

    Rectangles are treated as polygons.
    """

    def __init__(self, areas: PlacedAreaSurface, domain: Domain) -> None:
        self._areas = areas
        self._domain = domain
        self._last: tuple[Floats, list[PlacedCover]] | None = None  # rectangles are asked for several things in turn

    def counts(self, rects: Floats) -> Floats:
        """Estimated points in each rectangle, shape (n,)."""
        return np.concatenate([np.empty(0), *map(self._areas.counts, self._covers(rects))])

    def variances(self, rects: Floats) -> tuple[Floats, Floats]:
        """Variances by noise and by spread, shape (n,) each."""
        return self._pairs(self._areas.variances, rects)

    def cumulants(self, rects: Floats) -> tuple[Floats, Floats]:
        """Variance and fourth cumulant of the noise in places, shape (n,) each."""
        return self._pairs(self._areas.cumulants, rects)

    def _pairs(self, of_cover: Callable[[PlacedCover], tuple[Floats, Floats]], rects: Floats) -> tuple[Floats, Floats]:
        some, others = np.concatenate([np.empty((2, 0)), *map(np.stack, map(of_cover, self._covers(rects)))], axis=1)
        return some, others

    def _covers(self, rects: Floats) -> list[PlacedCover]:
        known = self._last
        if known is not None and known[0] is rects:
            return known[1]
        boxes = boxes_of(rects, self._domain)
        starts = range(0, len(boxes), RECTS_AT_ONCE)
        covers = [self._areas.cover(boxes[first : first + RECTS_AT_ONCE]) for first in starts]
        self._last = rects, covers
        return covers
