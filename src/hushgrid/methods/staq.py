"""STAQ, the staged adaptive quadtree.

Reference: this project; docs/privacy/staq.md says how it works and why it is private.
"""

import math
from dataclasses import astuple, dataclass, replace
from fractions import Fraction
from typing import ClassVar, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from hushgrid.arrays import Floats, Indices
from hushgrid.counting.counter import Counter
from hushgrid.errors import ArgumentError
from hushgrid.geometry.quadrants import (
    DEEPEST,
    QuadrantNodes,
    Quadrants,
    all_cells,
    divide_cells,
    join_cells,
    pick_cells,
)
from hushgrid.geometry.tree import Tree
from hushgrid.inference import least_squares as trees
from hushgrid.inference.least_squares import measurements_of_nodes
from hushgrid.inference.measurements import Measurements, NoisyValues
from hushgrid.inference.splits import split_masses
from hushgrid.methods.method import Examples, check_positive, check_whole, record
from hushgrid.privacy.budget import Budget
from hushgrid.privacy.paths import UNITS
from hushgrid.synopsis.synopsis import Synopsis


class Frontier:
    """Cells that tile the domain, and what was observed.

    Some cells are live: they may still be observed and divided.

    A part of the tree in which nothing is live any more is folded into one cell, and all that was measured there into
    one observation of it: for the cells elsewhere that says as much. So the cost of a round is in proportion to the
    cells that live, not to all there have been.

    Parameters
    ----------
    cells : Quadrants
        That tile the domain, all live.
    """

    def __init__(self, cells: Quadrants) -> None:
        self._cells = cells
        self._live = np.ones(cells.cells, bool)
        none = np.empty(0, np.int64)
        self._observations = Observations(none, none, none.astype(np.float64), none.astype(np.float64))

    @property
    def live_cells(self) -> Quadrants:
        """Cells that may be observed and divided."""
        return pick_cells(self._cells, self._live)

    def divide(self, steps: Indices) -> Indices:
        """Replace live cells by parts, and say whose they are.

        Each part lies as many levels below its live cell as `steps` says.
        """
        down = np.zeros(self._cells.cells, np.int64)
        down[self._live] = steps
        self._cells, whole = divide_cells(self._cells, down)
        before = np.cumsum(self._live) - 1
        self._live = self._live[whole]
        return np.asarray(before[whole][self._live])

    def observe(self, measured: NoisyValues) -> None:
        """Note what was measured of the live cells."""
        cells = self.live_cells
        self._observations = self._observations.joined(
            Observations(cells.levels, cells.codes, measured.values.astype(np.float64), 1 / measured.variances)
        )

    def keep(self, still: NDArray[np.bool_]) -> None:
        """Let the other live cells rest."""
        self._live[self._live] = still

    def estimates(self) -> Floats:
        """Masses of the live cells by Bayes' rule."""
        tree = QuadrantNodes(self._cells)
        values, precisions = self._observations.by_node(tree)
        sums, variances = np.empty((2, tree.nodes))
        trees.gather_up(values, precisions, tree.first_children, tree.child_counts, sums, variances)
        masses = split_masses(tree, sums, variances).masses[tree.leaves[self._live]]
        self._fold(tree, (values, precisions), (sums, 1 / variances))
        return masses

    def _fold(self, tree: QuadrantNodes, own: tuple[Floats, Floats], known: tuple[Floats, Floats]) -> None:
        """Make one cell of each node without live cells.

        Values and precisions of the nodes come twice: from a node itself, and from itself and below.
        """
        first, stop = tree.runs
        running = np.concatenate([[0], np.cumsum(self._live)])
        live = running[stop] > running[first]
        kept = np.append(True, live[tree.parents[1:]])
        whole = ~live | (tree.child_counts == 0)
        values, precisions = (np.where(whole, below, alone)[kept] for alone, below in zip(own, known, strict=True))
        self._observations = Observations(tree.depths[kept], tree.codes[kept], values, precisions)
        leaves = np.flatnonzero(kept & whole)
        leaves = leaves[np.argsort(first[leaves])]
        self._cells = replace(self._cells, levels=tree.depths[leaves], codes=tree.codes[leaves])
        self._live = live[leaves]


