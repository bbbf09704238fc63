"""Quadtree masses by Bayes' rule, split by split.

Masses add up and are never negative. They are found from the root down.

A node is split into a west and an east half, and each half into south and north. Going up, least squares says what is
known of each part from itself and below (`solve`). Going down, the mass of a node is given; the measurements of its
parts are a noisy observation of the share that goes to the first; and a prior of shares, learned level by level from
all splits of the release, says which shares are likely. The posterior mean is taken.

The prior of a share with mean m is a mixture: all to one side; exactly m; and six Beta distributions around m, from
widely spread to concentrated. m comes from the masses of neighbouring nodes, which are known before the level is split.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from hushgrid.arrays import Floats, Indices
from hushgrid.compiled import run_in_slices
from hushgrid.geometry.branches import Branches
from hushgrid.geometry.quadrants import node_depths
from hushgrid.inference import split_loops as kernels
from hushgrid.inference.least_squares import NodeEstimates

SMALLEST_TOTAL = 1.0  # least mass of the root, so that shares are defined

# The remaining constants were fitted on a prototype, with other data sets than those it was judged by.
FIRST_WEIGHTS = (0.15, 0.01, 0.25, 0.35, 0.18, 0.04, 0.01, 0.01)  # of the components, before anything is learned
FIRST_COEFFICIENTS = (0.7, 0.2)  # of the features in the prior mean
WEIGHT_UPDATES = 2  # EM steps a level and axis
WEIGHT_INERTIA = 20  # splits that the weights of the level above count as
FEWEST_SPLITS = 30  # that coefficients are fitted to
RIDGE = 0.5  # toward the coefficients of the level above
FEATURE_VARIANCE = 0.15  # of 2 s - 1 around its prior mean, about
SMALLEST_SLICE = 2048  # splits a thread is worth starting for
TABULATED_MEANS = 4097  # makes the constants of the Betas exact to 0.03 %


@dataclass(frozen=True, kw_only=True, eq=False)
class SplitFit:
    """Masses of a quadtree, and their priors.

    Parameters
    ----------
    masses : array, shape (nodes,)
        Children add up to their parents, none is negative.
    half_masses : array, shape (nodes, 2)
        West and east half of every inner node; rows of leaves are zero.
    variances : array, shape (nodes,)
        Noise variance of each node's estimate from its subtree; infinite where nothing was measured.
    half_variances : array, shape (nodes, 2)
        The same of the halves.
    prior_weights : array, shape (levels, 2, 8)
        For the splits of the nodes of each level, into west and east and of their halves into south and north: the
        weights of the components of the prior, which sum to one.
    prior_means : array, shape (nodes, 3)
        Mean of the prior of the western share of a node, and of the southern shares of its west and its east half; rows
        of leaves are one half.
    second : SecondLaws, optional
        Laws around other means, which share the priors with those above.
    """

    masses: Floats
    half_masses: Floats
    variances: Floats
    half_variances: Floats
    prior_weights: Floats
    prior_means: Floats
    second: "SecondLaws | None" = None

    def around(self, tree: Branches, masses: Floats) -> "SplitFit":
        """The same priors, with better masses of the nodes."""
        inner = np.flatnonzero(tree.child_counts)
        half_masses = np.zeros_like(self.half_masses)
        half_masses[inner] = masses[tree.first_children[inner, None] + np.arange(4)].reshape(-1, 2, 2).sum(axis=1)
        return replace(self, masses=masses, half_masses=half_masses)


@dataclass(frozen=True, kw_only=True, eq=False)
class SecondLaws:
    """Laws of shares around other means, for splits in bins.

    Parameters
    ----------
    means : array, shape (nodes, 3)
        As the prior means of a `SplitFit`.
    bins : array of int, shape (nodes, 3)
    weights : array, shape (levels, 2, bins, 8)
        Of the components, as the prior weights of a `SplitFit`; but the second is the weight of the other laws, in
        place of a share that is exactly the mean.
    """

    means: Floats
    bins: Indices
    weights: Floats


def bayes_masses(known: NodeEstimates) -> SplitFit:
    """Masses of a quadtree's nodes, in linear time."""
    return split_masses(known.tree, known.sums, known.below_variances)


