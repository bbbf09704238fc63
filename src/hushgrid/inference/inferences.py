"""Every inference, with its premise and its counts.

To add one, write its functions and one entry of `INFERENCES`.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType

import numpy as np

from hushgrid.arrays import Floats
from hushgrid.errors import ArgumentError
from hushgrid.geometry.areas import AreaPartition
from hushgrid.geometry.grid import Grid, GroupedGrid, NestedGrid
from hushgrid.geometry.tree import Tree
from hushgrid.inference.belief import belief_masses
from hushgrid.inference.belief_prior import Leanings, divided_masses, masses_with_prior
from hushgrid.inference.evidence import Evidence
from hushgrid.inference.haar import cell_energy, padded, restore
from hushgrid.inference.least_squares import node_sums
from hushgrid.inference.measurements import NOT_MEASURED
from hushgrid.inference.pooled import AKIN, FOREIGN, Trust
from hushgrid.inference.slopes import refined_means
from hushgrid.inference.two_level import TwoLevels, reconcile

MOST_PRIOR = 2.0**52  # of a public prior's whole numbers together
FEW_LEAVES = 10_000  # up to which a second sweep takes 0.6 % off the error; with more leaves it takes off less


@dataclass(frozen=True, kw_only=True, eq=False)
class Inference:
    """A way from measurements to counts.

    Parameters
    ----------
    name : str
        What release files call it.
    premise : callable
        Whether the evidence is of the kind it needs.
    counts, variances : callable
        Estimated counts of the leaves, and the exact variances of their noise, shape (leaves,) each.
    sloped : bool
        Whether the density slopes inside leaves.
    non_negative : bool
        Whether no count is negative.
    learned : bool
        Whether it learns from the release how masses are shared between parts.
    versioned : bool
        Whether all its releases name the version of their calibration, because it came after versions did.
    trust : Trust, optional
        In a public prior, where one is part of the evidence.
    slack : float
        Standard errors by which its counts may differ between machines (decision 10).

    Examples
    --------
    >>> [name for name, inference in INFERENCES.items() if inference.sloped]
    ['two-level-sloped', 'belief', 'belief-2', 'belief-half', 'belief-prior', 'belief-slices']
    """

    name: str
    premise: Callable[[Evidence], bool]
    counts: Callable[[Evidence], Floats]
    variances: Callable[[Evidence], Floats]
    sloped: bool = False
    non_negative: bool = False
    learned: bool = False
    versioned: bool = False
    trust: Trust | None = None
    slack: float = 0.0

    @property
    def with_prior(self) -> bool:
        """Whether a public prior is part of the evidence."""
        return self.trust is not None


def is_measured_evenly(evidence: Evidence) -> bool:
    """Whether every leaf was measured, at one rate.

    The partition is a grid or areas, and nothing else was measured.
    """
    index = evidence.measurements.leaves.rate_index
    return (
        isinstance(evidence.partition, Grid | AreaPartition)
        and len(evidence.measurements.region_values.values) == 0
        and evidence.measurements.wavelet is None
        and index[0] != NOT_MEASURED
        and bool(np.all(index == index[0]))
    )


def measured_counts(evidence: Evidence) -> Floats:
    """Each leaf's own measurement, as it is."""
    return evidence.measurements.leaves.values.astype(np.float64)


def measured_variances(evidence: Evidence) -> Floats:
    """Variance of each leaf's own measurement."""
    return evidence.measurements.leaves.variances


def has_two_levels(evidence: Evidence) -> bool:
    """Whether blocks and their leaves were both measured.

    The partition is a nested or grouped grid. Its blocks come in order, the leaves of each measured at one rate.
    """
    partition, measurements = evidence.partition, evidence.measurements
    if not isinstance(partition, NestedGrid | GroupedGrid) or measurements.wavelet is not None:
        return False
    index, regions = measurements.leaves.rate_index, measurements.regions
    rate_of_cell = index[partition.offsets[:-1]]
    return (
        np.array_equal(regions.first, partition.offsets[:-1])
        and np.array_equal(regions.stop, partition.offsets[1:])
        and not np.any(rate_of_cell == NOT_MEASURED)
        and np.array_equal(index, np.repeat(rate_of_cell, np.diff(partition.offsets)))
    )


