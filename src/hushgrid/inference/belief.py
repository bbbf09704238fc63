"""Quadtree masses by belief propagation (docs/staq-inference.md)."""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from hushgrid.arrays import Floats, Indices
from hushgrid.compiled import run_in_slices
from hushgrid.geometry.branches import Branches
from hushgrid.inference import belief_loops as belief
from hushgrid.inference.belief_loops import GRID, Counts, Second, Sites, Splits, powers_of_masses
from hushgrid.inference.least_squares import nodes_of_runs
from hushgrid.inference.measurements import NOT_MEASURED, Measurements
from hushgrid.inference.split_prior import ATOMS, cumulative_tables, second_tables
from hushgrid.inference.splits import SecondLaws, SplitFit
from hushgrid.work import current_work

REACH = 4  # standard deviations a grid of masses extends to either side
SMALLEST_DEVIATION = 0.01  # of a mass, in points: nearly certain counts still get a grid
UP, DOWN = 0.5, 0.2  # shares of the time of an inference that messages up and means down take, about
SMALLEST_SLICE = 128  # inner nodes a thread is worth starting for


def belief_masses(tree: Branches, measurements: Measurements, fit: SplitFit) -> Floats:
    """Posterior mean mass of every node, shape (nodes,).

    All measurements are used. Masses are found from the root down.

    Children add up to their parents, and no mass is negative.

    Parameters
    ----------
    tree : Tree
        A quadtree: every inner node is divided in two columns and two rows.
    fit : SplitFit
        Masses to put the grids around, and the priors of the splits.
    """
    quadtree = _Quadtree(tree=tree, inner=np.flatnonzero(tree.child_counts), counts=counts_by_node(tree, measurements))
    inner = quadtree.inner
    deviations = _deviations(np.concatenate([fit.variances, fit.half_variances[inner].ravel()]), fit.masses[0])
    centres = np.concatenate([fit.masses, fit.half_masses[inner].ravel()])
    kappa = bias_power(fit.masses[0] * path_budget(tree, quadtree.counts))
    return _sweep(quadtree, centres, deviations, fit, kappa)[: tree.nodes].copy()


def bias_power(size: float) -> float:
    """Power kappa of the mass in messages.

    It depends on expected points times budget, and keeps totals from coming out low.

    Examples
    --------
    >>> bias_power(1500)
    0.27
    """
    return min(max(0.27 - 0.035 * math.log2(max(size, 1.0) / 1500), 0.08), 0.3)


def counts_by_node(tree: Branches, measurements: Measurements) -> Counts:
    """All measurements of each node, side by side."""
    leaves, regions = measurements.leaves, measurements.region_values
    nodes = np.concatenate([tree.leaves, nodes_of_runs(tree, measurements.regions.first, measurements.regions.stop)])
    values = np.concatenate([leaves.values, regions.values]).astype(np.float64)
    rates = np.concatenate([np.array([*map(float, part.rates), 0.0])[part.rate_index] for part in (leaves, regions)])
    taken = np.concatenate([leaves.rate_index, regions.rate_index]) != NOT_MEASURED
    order = np.flatnonzero(taken)
    order = order[np.argsort(nodes[order], kind="stable")]
    offsets = np.concatenate([[0], np.cumsum(np.bincount(nodes[order], minlength=tree.nodes))])
    return Counts(offsets=offsets, values=values[order], rates=rates[order])


def path_budget(tree: Branches, counts: Counts) -> float:
    """Largest sum of rates on a root-to-leaf path."""
    running = np.concatenate([[0.0], np.cumsum(counts.rates)])
    spent = running[counts.offsets[1:]] - running[counts.offsets[:-1]]
    for first, stop in pairwise(tree.levels[1:]):
        spent[first:stop] += spent[tree.parents[first:stop]]
    return float(spent.max())


@dataclass(frozen=True, kw_only=True, eq=False)
class _Quadtree:
    tree: Branches
    inner: Indices
    counts: Counts

    def levels(self) -> Iterator[tuple[int, int, int]]:
        """Levels with inner nodes, and their ranks, half-open.

        The root's level comes first.
        """
        ranks = np.searchsorted(self.inner, self.tree.levels).tolist()
        for level, (first, stop) in enumerate(pairwise(ranks)):
            if first < stop:
                yield level, first, stop