def split_masses(tree: Branches, sums: Floats, variances: Floats) -> SplitFit:
    """Split masses from subtree estimates and their variances."""
    masses, half_masses = np.zeros(tree.nodes), np.zeros((tree.nodes, 2))
    half_variances, prior_means = np.zeros((tree.nodes, 2)), np.full((tree.nodes, 3), 0.5)
    neighbours = np.empty((tree.nodes, 9), np.int32)
    kernels.find_neighbours(tree.first_children, tree.child_counts, neighbours)
    layout = (neighbours, node_depths(tree), tree.child_counts)
    masses[0] = max(sums[0], SMALLEST_TOTAL)
    across = along = SplitPrior(weights=np.array(FIRST_WEIGHTS), coefficients=np.array(FIRST_COEFFICIENTS))
    prior_weights = []

    def foretell(feature: Callable[..., None], nodes: Indices, each: int) -> Floats:
        """Features of splits, `each` of every node."""
        features = np.empty((each * len(nodes), len(FIRST_COEFFICIENTS)))

        def work(first: int, stop: int) -> None:
            feature(nodes[first:stop], *layout, masses, half_masses, features[each * first : each * stop])

        run_in_slices(work, len(nodes), smallest=SMALLEST_SLICE)
        return features

    for first, stop in pairwise(tree.levels):
        nodes = first + np.flatnonzero(tree.child_counts[first:stop])
        children = tree.first_children[nodes, None] + np.arange(4)
        below, below_variances = (array[children].reshape(-1, 2, 2) for array in (sums, variances))  # node, row, column

        half_variances[nodes] = below_variances.sum(axis=1)
        across, prior_means[nodes, 0], half_masses[nodes] = across.divide(
            masses[nodes],
            below.sum(axis=1),
            half_variances[nodes],
            foretell(kernels.foretell_across, nodes, 1),
        )
        along, means, quarters = along.divide(
            half_masses[nodes].ravel(),
            below.swapaxes(1, 2).reshape(-1, 2),
            below_variances.swapaxes(1, 2).reshape(-1, 2),
            foretell(kernels.foretell_along, nodes, 2),
        )
        prior_means[nodes, 1:] = means.reshape(-1, 2)
        masses[children] = quarters.reshape(-1, 2, 2).swapaxes(1, 2).reshape(-1, 4)
        prior_weights.append((across.weights, along.weights))
    return SplitFit(
        masses=masses,
        half_masses=half_masses,
        variances=variances,
        half_variances=half_variances,
        prior_weights=np.array(prior_weights),
        prior_means=prior_means,
    )


@dataclass(frozen=True, kw_only=True, eq=False)
class SplitPrior:
    """The prior of shares along one axis.

    It is what the levels above have taught.

    Parameters
    ----------
    weights : array, shape (8,)
        Of the components of the prior.
    coefficients : array, shape (2,)
        Of the features in the mean of the prior.
    """

    weights: Floats
    coefficients: Floats

    def divide(
        self, masses: Floats, sums: Floats, variances: Floats, features: Floats
    ) -> tuple["SplitPrior", Floats, Floats]:
        """Divide masses in two, and update the prior.

        Returns the prior with what these splits teach, the prior mean of each share, and the masses of the parts.

        Parameters
        ----------
        masses : array, shape (splits,)
            To divide in two.
        sums, variances : array, shape (splits, 2)
            What is known of the parts from themselves and below.
        features : array, shape (splits, 2)
            From neighbours.
        """
        shares, spreads = np.empty((2, len(masses)))
        sums, variances = (
            np.ascontiguousarray(sums),
            np.ascontiguousarray(variances),
        )  # one kind of array to compile for
        kernels.observe_shares(masses, sums, variances, shares, spreads)
        coefficients = fit_coefficients(self.coefficients, features, shares, spreads)
        means = np.clip(0.5 + 0.5 * (features @ coefficients), kernels.NEAREST_MEAN, 1 - kernels.NEAREST_MEAN)
        evidence, moments = np.empty((2, len(masses), kernels.COMPONENTS))
        norms = log_norms()

        def work(first: int, stop: int) -> None:
            part = slice(first, stop)
            kernels.weigh_components(shares[part], spreads[part], means[part], norms, evidence[part], moments[part])

        run_in_slices(work, len(masses), smallest=SMALLEST_SLICE)
        weights = fit_weights(self.weights, evidence, np.isfinite(spreads))
        first = masses * np.clip(moments @ weights / (evidence @ weights), 0, 1)
        return SplitPrior(weights=weights, coefficients=coefficients), means, np.stack([first, masses - first], axis=1)


@cache
def log_norms() -> Floats:
    """Table of the constants of the prior's Betas."""
    table = np.empty((TABULATED_MEANS, len(kernels.CONCENTRATIONS)))
    kernels.tabulate_log_norms(table)
    return table


def fit_coefficients(before: Floats, features: Floats, shares: Floats, spreads: Floats) -> Floats:
    """Ridge regression of shares on features.

    A share s is predicted as 2 s - 1. Coefficients are drawn toward those before. Shares of infinite deviation, which
    nothing is known of, teach nothing.
    """
    if np.count_nonzero(np.isfinite(spreads)) < FEWEST_SPLITS:
        return before
    weighted = features * (FEATURE_VARIANCE / (4 * spreads**2 + FEATURE_VARIANCE))[:, None]
    curvature = weighted.T @ features + RIDGE * np.eye(len(before))
    return np.asarray(np.linalg.solve(curvature, weighted.T @ (2 * shares - 1) + RIDGE * before), np.float64)


def fit_weights(before: Floats, evidence: Floats, informed: NDArray[np.bool_]) -> Floats:
    """Weights of components after a few EM steps.

    Only splits that something is known of count. Each step is held back toward the weights before it.
    """
    weights, splits = before, np.count_nonzero(informed)
    for _ in range(WEIGHT_UPDATES):
        responsibilities = weights * ((informed / (evidence @ weights)) @ evidence)  # of each component, for all splits
        weights = (responsibilities + WEIGHT_INERTIA * weights) / (splits + WEIGHT_INERTIA)
    return weights