def is_nested(evidence: Evidence) -> bool:
    """Whether both levels of a nested grid were measured."""
    return isinstance(evidence.partition, NestedGrid) and has_two_levels(evidence)


def two_levels(evidence: Evidence) -> TwoLevels:
    """Least-squares counts of the leaves in blocks."""
    partition, measurements = evidence.partition, evidence.measurements
    assert isinstance(partition, NestedGrid | GroupedGrid)
    return reconcile(
        cell_values=measurements.region_values.values,
        cell_variances=measurements.region_values.variances,
        leaf_values=measurements.leaves.values,
        leaf_variances=measurements.leaves.variances[partition.offsets[:-1]],
        offsets=partition.offsets,
    )


def is_determined_tree(evidence: Evidence) -> bool:
    """Whether measured nodes of a tree determine all leaves.

    Areas in levels are a tree, too.
    """
    partition = evidence.partition
    is_tree = isinstance(partition, Tree) or (isinstance(partition, AreaPartition) and bool(partition.levels))
    if not is_tree or evidence.measurements.wavelet is not None:
        return False
    try:
        variances = least_squares_variances(evidence)
    except ArgumentError:
        return False
    return bool(np.isfinite(variances).all())


def least_squares_counts(evidence: Evidence) -> Floats:
    """Least-squares counts of the leaves of a tree."""
    return evidence.nodes.counts[evidence.nodes.tree.leaves]


def least_squares_variances(evidence: Evidence) -> Floats:
    """Variances of the leaves after least squares."""
    return evidence.nodes.variances[evidence.nodes.tree.leaves]


def is_quadtree(evidence: Evidence) -> bool:
    """Whether a determined tree is a quadtree.

    All its inner nodes have two columns and two rows.
    """
    tree = evidence.partition
    return isinstance(tree, Tree) and is_determined_tree(evidence) and bool(np.isin(tree.splits, (0, 2)).all())


def bayes(evidence: Evidence) -> Floats:
    """Leaf masses of a quadtree, by Bayes' rule."""
    return evidence.fit_splits().masses[evidence.nodes.tree.leaves]


def belief(evidence: Evidence) -> Floats:
    """Leaf masses of a quadtree, by belief propagation."""
    known, tree = evidence.nodes, evidence.nodes.tree
    fit = evidence.fit_splits()
    for _ in range(2 if tree.cells <= FEW_LEAVES else 1):
        fit = replace(fit, prior_means=refined_means(known, fit.masses))
        fit = fit.around(tree, belief_masses(tree, evidence.measurements, fit))
    return fit.masses[tree.leaves]


def is_quadtree_with_prior(evidence: Evidence) -> bool:
    """Whether a determined quadtree has a public prior's evidence in each leaf.

    None is negative, and sums are exact.
    """
    prior = evidence.prior
    if prior is None or len(prior) != evidence.partition.cells or prior.min() < 0:
        return False
    return prior.sum(dtype=np.float64) <= MOST_PRIOR and is_quadtree(evidence)


def belief_with_prior(evidence: Evidence, trust: Trust) -> Floats:
    """Leaf masses of a quadtree, by belief propagation with a public prior."""
    tree, measured = evidence.partition, evidence.measured
    assert isinstance(tree, Tree)
    assert evidence.prior is not None
    prior, nodes, known = node_sums(tree, evidence.prior), evidence.measured_nodes, measured.nodes
    fit = masses_with_prior(known, measured.measurements, measured.fit_splits(), prior[nodes], trust)
    leanings = Leanings.of_leaves(known, fit.masses, prior[nodes], trust)
    reached = known.tree.leaves
    return divided_masses(tree, nodes[reached], fit.masses[reached], leanings, prior)


