"""Prior means and slopes, learned from neighbours (docs/staq-inference.md).

Children are in the order south-west, south-east, north-west, north-east; neighbourhoods are those of `splits`.
"""

from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from hushgrid.arrays import Floats, Indices
from hushgrid.compiled import compiled, run_in_slices
from hushgrid.geometry.branches import Branches
from hushgrid.geometry.quadrants import node_depths
from hushgrid.inference.least_squares import NodeEstimates
from hushgrid.inference.split_loops import (
    LEAST_AROUND,
    NEAREST_MEAN,
    OUTSIDE,
    WHOLE,
    find_neighbours,
    lean,
    look_around,
    observe_shares,
)
from hushgrid.inference.splits import fit_coefficients

Neighbours = NDArray[np.int32]

FEATURES = 4


@compiled
def contrast(first: float, second: float, own: float) -> float:
    """Difference of two masses, relative to what there is."""
    total = first + second + own
    return (first - second) / total if total > LEAST_AROUND else 0.0


@compiled
def look_closer(
    node: int,
    neighbours: Neighbours,
    depths: Indices,
    first_children: Indices,
    child_counts: Indices,
    masses: Floats,
    out: Floats,
) -> None:
    """Mass on quarters around a node, shape (6, 6).

    Quarters are those of the node and of its neighbours, in rows from south to north.

    A leaf is spread evenly, and so is the node itself and what lies beyond the domain, where it counts again.
    """
    for offset in range(9):
        near = neighbours[node, offset]
        around = node if near == OUTSIDE else near
        flat = around == node or child_counts[around] == 0
        for place in range(4):
            row, column = 2 * (offset // 3) + place // 2, 2 * (offset % 3) + place % 2
            if flat:
                out[row, column] = masses[around] / 4.0 ** (1 + depths[node] - depths[around])
            else:
                out[row, column] = masses[first_children[around] + place]


@compiled
def lean_of_nodes(
    first: int,
    stop: int,
    nodes: Indices,
    neighbours: Neighbours,
    depths: Indices,
    first_children: Indices,
    child_counts: Indices,
    masses: Floats,
    half_masses: Floats,
    out: Floats,
) -> None:
    """Features that predict how nodes lean, shape (nodes, axes, 4).

    Nodes lean to the west and, where there are two axes, to the south.

    To the west: its own row of nodes; the rows beside it; the quarters that touch its west and its east side; and
    those that touch its west and its east half from the south and the north.
    """
    places, quarters = np.empty((3, 3)), np.empty((6, 6))
    for number in range(first, stop):
        node = nodes[number]
        look_around(node, WHOLE, neighbours, depths, child_counts, masses, half_masses, places)
        look_closer(node, neighbours, depths, first_children, child_counts, masses, quarters)
        for axis in range(out.shape[1]):
            far, near = (places, quarters) if axis == 0 else (places.T, quarters.T)
            out[number, axis, 0] = lean(far[1, 0], far[1, 1], far[1, 2])
            out[number, axis, 1] = lean(far[0, 0] + far[2, 0], far[0, 1] + far[2, 1], far[0, 2] + far[2, 2])
            out[number, axis, 2] = contrast(near[2, 1] + near[3, 1], near[2, 4] + near[3, 4], masses[node])
            out[number, axis, 3] = contrast(near[1, 2] + near[4, 2], near[1, 3] + near[4, 3], masses[node] / 2)


@compiled
def lean_of_halves(
    first: int,
    stop: int,
    inner: Indices,
    neighbours: Neighbours,
    depths: Indices,
    first_children: Indices,
    child_counts: Indices,
    masses: Floats,
    half_masses: Floats,
    out: Floats,
) -> None:
    """Features that predict how halves lean, shape (inner, 2, 4).

    The west and the east half of every inner node lean to the south.

    The half's own column of halves; the columns beside it; the quarters that touch it from the south and the north;
    and the southern and northern quarters beside it, of the other half and of the outer neighbour.
    """
    halves, quarters = np.empty((3, 3)), np.empty((6, 6))
    for rank in range(first, stop):
        node = inner[rank]
        look_closer(node, neighbours, depths, first_children, child_counts, masses, quarters)
        for side in range(2):
            look_around(node, side, neighbours, depths, child_counts, masses, half_masses, halves)
            other, outer = first_children[node] + 1 - side, 1 + 3 * side
            south, north = masses[other] + quarters[2, outer], masses[other + 2] + quarters[3, outer]
            own = half_masses[node, side]
            out[rank, side, 0] = lean(halves[0, 1], halves[1, 1], halves[2, 1])
            out[rank, side, 1] = lean(
                halves[0, 0] + halves[0, 2], halves[1, 0] + halves[1, 2], halves[2, 0] + halves[2, 2]
            )
            out[rank, side, 2] = contrast(quarters[1, 2 + side], quarters[4, 2 + side], own)
            out[rank, side, 3] = contrast(south, north, own)


FIRST_COEFFICIENTS = (-0.15, 0.25, 0.6, 0.6)  # of a prototype, fitted on other data sets than it was judged by
SMALLEST_MASS = 1e-9  # in points, that is split in shares that mean something
SMALLEST_SLICE = 4096  # nodes a thread is worth starting for


class SplitLesson(NamedTuple):
    """Splits of inner nodes: what neighbours say of each, and what was measured.

    An inner node has three splits: into its west and east half, of the west half and of the east half into south and
    north. Features have shape (inner, 3, 4); measured shares of the first part, and their standard deviations, have
    shape (inner, 3).
    """

    features: Floats
    shares: Floats
    spreads: Floats


def lesson_of_splits(known: NodeEstimates, masses: Floats) -> SplitLesson:
    """What there is to learn from the splits of a quadtree.

    Shares are those that least squares finds, so that features explain measurements and not the masses they come from.
    """
    around = Surroundings(known.tree, masses)
    features = np.concatenate([around.of_nodes(around.inner, 1), around.of_halves()], axis=1)
    return SplitLesson(features, *measured_shares(known, masses))


def refined_means(known: NodeEstimates, masses: Floats) -> Floats:
    """Prior mean of every split, from earlier masses.

    The mean is that of the first part's share, and the result has shape (nodes, 3).
    """
    return learned_means(known.tree, lesson_of_splits(known, masses))


def learned_means(tree: Branches, lesson: SplitLesson) -> Floats:
    """Prior mean of every split, by features whose coefficients are fitted level by level."""
    features, shares, spreads = lesson
    inner = np.flatnonzero(tree.child_counts)
    leans = np.empty((len(inner), 3))
    coefficients = [np.array(FIRST_COEFFICIENTS)] * 2
    for first, stop in pairwise(np.searchsorted(inner, tree.levels)):
        for axis, splits in enumerate((slice(0, 1), slice(1, 3))):
            here = slice(first, stop), splits
            rows = features[here].reshape(-1, FEATURES)
            coefficients[axis] = fit_coefficients(coefficients[axis], rows, shares[here].ravel(), spreads[here].ravel())
            leans[here] = features[here] @ coefficients[axis]
    means = np.full((tree.nodes, 3), 0.5)
    means[inner] = np.clip(0.5 + 0.5 * leans, NEAREST_MEAN, 1 - NEAREST_MEAN)
    return means


def slopes(tree: Branches, masses: Floats) -> Floats:
    """Density slopes inside a quadtree's leaves, shape (leaves, 2).

    There is one along x and one along y, both from -1 to 1.

    The density at the place (U, V) in a leaf, both from 0 to 1, is the leaf's mean density times
    ``(1 + gx (2 U - 1)) (1 + gy (2 V - 1))``. How features predict slopes is fitted level by level to the shares of
    the masses of inner nodes.

    Parameters
    ----------
    masses : array, shape (nodes,)
        Of all nodes, none negative; children add up.
    """
    around = Surroundings(tree, masses)
    inner, features = around.inner, around.of_nodes(np.arange(tree.nodes), 2)
    shares, spreads = _shares_of_masses(tree, masses)
    found = np.empty((tree.nodes, 2))
    coefficients = [np.array(FIRST_COEFFICIENTS)] * 2
    ranks = np.searchsorted(inner, tree.levels)
    for (first, stop), nodes in zip(pairwise(ranks), pairwise(tree.levels), strict=True):
        parents = inner[first:stop]
        for axis in range(2):
            coefficients[axis] = fit_coefficients(
                coefficients[axis], features[parents, axis], shares[first:stop, axis], spreads[first:stop]
            )
            found[slice(*nodes), axis] = -2 * features[slice(*nodes), axis] @ coefficients[axis]
    return np.clip(found[tree.leaves], -1, 1)


class Surroundings:
    """What lies around the nodes of a quadtree, for the features of their splits.

    Parameters
    ----------
    masses : array, shape (nodes,)
        Of all nodes; children add up.
    """

    def __init__(self, tree: Branches, masses: Floats) -> None:
        self.inner = np.flatnonzero(tree.child_counts)
        neighbours = np.empty((tree.nodes, 9), np.int32)
        find_neighbours(tree.first_children, tree.child_counts, neighbours)
        half_masses = np.zeros((tree.nodes, 2))
        half_masses[self.inner] = quarters_of(tree, masses).sum(axis=1)
        self._known = (neighbours, node_depths(tree), tree.first_children, tree.child_counts, masses, half_masses)

    def of_nodes(self, nodes: Indices, axes: int) -> Floats:
        """Features along x, or along x and y, shape (nodes, axes, 4)."""
        found = np.empty((len(nodes), axes, FEATURES))

        def describe(first: int, stop: int) -> None:
            lean_of_nodes(first, stop, nodes, *self._known, found)

        run_in_slices(describe, len(nodes), smallest=SMALLEST_SLICE)
        return found

    def of_halves(self) -> Floats:
        """Features of the halves of inner nodes, shape (inner, 2, 4)."""
        found = np.empty((len(self.inner), 2, FEATURES))

        def describe(first: int, stop: int) -> None:
            lean_of_halves(first, stop, self.inner, *self._known, found)

        run_in_slices(describe, len(self.inner), smallest=SMALLEST_SLICE)
        return found


def measured_shares(known: NodeEstimates, masses: Floats) -> tuple[Floats, Floats]:
    """First part's share of every split, by least squares.

    The mass of both parts is given. Also returns the standard deviation of each share.
    """
    parts, sums, variances = (
        parts_of(quarters_of(known.tree, values)) for values in (masses, known.sums, known.below_variances)
    )
    shares, spreads = np.empty((2, *parts.shape[:2]))
    observe_shares(
        parts.sum(axis=2).ravel(), sums.reshape(-1, 2), variances.reshape(-1, 2), shares.ravel(), spreads.ravel()
    )
    return shares, spreads


def _shares_of_masses(tree: Branches, masses: Floats) -> tuple[Floats, Floats]:
    """West and south share of every inner node.

    Shares have shape (inner, 2); the standard deviation of either has shape (inner,).
    """
    quarters = quarters_of(tree, masses)
    own = quarters.sum(axis=(1, 2))
    firsts = np.stack([quarters[:, :, 0].sum(axis=1), quarters[:, 0].sum(axis=1)], axis=1)
    shares, spreads = np.full_like(firsts, 0.5), np.full_like(own, np.inf)
    known = own > SMALLEST_MASS
    shares[known] = firsts[known] / own[known, None]
    spreads[known] = 0.5 / np.sqrt(own[known])  # n points on either side alike: variance 1 / (4 n)
    return shares, spreads


def quarters_of(tree: Branches, values: Floats) -> Floats:
    """Children's values, shape (inner nodes, rows, columns)."""
    children = tree.first_children[tree.child_counts > 0, None] + np.arange(4)
    return np.asarray(values[children].reshape(-1, 2, 2))


def parts_of(quarters: Floats) -> Floats:
    """Sums of both parts, shape (nodes, splits, parts).

    The three splits are the node's, the west half's and the east half's.
    """
    return np.stack([quarters[:, 0] + quarters[:, 1], quarters[:, :, 0], quarters[:, :, 1]], axis=1)