@dataclass(frozen=True)
class Observations:
    """Observed values of quadtree cells, with precisions.

    A precision is zero where nothing was observed. A cell may occur several times.
    """

    levels: Indices
    codes: Indices
    values: Floats
    precisions: Floats

    def joined(self, other: "Observations") -> "Observations":
        """These and others."""
        return Observations(*(np.concatenate(pair) for pair in zip(astuple(self), astuple(other), strict=True)))

    def by_node(self, tree: QuadrantNodes) -> tuple[Floats, Floats]:
        """Mean of each node's values, and its precision."""
        nodes = tree.find(self.levels, self.codes)
        precisions, weighted = (
            np.asarray(np.bincount(nodes, weights, minlength=tree.nodes), np.float64)
            for weights in (self.precisions, self.precisions * self.values)
        )
        return np.divide(weighted, precisions, out=np.zeros(tree.nodes), where=precisions > 0), precisions


Inference = Literal["belief", "bayes", "least-squares"]

MOST_LEVELS = 12  # that are planned ahead
LONG_STEP_FROM = 4  # levels ahead; then a step is of two, because what lies between would soon be known from below
LARGEST_FIRST_LEVEL = 8
LARGER_C = 2**0.125  # steps in which c is raised where there is a limit on cells
PUBLISHED = {"belief": "belief-2"}  # what a release calls an inference, where that is another name: its version


