"""STAQ, the staged adaptive quadtree, and the same aimed at a scale.

Reference: this project; docs/privacy/staq.md says how both work and why they are private.
"""

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar, Literal, get_args

import numpy as np

from hushgrid.arrays import Floats, Indices
from hushgrid.counting.counter import Counter
from hushgrid.errors import ArgumentError
from hushgrid.geometry.quadrants import DEEPEST, all_cells
from hushgrid.geometry.tree import Tree
from hushgrid.inference.evidence import Evidence
from hushgrid.inference.frontier import Survey
from hushgrid.inference.measurements import Measurements
from hushgrid.methods.method import Examples, check_positive, check_whole, record
from hushgrid.priors.prior import Prior
from hushgrid.priors.sharpen import released_with
from hushgrid.privacy.budget import Budget
from hushgrid.privacy.paths import UNITS, PathBudget
from hushgrid.synopsis.synopsis import Synopsis

Inference = Literal["belief", "bayes", "least-squares"]

MOST_LEVELS = 12  # that are planned ahead
LONG_STEP_FROM = 4  # levels ahead; then a step is of two, because what lies between would soon be known from below
LARGEST_FIRST_LEVEL = 8
LARGER_C = 2**0.125  # steps in which c is raised where there is a limit on cells
EXPECTED_CELLS = 3.0 ** np.arange(MOST_LEVELS + 1)  # that a cell ends in, by the levels that it is worth
AimedInference = Literal["half", "belief", "bayes", "least-squares"]
PUBLISHED = {
    "belief": "belief-2",
    "half": "belief-half",
}  # what a release calls an inference, where that is another name: its version


