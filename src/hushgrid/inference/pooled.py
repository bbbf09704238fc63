"""Prior means of splits, pooled from neighbours and a public prior.

A split's mean is a logistic function of the four features of its neighbourhood (`hushgrid.inference.slopes`) and of the
share that the public prior gives its first part. How far the prior is believed is one number for each bin of the
evidence it has there. All coefficients are fitted to measured shares, level by level, so that a prior that does not fit
is not followed (docs/staq-inference.md).

A prior comes as a whole number for each leaf: its mass there over its pseudo-count, in units of 1 / UNIT.
"""

import math
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Self

import numpy as np

from hushgrid.arrays import Floats, Indices
from hushgrid.compiled import compiled, run_in_slices
from hushgrid.geometry.branches import Branches
from hushgrid.inference import split_loops as kernels
from hushgrid.inference.least_squares import NodeEstimates
from hushgrid.inference.slopes import (
    FEATURES,
    FIRST_COEFFICIENTS,
    SplitLesson,
    Surroundings,
    measured_shares,
    parts_of,
    quarters_of,
)
from hushgrid.inference.splits import FEWEST_SPLITS, SMALLEST_SLICE, fit_weights, log_norms

UNIT = 32  # in whole numbers of a prior, one pseudo-count
EDGES = UNIT * np.array([2, 10, 60, 400])  # of the bins of evidence
BINS = len(EDGES) + 1
FARTHEST = 6.0  # logit of a mean or of the prior's share, on either side
STEPS, FIRST_STEPS = 3, 5  # of Gauss and Newton; levels begin near their end and take one less
SPREAD, LEAST_SPREAD = 0.15, 0.02  # of shares around their means, relative to s (1 - s), and the least of that
LARGEST_MISS = 1.5  # of a measured share, beyond which it counts as this much
MOST_TAUGHT = 2048  # nodes whose splits teach what all splits share; more would teach the same


@dataclass(frozen=True)
class Trust:
    """How far a public prior is believed before anything is learned.

    Parameters
    ----------
    logits : float
        Coefficient of the logits of its shares; what it lacks to one is left to neighbours.
    laws : float
        Weight of the laws around means that it has a part in.
    ridge, level_ridge : float
        How strongly coefficients are drawn toward those before: of all levels together, and of each level.
    """

    logits: float
    laws: float
    ridge: float
    level_ridge: float


# Of something else, which may be of no use.
FOREIGN = Trust(logits=0.5, laws=0.8, ridge=0.125, level_ridge=0.5)
# Of what the points are a part of, as slices are of all together: a few splits of one tell less (decision 16).
AKIN = Trust(logits=1.0, laws=0.96, ridge=8.0, level_ridge=8.0)