@dataclass(frozen=True, kw_only=True)
class Staq:
    """A quadtree that grows where there is something to see.

    Each cell is measured with a part of what its path has left.

    Parameters
    ----------
    inference : "belief", "bayes" or "least-squares"
        How counts follow from measurements: by belief propagation over all splits with a learned prior, and sloped
        leaves; split by split with that prior, which is faster; or without bias, and then possibly negative.
    c : float
        A cell is divided if its estimate times its budget is above about ``2 * c``.
    growth : float
        Budget of a level relative to that of the level above.
    first_level : int
        First level that is measured, of ``4**first_level`` cells.
    first_weight : float
        Budget of the first level relative to that of the next.
    deepest : int
        Last level.

    Privacy
    -------
    The cells that are measured in a round are disjoint, and both cells and rates follow from released values. One
    record follows one path, along which the rates sum to what the noisy size has left of ε, whatever was released.
    """

    name: ClassVar[str] = "staq"
    title: ClassVar[str] = "STAQ"
    gist: ClassVar[str] = "cells follow the density: small where many points are, large where few are"
    examples: ClassVar[Examples] = Examples(
        small={"inference": "least-squares", "first_level": 1, "deepest": 3},
        large={"inference": "least-squares", "first_level": 4, "deepest": 6},
    )
    most_cells: ClassVar[int] = 2**20  # unless the request has another limit: beyond, time and memory buy little
    inference: Inference = "belief"
    # Constants of a prototype, fitted on nine data sets and judged on ten others.
    c: float = 1.7
    growth: float = 2 ** (1 / 3)
    first_level: int = 3
    first_weight: float = 1.6
    deepest: int = DEEPEST - 1

    def __post_init__(self) -> None:
        if self.inference not in get_args(Inference):
            msg = f"inference must be one of {', '.join(get_args(Inference))}, got inference={self.inference!r}."
            raise ArgumentError(msg)
        check_positive(self.c, name="c")
        check_positive(self.growth, name="growth")
        check_positive(self.first_weight, name="first_weight")
        check_whole(self.first_level, name="first_level", low=0, high=LARGEST_FIRST_LEVEL)
        check_whole(self.deepest, name="deepest", low=self.first_level, high=DEEPEST)

    def release(self, counter: Counter, budget: Budget) -> Synopsis:
        """Publish a staged adaptive quadtree."""
        tree, measurements, notes = self._measure(counter, budget)  # what it took to find them is let go
        inference = PUBLISHED.get(self.inference, self.inference)
        return Synopsis.infer(
            tree, measurements, inference=inference, claim=budget.claim(), method=record(self, *notes)
        )

    def _measure(self, counter: Counter, budget: Budget) -> tuple[Tree, Measurements, tuple[str, ...]]:
        """A quadtree, what was measured of it, and notes."""
        survey = Survey(all_cells(counter.domain, self.first_level))
        true_counts = counter.count(survey.live_cells)  # before the size: an engine counts its rows in the same query
        size = max(1, budget.noisy_size(counter))
        paths = budget.paths(Fraction(1), survey.live_cells.cells, purpose="counts")
        units = self._first_units(size, float(budget.epsilon))
        most_cells, clamped = budget.most_cells(self.most_cells), False
        while True:
            survey.add(paths.measure(true_counts, units))
            survey.keep(paths.left > 0)
            paths.descend(np.flatnonzero(paths.left))
            decision = self._decide(survey, paths.left, float(paths.epsilon(1)), most_cells)
            clamped |= decision.clamped
            if len(decision.units) == 0:
                break
            within = survey.divide(decision.steps)
            paths.descend(within)
            true_counts, units = counter.count(survey.live_cells), decision.units[within]
        notes = (f"cells were divided no further to fit {most_cells:,} of them",) if clamped else ()
        return (*survey.result(), notes)

    def _first_units(self, size: int, epsilon: float) -> Indices:
        """Units of the cells of the first level, all alike."""
        cells = 4**self.first_level
        worth = int(levels_worth(np.array([size / cells * epsilon]), c=self.c)[0])
        below = sum(self._weights(min(worth, self.deepest - self.first_level)))
        units = max(1, math.floor(UNITS * (self.first_weight / (self.first_weight + below))))
        return np.full(cells, units)

    def _decide(self, survey: "Survey", left: Indices, unit: float, most_cells: int) -> "Decision":
        """How far each live cell goes down, and its units.

        A cell that stays is measured with all units it has left.
        """
        if len(left) == 0:
            return Decision(steps=left, units=left)
        estimates = survey.frontier.estimates()
        live = survey.live_cells
        room = most_cells - survey.cells
        signals, deepest = estimates * (left * unit), self.deepest - live.levels
        c = fitting_c(signals, deepest, c=self.c, room=max(room, 0) + live.cells)
        worth = np.minimum(levels_worth(signals, c=c), deepest)
        units = np.floor(left * self._first_shares[worth]).astype(np.int64)
        wanted = np.where(units > 0, step_lengths(worth), 0)
        steps = fit_steps(wanted, estimates, room=room)
        clamped = c > self.c or not np.array_equal(steps, wanted)
        return Decision(steps=steps, units=np.where(steps > 0, units, left), clamped=clamped)

    def _weights(self, levels: int) -> list[float]:
        """Weights of the steps down a number of levels."""
        weights, depth = [], 0
        while depth < levels:
            step = 2 if levels - depth >= LONG_STEP_FROM else 1
            depth += step
            weights.append(self.growth ** (depth + step - 2))
        return weights

    @property
    def _first_shares(self) -> Floats:
        """Budget share of the first step, by levels ahead."""
        plans = map(self._weights, range(1, MOST_LEVELS + 1))
        return np.array([1.0, *(weights[0] / math.fsum(weights) for weights in plans)])


@dataclass(frozen=True, kw_only=True, eq=False)
class Decision:
    """Levels each live cell goes down, 0 to 2, and units.

    The cells it is divided into are measured with this many units each.

    Whether fewer cells were divided than wanted is `clamped`.
    """

    steps: Indices
    units: Indices
    clamped: bool = False