@dataclass(frozen=True, kw_only=True)
class Staq:
    """A quadtree that grows where there is something to see.

    Each cell is measured with a part of what its path has left.

    Parameters
    ----------
    inference : "belief", "bayes" or "least-squares"
        How counts follow from measurements. ``"belief"``: by belief propagation over all splits with a learned prior,
        and with sloped leaves. ``"bayes"``: split by split with that prior, which is faster. ``"least-squares"``:
        without bias, and then possibly negative.
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

    Examples
    --------
    >>> import hushgrid as hg
    >>> square = hg.Domain(west=0, south=0, east=1, north=1)
    >>> release = hg.publish([[0.2, 0.7]] * 1000, domain=square, epsilon=1, method=hg.Staq(inference="bayes"))
    >>> round(release.count([0.0, 0.5, 0.5, 1.0]), -3)
    1000.0
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
        check_inference(self.inference, get_args(Inference))
        check_positive(self.c, name="c")
        check_positive(self.growth, name="growth")
        check_positive(self.first_weight, name="first_weight")
        check_whole(self.first_level, name="first_level", low=0, high=LARGEST_FIRST_LEVEL)
        check_whole(self.deepest, name="deepest", low=self.first_level, high=DEEPEST)

    def release(self, counter: Counter, budget: Budget, prior: Prior | None = None) -> Synopsis:
        """Publish a staged adaptive quadtree, sharpened by a public prior if there is one."""
        tree, measurements, notes = self._measure(counter, budget)  # what it took to find them is let go
        claim, method = budget.claim(), record(self, *notes)
        if prior is not None:
            return released_with(prior, Evidence(tree, measurements), claim=claim, method=method)
        inference = PUBLISHED.get(self.inference, self.inference)
        return Synopsis.infer(tree, measurements, inference=inference, claim=claim, method=method)

    def measure(self, counter: Counter, budget: Budget) -> Synopsis:
        """Measure what `release` does, and count by least squares.

        It is for a prior that follows from several such releases, and then sharpens each.
        """
        tree, measurements, notes = self._measure(counter, budget)
        claim, method = budget.claim(), record(self, *notes)
        return Synopsis.infer(tree, measurements, inference="least-squares", claim=claim, method=method)

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

    def _decide(self, survey: Survey, left: Indices, unit: float, most_cells: int) -> "Decision":
        """How far each live cell goes down, and its units.

        A cell that stays is measured with all units it has left.
        """
        if len(left) == 0:
            return Decision(steps=left, units=left)
        estimates = survey.frontier.estimates()
        live = survey.live_cells
        room = most_cells - survey.cells
        signals, deepest = estimates * (left * unit), self.deepest - live.levels
        worth, c = fitting_levels(signals, deepest, c=self.c, room=max(room, 0) + live.cells)
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


AIM = 0.005  # of the domain's sides, where no scale is given
MOST_SIGNAL = 1e5  # points times epsilon beyond which STAQ is better at every scale


@dataclass(frozen=True, kw_only=True)
class AimedQuadtree:
    """A quadtree for counts over small squares of one size.

    Three levels are measured: a coarse one, one two levels above the finest, and the finest with most of the budget.
    Squares about as wide as the scale come out about as well as on the best flat grid. Large areas come out worse than
    by STAQ.

    Parameters
    ----------
    scale : float
        Side of the squares, as a share of the domain's sides.
    inference : "half", "belief", "bayes" or "least-squares"
        As for STAQ, and by default the mean of belief propagation and least squares, which may be negative.
    level : int, optional
        Finest level, of ``4**level`` cells; found from the scale and the noisy size if not given. Dense places go
        further.
    first_level : int
        First level that is measured.

    Privacy
    -------
    That of STAQ: the cells of a round are disjoint, cells and rates follow from released values, and the rates along
    every path sum to what the noisy size has left of ε.
    """

    name: ClassVar[str] = "aimed"
    title: ClassVar[str] = "Aimed"
    gist: ClassVar[str] = "cells as fine as small squares of one size need, with most of the budget on the finest"
    examples: ClassVar[Examples] = Examples(
        small={"inference": "least-squares", "first_level": 1, "level": 3},
        large={"inference": "least-squares", "first_level": 4, "level": 6},
    )
    most_cells: ClassVar[int] = Staq.most_cells
    # Fitted on three data sets at epsilon 0.01 to 0.2 and scales of 0.25 to 2 %, for squares about data points.
    fineness: ClassVar[float] = 1.7
    first_share: ClassVar[float] = 0.05
    middle_share: ClassVar[float] = 0.1
    last_step: ClassVar[int] = 2  # levels from the middle one to the finest
    stop_below: ClassVar[float] = 0.5  # signal of a cell that is not divided
    c: ClassVar[float] = 3.0  # as for STAQ, where a cell goes further
    further: ClassVar[int] = 3  # levels, at most
    scale: float = AIM
    inference: AimedInference = "half"
    level: int | None = None
    first_level: int = 3

    def __post_init__(self) -> None:
        check_inference(self.inference, get_args(AimedInference))
        if not 0 < self.scale <= 1:
            msg = f"scale must be a share of the domain's sides, above 0 and at most 1; got scale={self.scale!r}."
            raise ArgumentError(msg, instead={"scale": AIM})
        check_whole(self.first_level, name="first_level", low=0, high=LARGEST_FIRST_LEVEL)
        if self.level is not None:
            check_whole(self.level, name="level", low=self.first_level, high=DEEPEST - 1)

    def release(self, counter: Counter, budget: Budget) -> Synopsis:
        """Publish a quadtree for small squares."""
        tree, measurements, notes = self._measure(counter, budget)
        inference = PUBLISHED.get(self.inference, self.inference)
        return Synopsis.infer(
            tree, measurements, inference=inference, claim=budget.claim(), method=record(self, *notes)
        )

    def finest_level(self, signal: float) -> int:
        """The finest level, by points times epsilon.

        Cells a side are in proportion to the fourth root of the signal, and to one over the root of the scale.

        Examples
        --------
        >>> AimedQuadtree(scale=0.005).finest_level(1e4), AimedQuadtree(scale=0.02).finest_level(1e4)
        (8, 7)
        """
        if self.level is not None:
            return self.level
        side = self.fineness * max(signal, 1) ** 0.25 / math.sqrt(self.scale)
        return min(max(round(math.log2(side)), self.first_level), DEEPEST - 1)

    def _measure(self, counter: Counter, budget: Budget) -> tuple[Tree, Measurements, tuple[str, ...]]:
        """A quadtree, what was measured of it, and notes."""
        survey = Survey(all_cells(counter.domain, self.first_level))
        true_counts = counter.count(survey.live_cells)
        size = max(1, budget.noisy_size(counter))
        most_cells, signal = budget.most_cells(self.most_cells), size * float(budget.epsilon)
        finest, widest = self.finest_level(signal), max(math.floor(math.log(most_cells, 4)), self.first_level)
        middle = min(max(finest - self.last_step, self.first_level), widest)
        paths = budget.paths(Fraction(1), survey.live_cells.cells, purpose="counts")
        levels = [level for level in dict.fromkeys((middle, finest)) if level > self.first_level]
        units = np.full(survey.live_cells.cells, math.floor(UNITS * self.first_share) if levels else UNITS)
        clamped = False
        for level in (*levels, None):
            survey.add(paths.measure(true_counts, units))
            survey.keep(paths.left > 0)
            paths.descend(np.flatnonzero(paths.left))
            if level is None or survey.live_cells.cells == 0:
                break
            decision = self._decide(survey, paths, level, is_last=level == finest, most_cells=most_cells)
            clamped |= decision.clamped
            within = survey.divide(decision.steps)
            paths.descend(within)
            true_counts, units = counter.count(survey.live_cells), decision.units[within]
        notes = (f"cells were divided no further to fit {most_cells:,} of them",) if clamped else ()
        return (*survey.result(), (*self._notes(signal), *notes))

    def _decide(self, survey: Survey, paths: PathBudget, level: int, *, is_last: bool, most_cells: int) -> "Decision":
        """How far each live cell goes down, and its units.

        A cell that stays is measured with all units it has left, and so is the last level.
        """
        estimates, left, levels = survey.frontier.estimates(), paths.left, survey.live_cells.levels
        signals = estimates * (left * float(paths.epsilon(1)))
        target = np.full(len(left), level)
        if is_last:
            target += np.clip(levels + levels_worth(signals, c=self.c) - level, 0, self.further)
        wanted = np.where(signals >= self.stop_below, np.clip(target, levels, DEEPEST - 1) - levels, 0)
        steps = fit_steps(wanted, estimates, room=most_cells - survey.cells)
        units = left if is_last else np.where(steps > 0, math.floor(UNITS * self.middle_share), left)
        return Decision(steps=steps, units=units, clamped=not np.array_equal(steps, wanted))

    def _notes(self, signal: float) -> tuple[str, ...]:
        """What the release is for, and what it is not for."""
        aimed = f"made for counts over squares of {100 * self.scale:.3g} % of the domain's sides; "
        aimed += "counts over large areas have several times the error of staq"
        against = "with so many points for this epsilon, staq is better at every scale"
        return (aimed, against) if signal > MOST_SIGNAL else (aimed,)


@dataclass(frozen=True, kw_only=True, eq=False)
class Decision:
    """Levels each live cell goes down, 0 to 2, and units.

    The cells it is divided into are measured with this many units each.

    Whether fewer cells were divided than wanted is `clamped`.
    """

    steps: Indices
    units: Indices
    clamped: bool = False


def check_inference(inference: str, known: tuple[str, ...]) -> None:
    """Refuse an inference that a method does not have."""
    if inference not in known:
        msg = f"inference must be one of {', '.join(known)}, got inference={inference!r}."
        raise ArgumentError(msg)


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


def fitting_levels(signals: Floats, deepest: Indices, *, c: float, room: int) -> tuple[Indices, float]:
    """Levels worth measuring that there will be room for.

    Also returns their c, the least one from `c` up. A cell that is worth k levels ends in about 3**k cells. Were c left
    as it is where there is no room, cells that are divided early would leave none for the densest ones, which are
    divided longest.

    Parameters
    ----------
    deepest : array of int
        Most levels of each cell.

    Examples
    --------
    >>> signals, deepest = np.array([1.7 * 4**5] * 3), np.full(3, 16)
    >>> fitting_levels(signals, deepest, c=1.7, room=2500)
    (array([5, 5, 5]), 1.7)
    >>> fitting_levels(signals, deepest, c=1.7, room=300)[0]
    array([4, 4, 4])
    """
    while True:
        worth = np.minimum(levels_worth(signals, c=c), deepest)
        if np.bincount(worth, minlength=MOST_LEVELS + 1) @ EXPECTED_CELLS <= room:
            return worth, c
        c *= LARGER_C


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