def thinned(nodes: slice, size: int) -> slice:
    """Some of a run of nodes, evenly spread, as many as teach enough.

    Examples
    --------
    >>> thinned(slice(100, 50_100), 60_000)
    slice(100, 50100, 25)
    """
    first, stop, _ = nodes.indices(size)
    return slice(first, stop, max(1, -(-(stop - first) // MOST_TAUGHT)))


@compiled
def logistic(logit: float) -> float:
    """The share of a logit, which is cut off far from one half."""
    return 1 / (1 + math.exp(-min(max(logit, -FARTHEST), FARTHEST)))


@compiled
def gather_slopes(
    features: Floats,
    logits: Floats,
    bins: Indices,
    shares: Floats,
    spreads: Floats,
    coefficients: Floats,
    curvature: Floats,
    gradient: Floats,
) -> None:
    """Add up what one step of Gauss and Newton needs.

    Shares of infinite deviation say nothing. Of the curvature only the part up to the diagonal is written.
    """
    columns = np.empty(FEATURES + 1)
    places = np.arange(FEATURES + 1)
    for split in range(len(shares)):
        if spreads[split] == math.inf:
            continue
        places[FEATURES], columns[FEATURES] = FEATURES + bins[split], logits[split]
        total = coefficients[places[FEATURES]] * logits[split]
        for feature in range(FEATURES):
            columns[feature] = 2 * features[split, feature]
            total += coefficients[feature] * columns[feature]
        mean = logistic(total)
        slope = mean * (1 - mean)
        weight = slope * SPREAD / (spreads[split] ** 2 + SPREAD * max(slope, LEAST_SPREAD))
        miss = min(max(shares[split] - mean, -LARGEST_MISS), LARGEST_MISS)
        for row in range(FEATURES + 1):
            gradient[places[row]] += weight * miss * columns[row]
            scaled = weight * slope * columns[row]
            for column in range(row + 1):  # below the diagonal; the rest is the same
                curvature[places[row], places[column]] += scaled * columns[column]


@dataclass(frozen=True, kw_only=True, eq=False)
class PriorShares:
    """What a public prior says of the splits of inner nodes.

    Parameters
    ----------
    logits : array, shape (inner, 3)
        Of the first part's share: node's, west half's, east half's.
    bins : array of int, shape (inner, 3)
        How much evidence it has of each, from 0 to BINS - 1.
    """

    logits: Floats
    bins: Indices

    @classmethod
    def of(cls, quarters: Floats) -> Self:
        """Shares of nodes whose quarters hold a prior's numbers, shape (nodes, rows, columns)."""
        parts = parts_of(quarters)
        logits = np.log((parts[..., 0] + UNIT) / (parts[..., 1] + UNIT))
        bins = np.searchsorted(EDGES, parts[..., 0] + parts[..., 1])
        return cls(logits=np.clip(logits, -FARTHEST, FARTHEST), bins=bins)


@dataclass(frozen=True, kw_only=True, eq=False)
class PooledLesson:
    """Splits of inner nodes, with all that coefficients are fitted to."""

    splits: SplitLesson
    prior: PriorShares
    trust: Trust = FOREIGN

    def of(self, nodes: slice) -> Self:
        """The lesson of some of the inner nodes alone."""
        prior = PriorShares(logits=self.prior.logits[nodes], bins=self.prior.bins[nodes])
        return replace(self, splits=SplitLesson(*(part[nodes] for part in self.splits)), prior=prior)

    def coefficients(self, before: Floats, chosen: tuple[slice, slice], *, ridge: float, steps: int = STEPS) -> Floats:
        """Coefficients of chosen splits, shape (4 + bins,).

        They are drawn toward those before, which stay where there are too few splits.
        """
        some = thinned(chosen[0], len(self.prior.bins)), chosen[1]
        features = self.splits.features[some].reshape(-1, FEATURES)
        logits, bins = self.prior.logits[some].ravel(), self.prior.bins[some].ravel()
        shares, spreads = self.splits.shares[some].ravel(), self.splits.spreads[some].ravel()
        if np.count_nonzero(np.isfinite(spreads)) < FEWEST_SPLITS:
            return before
        if len(before) == FEATURES + 1:  # one trust for all bins
            bins = np.zeros_like(bins)
        found = before
        for _ in range(steps):
            half, gradient = np.zeros((len(before), len(before))), ridge * (before - found)
            gather_slopes(features, logits, bins, shares, spreads, found, half, gradient)
            curvature = half + np.tril(half, -1).T + ridge * np.eye(len(before))
            step = np.linalg.solve(curvature, gradient)
            found = found + step / max(1.0, float(np.abs(step).max()))
        return found

    def first_coefficients(self) -> Floats:
        """Coefficients of all splits, shape (4 + bins,).

        All bins have one trust.
        """
        trust = self.trust.logits
        before = np.append((1 - trust) * np.array(FIRST_COEFFICIENTS), trust)
        everything = slice(None), slice(None)
        found = self.coefficients(before, everything, ridge=self.trust.ridge, steps=FIRST_STEPS)
        return np.concatenate([found[:FEATURES], np.full(BINS, found[FEATURES])])

    def by_level(self, tree: Branches) -> Floats:
        """Coefficients of each level and axis, shape (levels, 2, 4 + bins).

        Levels without enough splits have those of the level above.
        """
        ranks = np.searchsorted(np.flatnonzero(tree.child_counts), tree.levels)
        first = self.first_coefficients()
        found = np.empty((len(tree.levels) - 1, 2, len(first)))
        for axis, splits in enumerate((slice(0, 1), slice(1, 3))):
            last = self.coefficients(first, (slice(None), splits), ridge=self.trust.ridge)
            for level, (start, stop) in enumerate(pairwise(ranks)):
                chosen = slice(start, stop), splits
                last = self.coefficients(last, chosen, ridge=self.trust.level_ridge, steps=STEPS - 1)
                found[level, axis] = last
        return found


def pooled_means(lesson: PooledLesson, tree: Branches) -> Floats:
    """Mean of each split of inner nodes, shape (inner, 3)."""
    inner = np.flatnonzero(tree.child_counts)
    coefficients = lesson.by_level(tree)[np.searchsorted(tree.levels, inner, side="right") - 1][:, (0, 1, 1)]
    return means_of(leans_of(lesson.splits.features, coefficients), coefficients[..., FEATURES:], lesson.prior)


def leans_of(features: Floats, coefficients: Floats) -> Floats:
    """What neighbours add to the logit of a mean, shape (..., splits)."""
    return np.asarray(2 * np.einsum("...i,...i", features, coefficients[..., :FEATURES]))


def means_of(leans: Floats, trusts: Floats, prior: PriorShares) -> Floats:
    """Means of splits, from neighbours and the prior, shape (nodes, 3).

    Parameters
    ----------
    leans : array, shape (nodes, 3)
        As `leans_of` has them.
    trusts : array, shape (nodes, 3, bins)
        In the prior, for each bin of evidence.
    """
    trust = np.take_along_axis(trusts, prior.bins[..., None], axis=2)[..., 0]
    return np.asarray(1 / (1 + np.exp(-np.clip(leans + trust * prior.logits, -FARTHEST, FARTHEST))))


def lesson_of_nodes(known: NodeEstimates, masses: Floats, prior: Floats, trust: Trust) -> tuple[PooledLesson, Floats]:
    """All splits, with features that leaves have, too.

    Those of a half are those of its node. Also returns the features of leaves, shape (leaves, 2, 4).

    Parameters
    ----------
    masses : array, shape (nodes,)
        Of all nodes; children add up.
    prior : array, shape (nodes,)
        The public prior's evidence.
    """
    tree, around = known.tree, Surroundings(known.tree, masses)
    features = around.of_nodes(np.arange(tree.nodes), 2)
    splits = SplitLesson(features[around.inner][:, (0, 1, 1)], *measured_shares(known, masses))
    shares = PriorShares.of(quarters_of(tree, prior))
    return PooledLesson(splits=splits, prior=shares, trust=trust), features[tree.leaves]


def nats_gained(lesson: PooledLesson, coefficients: Floats, weights: Floats) -> float:
    """How much likelier the prior makes the measured shares, in nats.

    Without it, means are fitted anew. The weights of the laws around means are fitted with it and without. Of many
    splits, some tell of all.

    Parameters
    ----------
    coefficients : array, shape (4 + bins,)
        The first ones of the lesson.
    weights : array, shape (8,)
        Of the laws' components, to begin with.
    """
    all_informed = int(np.count_nonzero(np.isfinite(lesson.splits.spreads)))
    lesson = lesson.of(thinned(slice(None), len(lesson.prior.bins)))
    nothing = replace(lesson.prior, logits=np.zeros_like(lesson.prior.logits))
    alone = replace(lesson, prior=nothing).first_coefficients()
    features, shares, spreads = lesson.splits
    informed = np.isfinite(spreads)
    found = []
    for fitted, prior in ((alone, nothing), (coefficients, lesson.prior)):
        trusts = np.broadcast_to(fitted[FEATURES:], (*informed.shape, BINS))
        means = means_of(leans_of(features, fitted), trusts, prior)[informed]
        evidence = evidence_of(shares[informed], spreads[informed], means)
        found.append(np.log(evidence @ fit_weights(weights, evidence, np.ones(len(means), bool))))
    return math.fsum(found[1] - found[0]) * all_informed / max(1, int(np.count_nonzero(informed)))


def evidence_of(shares: Floats, spreads: Floats, means: Floats) -> Floats:
    """How well each component around its mean explains a share, shape (n, 8)."""
    evidence, moments = np.empty((2, len(shares), kernels.COMPONENTS))
    means, norms = np.clip(means, kernels.NEAREST_MEAN, 1 - kernels.NEAREST_MEAN), log_norms()

    def work(first: int, stop: int) -> None:
        part = slice(first, stop)
        kernels.weigh_components(shares[part], spreads[part], means[part], norms, evidence[part], moments[part])

    run_in_slices(work, len(shares), smallest=SMALLEST_SLICE)
    return evidence