class Survey:
    """All cells, and all that was measured of them.

    Some cells have budget left, the others have ended. It holds released values alone.
    """

    def __init__(self, cells: Quadrants) -> None:
        self.frontier = Frontier(cells)
        self._ended: list[Quadrants] = []
        self._cells: list[Quadrants] = []
        self._measured: list[NoisyValues] = []

    @property
    def live_cells(self) -> Quadrants:
        """Cells with budget left."""
        return self.frontier.live_cells

    @property
    def cells(self) -> int:
        """Number of cells, with and without."""
        return self.live_cells.cells + sum(ended.cells for ended in self._ended)

    def divide(self, steps: Indices) -> Indices:
        """Replace live cells by parts, as `Frontier.divide` does."""
        return self.frontier.divide(steps)

    def add(self, measured: NoisyValues) -> None:
        """Note what was measured of the live cells."""
        self._cells.append(self.live_cells)
        self._measured.append(measured)
        self.frontier.observe(measured)

    def keep(self, still: NDArray[np.bool_]) -> None:
        """Let the other live cells stay as they are."""
        self._ended.append(pick_cells(self.live_cells, ~still))
        self.frontier.keep(still)

    def result(self) -> tuple[Tree, Measurements]:
        """The tree of the ended cells, and its measurements."""
        ended = join_cells(self._ended)
        nodes = QuadrantNodes(ended)
        tree = nodes.tree(ended.domain)
        levels, codes = (
            np.concatenate([getattr(cells, name) for cells in self._cells]) for name in ("levels", "codes")
        )
        return tree, measurements_of_nodes(tree, nodes.find(levels, codes), NoisyValues.joined(self._measured))


def levels_worth(signals: Floats, *, c: float) -> Indices:
    """How many levels below each cell are worth measuring.

    A level more means a quarter of the points in each cell: down to about c over the budget, where noise and the
    uneven spread within a cell cost alike.

    Examples
    --------
    >>> levels_worth(np.array([0.0, 1.7, 3.4, 1.7 * 4, 1e9]), c=1.7)
    array([ 0,  0,  1,  1, 12])
    """
    levels = np.floor(np.log(np.maximum(signals / c, 0.25)) / math.log(4) + 0.5)
    return np.clip(levels, 0, MOST_LEVELS).astype(np.int64)


def fitting_c(signals: Floats, deepest: Indices, *, c: float, room: int) -> float:
    """The least c from `c` up whose cells there will be room for.

    A cell that is worth k levels ends in about 3**k cells. Were c left as it is where there is no room, cells that are
    divided early would leave none for the densest ones, which are divided longest.

    Examples
    --------
    >>> signals, deepest = np.array([1.7 * 4**5] * 10), np.full(10, 16)
    >>> fitting_c(signals, deepest, c=1.7, room=2500)
    1.7
    >>> levels_worth(signals, c=fitting_c(signals, deepest, c=1.7, room=1000))
    array([4, 4, 4, 4, 4, 4, 4, 4, 4, 4])
    """
    expected = 3.0 ** np.arange(MOST_LEVELS + 1)
    while np.bincount(np.minimum(levels_worth(signals, c=c), deepest), minlength=MOST_LEVELS + 1) @ expected > room:
        c *= LARGER_C
    return c


def step_lengths(worth: Indices) -> Indices:
    """Levels that the first step goes down."""
    return np.minimum(worth, np.where(worth >= LONG_STEP_FROM, 2, 1))


def fit_steps(steps: Indices, estimates: Floats, *, room: int) -> Indices:
    """The steps that there is room for, else 0.

    Cells of the largest estimates come first.

    Examples
    --------
    >>> fit_steps(np.array([1, 2, 1, 1]), np.array([1.0, 9.0, 3.0, 2.0]), room=21)
    array([0, 2, 1, 1])
    """
    order = np.argsort(-estimates, kind="stable")
    grown = np.cumsum(4 ** steps[order] - 1)
    fitted = steps.copy()
    fitted[order[grown > room]] = 0
    return fitted
