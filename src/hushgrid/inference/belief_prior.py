"""Quadtree masses by belief propagation, with a public prior (docs/staq-inference.md).

The prior of a split's share is a mixture of two families of laws: one around the mean that neighbours predict, as
without a public prior, and one around the pooled mean. Below what was measured, masses are divided by pooled means.
"""

from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np

from hushgrid.arrays import Floats, Indices
from hushgrid.geometry.branches import Branches
from hushgrid.geometry.quadrants import node_depths
from hushgrid.inference.belief import belief_masses
from hushgrid.inference.least_squares import NodeEstimates
from hushgrid.inference.measurements import Measurements
from hushgrid.inference.pooled import (
    BINS,
    PooledLesson,
    PriorShares,
    Trust,
    evidence_of,
    leans_of,
    lesson_of_nodes,
    means_of,
    pooled_means,
    thinned,
)
from hushgrid.inference.slopes import FEATURES, learned_means, lesson_of_splits, quarters_of
from hushgrid.inference.splits import SecondLaws, SplitFit, fit_weights

OTHERS = 1  # place of the other laws' weight among those of second laws


def masses_with_prior(
    known: NodeEstimates, measurements: Measurements, fit: SplitFit, prior: Floats, trust: Trust
) -> SplitFit:
    """A sweep of belief propagation with a public prior.

    Parameters
    ----------
    fit : SplitFit
        Masses to begin with.
    prior : array, shape (nodes,)
        The public prior's evidence in every node.
    """
    tree, splits = known.tree, lesson_of_splits(known, fit.masses)
    lesson = PooledLesson(splits=splits, prior=PriorShares.of(quarters_of(tree, prior)), trust=trust)
    fit = replace(fit, prior_means=learned_means(tree, splits))
    fit = replace(fit, second=second_laws(tree, lesson, fit))
    return fit.around(tree, belief_masses(tree, measurements, fit))


def second_laws(tree: Branches, lesson: PooledLesson, fit: SplitFit) -> SecondLaws:
    """Laws around pooled means, with the weights that measured shares teach.

    Weights of each level, axis and bin begin as those of the level above.
    """
    inner = np.flatnonzero(tree.child_counts)
    means, around = pooled_means(lesson, tree), fit.prior_means[inner]
    first = lesson.trust.laws * fit.prior_weights.mean(axis=(0, 1))
    first[OTHERS] = 1 - lesson.trust.laws
    last = np.tile(first / first.sum(), (2, BINS, 1))
    weights = np.empty((len(fit.prior_weights), *last.shape))
    for level, (start, stop) in enumerate(pairwise(np.searchsorted(inner, tree.levels))):
        nodes = thinned(slice(start, stop), len(inner))
        for axis, splits in enumerate((slice(0, 1), slice(1, 3))):
            here = nodes, splits
            shares, spreads = lesson.splits.shares[here].ravel(), lesson.splits.spreads[here].ravel()
            explained = evidence_of(shares, spreads, means[here].ravel())
            explained[:, OTHERS] = evidence_of(shares, spreads, around[here].ravel()) @ fit.prior_weights[level, axis]
            bins, known = lesson.prior.bins[here].ravel(), np.isfinite(spreads)
            for group in range(BINS):
                chosen = known & (bins == group)
                last[axis, group] = fit_weights(last[axis, group], explained[chosen], chosen[chosen])
        weights[level] = last
    of_nodes = np.full((tree.nodes, 3), 0.5)
    bins_of_nodes = np.zeros((tree.nodes, 3), np.int64)
    of_nodes[inner], bins_of_nodes[inner] = means, lesson.prior.bins
    return SecondLaws(means=of_nodes, bins=bins_of_nodes, weights=weights)


@dataclass(frozen=True, kw_only=True, eq=False)
class Leanings:
    """How leaves, and parts of them, would be divided further.

    Parameters
    ----------
    leans : array, shape (n, 2)
        What neighbours add to the logits of the western and the southern share.
    trusts : array, shape (n, 2, bins)
        In the public prior, along x and y.
    """

    leans: Floats
    trusts: Floats

    @classmethod
    def of_leaves(cls, known: NodeEstimates, masses: Floats, prior: Floats, trust: Trust) -> "Leanings":
        """Leanings of a quadtree's leaves, in leaf order."""
        tree = known.tree
        lesson, features = lesson_of_nodes(known, masses, prior, trust)
        coefficients = lesson.by_level(tree)[node_depths(tree)[tree.leaves]]
        return cls.by(features, coefficients)

    @classmethod
    def by(cls, features: Floats, coefficients: Floats) -> "Leanings":
        """Leanings by features and coefficients.

        Features have shape (n, 2, 4), coefficients (n, 2, 4 + bins) or less.
        """
        trusts = np.broadcast_to(coefficients[..., FEATURES:], (*features.shape[:2], BINS))
        return cls(leans=leans_of(features, coefficients), trusts=trusts)

    def shares(self, leaves: Indices, below: Indices, quarters: Floats) -> Floats:
        """Shares of the quarters of parts of leaves, shape (n, 4).

        What neighbours say of a leaf is halved with every level below it. The prior's share is the part's own.

        Parameters
        ----------
        leaves, below : array of int, shape (n,)
            The leaf of each part, and how many levels it lies below it.
        quarters : array, shape (n, 2, 2)
            The prior's evidence in the part's quarters, in rows and columns.
        """
        leans = np.ldexp(self.leans[leaves], -below[:, None])
        means = means_of(leans[:, (0, 1, 1)], self.trusts[leaves][:, (0, 1, 1)], PriorShares.of(quarters))
        west, southwest, southeast = means.T
        east = 1 - west
        return np.stack([west * southwest, east * southeast, west * (1 - southwest), east * (1 - southeast)], axis=1)


def divided_masses(tree: Branches, reached: Indices, leaf_masses: Floats, leanings: Leanings, prior: Floats) -> Floats:
    """Masses of a tree's leaves, from those that measurements reach.

    Parameters
    ----------
    reached : array of int, shape (n,)
        Nodes of the tree that are the leaves of the measured one, in leaf order.
    leaf_masses : array, shape (n,)
    prior : array, shape (nodes,)
        The public prior's evidence.
    """
    masses = np.zeros(tree.nodes)
    masses[reached] = leaf_masses
    first, depths = tree.runs[0], node_depths(tree)
    leaves = np.searchsorted(first[reached], first, side="right") - 1
    below = depths - depths[reached][leaves]
    nodes = np.flatnonzero((below >= 0) & (tree.child_counts > 0))
    children = tree.first_children[nodes, None] + np.arange(4)
    shares = leanings.shares(leaves[nodes], below[nodes], prior[children].reshape(-1, 2, 2))
    for start, stop in pairwise(np.searchsorted(nodes, tree.levels)):
        here = slice(start, stop)
        masses[children[here]] = masses[nodes[here], None] * shares[here]
    return masses[tree.leaves]