def belief_half(evidence: Evidence) -> Floats:
    """Mean of belief propagation and least squares.

    Where nearly all of the budget is on small leaves, the first is biased and the second noisy: their mean has a lower
    error than either. It may be negative.
    """
    return (belief(evidence) + least_squares_counts(evidence)) / 2


def is_wavelet(evidence: Evidence) -> bool:
    """Whether the Haar coefficients of a grid were measured.

    The wavelet must have the sides of the grid, padded to powers of two, and nothing else may be measured.
    """
    partition, measurements = evidence.partition, evidence.measurements
    wavelet = measurements.wavelet
    return (
        isinstance(partition, Grid)
        and wavelet is not None
        and (wavelet.rows, wavelet.columns) == (padded(partition.rows), padded(partition.columns))
        and len(measurements.region_values.values) == 0
        and bool(np.all(measurements.leaves.rate_index == NOT_MEASURED))
    )


def haar_counts(evidence: Evidence) -> Floats:
    """Cells of a grid restored from its wavelet coefficients."""
    grid, wavelet = evidence.partition, evidence.measurements.wavelet
    assert isinstance(grid, Grid)
    assert wavelet is not None
    restored = restore(wavelet.coefficients.values.reshape(wavelet.rows, wavelet.columns))
    return restored[: grid.rows, : grid.columns].ravel()


def haar_variances(evidence: Evidence) -> Floats:
    """Variance of each restored cell, the same for all."""
    wavelet = evidence.measurements.wavelet
    assert wavelet is not None
    variance = wavelet.coefficients.variances[0] * cell_energy(wavelet.rows) * cell_energy(wavelet.columns)
    return np.full(evidence.partition.cells, variance)


TWO_LEVEL = Inference(
    name="two-level",
    premise=has_two_levels,
    counts=lambda evidence: two_levels(evidence).leaf_counts,
    variances=lambda evidence: two_levels(evidence).leaf_variances,
)
LEAST_SQUARES = Inference(
    name="least-squares",
    premise=is_determined_tree,
    counts=least_squares_counts,
    variances=least_squares_variances,
)
BAYES = replace(LEAST_SQUARES, name="bayes", premise=is_quadtree, counts=bayes, non_negative=True, learned=True)
BELIEF = replace(BAYES, name="belief-2", counts=belief, sloped=True, versioned=True)
BELIEF_HALF = replace(BELIEF, name="belief-half", counts=belief_half, non_negative=False)
BELIEF_PRIOR = replace(
    BELIEF,
    name="belief-prior",
    premise=is_quadtree_with_prior,
    counts=lambda evidence: belief_with_prior(evidence, FOREIGN),
    trust=FOREIGN,
)

INFERENCES: Mapping[str, Inference] = MappingProxyType(
    {
        inference.name: inference
        for inference in (
            Inference(name="direct", premise=is_measured_evenly, counts=measured_counts, variances=measured_variances),
            TWO_LEVEL,
            replace(TWO_LEVEL, name="two-level-sloped", premise=is_nested, sloped=True),
            LEAST_SQUARES,
            BAYES,
            replace(BELIEF, name="belief", versioned=False, slack=3.0),  # read but no longer published (decision 10)
            BELIEF,
            BELIEF_HALF,
            BELIEF_PRIOR,
            replace(
                BELIEF_PRIOR,
                name="belief-slices",
                counts=lambda evidence: belief_with_prior(evidence, AKIN),
                trust=AKIN,
            ),
            Inference(name="haar", premise=is_wavelet, counts=haar_counts, variances=haar_variances),
        )
    }
)


def check_premises(name: str, evidence: Evidence) -> str | None:
    """Why an inference does not apply, or None."""
    inference = INFERENCES.get(name)
    if inference is None:
        return f"the inference {name[:40]!r} is not known to this version of hushgrid."
    if inference.with_prior != (evidence.prior is not None) or not inference.premise(evidence):
        return f"its structure and measurements do not fit the inference {name!r}."
    return None