def _splits(quadtree: _Quadtree, fit: SplitFit, level: int) -> Splits:
    """Splits of a level, with their priors."""
    return Splits(
        inner=quadtree.inner,
        first_children=quadtree.tree.first_children,
        means=fit.prior_means,
        tables=cumulative_tables(fit.prior_weights[level]),
        atoms=np.ascontiguousarray(fit.prior_weights[level][:, :ATOMS]),
    )


def _second(laws: SecondLaws | None, level: int) -> Second | None:
    """Second laws of the splits of a level, if there are any."""
    if laws is None:
        return None
    weights = laws.weights[level]
    one_sided, others = np.ascontiguousarray(weights[..., 0]), np.ascontiguousarray(weights[..., 1])
    return Second(laws.means, laws.bins, second_tables(weights), one_sided, others)


def _deviations(variances: Floats, total: float) -> Floats:
    """Standard deviations, clipped to a usable range.

    A mass that nothing determines can be anything up to the total.
    """
    return np.clip(np.sqrt(variances), SMALLEST_DEVIATION, max(total, 1.0))


def _sweep(quadtree: _Quadtree, centres: Floats, deviations: Floats, fit: SplitFit, kappa: float) -> Floats:
    """Masses of all sites, by messages on grids.

    Each grid lies around the site's centre.
    """
    tree = quadtree.tree
    lows = np.maximum(centres - REACH * deviations, 0)
    steps = (centres + REACH * deviations - lows) / (GRID - 1)
    powers = powers_of_masses(kappa)
    sites = Sites(lows=lows, steps=steps, deviations=deviations, messages=np.empty((len(lows), GRID)))

    def observe_leaves(first: int, stop: int) -> None:
        belief.observe_leaves(tree.leaves, first, stop, sites, quadtree.counts)

    run_in_slices(observe_leaves, tree.cells, smallest=SMALLEST_SLICE)
    levels = [
        (start, end, _splits(quadtree, fit, level), _second(fit.second, level))
        for level, start, end in quadtree.levels()
    ]
    for start, end, splits, family in reversed(levels):

        def send_up(
            first: int, stop: int, start: int = start, splits: Splits = splits, family: Second | None = family
        ) -> None:
            belief.send_up(start + first, start + stop, sites, splits, quadtree.counts, powers, family)

        run_in_slices(send_up, end - start, smallest=SMALLEST_SLICE)
        current_work().add("inference", UP * (end - start) / len(quadtree.inner))
    masses = np.empty(len(lows))
    masses[0] = _mean_mass(lows[0], steps[0], sites.messages[0])
    for start, end, splits, family in levels:

        def send_down(
            first: int, stop: int, start: int = start, splits: Splits = splits, family: Second | None = family
        ) -> None:
            belief.send_down(start + first, start + stop, sites, splits, masses, family)

        run_in_slices(send_down, end - start, smallest=SMALLEST_SLICE)
        current_work().add("inference", DOWN * (end - start) / len(quadtree.inner))
    return masses


def send_no_messages() -> None:
    """Compile the loops of messages, which share their parts, without any message."""
    none = np.empty(0)
    sites = Sites(lows=none, steps=none, deviations=none, messages=np.empty((0, GRID)))
    counts = Counts(offsets=np.empty(0, np.int64), values=none, rates=none)
    splits = Splits(
        inner=np.empty(0, np.int64),
        first_children=np.empty(0, np.int64),
        means=np.empty((0, 3)),
        tables=np.empty((0, 0, 0)),
        atoms=np.empty((0, ATOMS)),
    )
    belief.observe_leaves(splits.inner, 0, 0, sites, counts)
    belief.send_up(0, 0, sites, splits, counts, powers_of_masses(0.0), None)
    belief.send_down(0, 0, sites, splits, none, None)


def _mean_mass(low: float, step: float, message: Floats) -> float:
    """Mean mass of a message, by the trapezoidal rule."""
    weights = message.copy()
    weights[[0, -1]] /= 2
    return float(low + step * np.average(np.arange(GRID), weights=weights))
