"""Named areas of a release: their table, and sums of them."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import fields, replace
from difflib import get_close_matches
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from hushgrid.arrays import Floats, Indices
from hushgrid.errors import ArgumentError, quoted
from hushgrid.geometry.areas import AreaPartition
from hushgrid.geometry.nesting import PATH, AreaLevel
from hushgrid.inference.least_squares import nodes_of_runs
from hushgrid.inference.noise_law import NoiseLaw
from hushgrid.synopsis.answer import Answer, answer_of_noise
from hushgrid.synopsis.whole import whole_numbers

if TYPE_CHECKING:
    from hushgrid.synopsis.synopsis import Synopsis


class Districts:
    """The named areas of a release, level by level.

    Every estimate is a sum of noisy counts whose law is known, so that intervals need no model.
    """

    def __init__(self, synopsis: "Synopsis") -> None:
        partition = synopsis.partition
        if not isinstance(partition, AreaPartition):
            msg = f"a release on {partition.words} has no named areas. Ask it about districts by answer_polygons(...), "
            msg += "or publish with method=hg.Areas(polygons)."
            raise ArgumentError(msg)
        self._partition = partition
        self._counts = synopsis.counts / synopsis.factor
        self._factor = synopsis.factor
        self._known = synopsis.evidence.nodes
        self._noise = NoiseLaw(self._known, synopsis.measurements)

    def table(self, level: str | None = None, *, whole: bool = False, confidence: float = 0.95) -> pa.Table:
        """The areas of a level, in the order of their file."""
        names, answer = self.answers(level, whole=whole, confidence=confidence)
        columns = {name: getattr(answer, name) for name in ("estimate", "low", "high", "usable")}
        return pa.table({"name": names, **columns})

    def answers(
        self, level: str | None = None, *, whole: bool = False, confidence: float = 0.95
    ) -> tuple[list[str], Answer]:
        """Names of the areas of a level, and what is known of each."""
        areas = self._partition.level_called(level)
        answer = self._answer(areas, confidence)
        if whole:
            answer = replace(answer, estimate=self._whole[self._nodes(areas)])  # type: ignore[arg-type]  # whole numbers
        order = self._partition.file_order(areas)
        in_order = {field.name: getattr(answer, field.name)[order] for field in fields(answer)}
        return [areas.names[number] for number in order.tolist()], Answer(**in_order)

    def _answer(self, areas: AreaLevel, confidence: float) -> Answer:
        """Each area of a level, with its interval."""
        return self._with_interval(areas.sums(self._counts), *self.noise(areas), confidence)

    def noise(self, areas: AreaLevel) -> tuple[Floats, Floats]:
        """Variance and fourth cumulant of the noise in each area of a level.

        That is before counts are scaled.
        """
        nodes = self._nodes(areas)
        return self._noise.of_nodes(2)[nodes], self._noise.of_nodes(4)[nodes]

    def cumulants(self, level: str | None = None) -> tuple[Floats, Floats, Floats]:
        """Counts, variances and fourth cumulants of a level's areas.

        Areas come in the order of their file.
        """
        areas = self._partition.level_called(level)
        order, factor, (variances, fourths) = self._partition.file_order(areas), self._factor, self.noise(areas)
        counts = factor * areas.sums(self._counts)
        return counts[order], factor**2 * variances[order], factor**4 * fourths[order]

    @property
    def noise_of_all(self) -> float:
        """Noise variance of the sum of all areas, before it is scaled."""
        variance, _ = self._noise.of_sum(np.ones(self._partition.cells))
        return float(variance)

    def total_of(self, names: Sequence[str], *, level: str | None = None, confidence: float = 0.95) -> Answer:
        """The sum over some areas, of any levels."""
        taken: dict[int, str] = {}
        levels = self._partition.all_levels if level is None else [self._partition.level_called(level)]
        areas = [(each, number, called) for each in levels for number, called in enumerate(each.names)]
        by_name = defaultdict(list)
        for named in areas:
            by_name[named[2]].append(named)
        for name in names:
            found = by_name.get(name) or [named for named in areas if _is_short_for(name, named[2])]
            for area in range(*_run(name, found, areas)):
                if area in taken:
                    msg = f"{quoted(self._partition.names[area])} would be counted twice: it lies in "
                    msg += f"{quoted(taken[area])} and in {quoted(name)}. Leave one of them out."
                    raise ArgumentError(msg)
                taken[area] = name
        weights = np.zeros(self._partition.cells)
        weights[list(taken)] = 1
        return self._sum(weights, confidence)

    def total_of_all(self, confidence: float = 0.95) -> Answer:
        """The sum over all areas."""
        return self._sum(np.ones(self._partition.cells), confidence)

    def cumulants_of_all(self) -> tuple[Floats, Floats, Floats]:
        """The sum over all areas, its variance and fourth cumulant, shape (1,) each."""
        variance, fourth = (np.array([each]) for each in self._noise.of_sum(np.ones(self._partition.cells)))
        return np.array([self._factor * self._counts.sum()]), self._factor**2 * variance, self._factor**4 * fourth

    def _sum(self, weights: Floats, confidence: float) -> Answer:
        variance, fourth = (np.array([each]) for each in self._noise.of_sum(weights))
        return self._with_interval(np.array([weights @ self._counts]), variance, fourth, confidence).scalar()

    def _with_interval(self, counts: Floats, variances: Floats, fourths: Floats, confidence: float) -> Answer:
        factor = self._factor
        return answer_of_noise(factor * counts, factor**2 * variances, factor**4 * fourths, confidence)

    def _nodes(self, areas: AreaLevel) -> Indices:
        """The node of each area; one with a single part is that part's."""
        return nodes_of_runs(self._known.tree, areas.starts[:-1], areas.starts[1:])

    @cached_property
    def _whole(self) -> Indices:
        return whole_numbers(self._known.tree, self._factor * self._known.counts, self._known.below_variances)


Named = tuple[AreaLevel, int, str]  # an area of a level by its number, and its name


def _run(name: str, found: Sequence[Named], areas: Sequence[Named]) -> tuple[int, int]:
    """The finest areas inside the one that was found, half-open."""
    if len(found) > 1:
        choices = " or ".join(f"{called!r} of level {level.name}" for level, _, called in found[:4])
        msg = f"several areas are called {quoted(name)}: {choices}. Give the whole name, or its level."
        raise ArgumentError(msg)
    if not found:
        own_names = [called.rpartition(PATH)[2] for *_, called in areas]
        near = get_close_matches(name.rpartition(PATH)[2], own_names, n=1)
        hint = " or ".join(repr(called) for *_, called in areas if called.rpartition(PATH)[2] in near)
        msg = f"the release has no area called {quoted(name)}." + (f" Did you mean {hint}?" if hint else "")
        raise ArgumentError(msg)
    level, number, _ = found[0]
    return int(level.starts[number]), int(level.starts[number + 1])


def _is_short_for(name: str, called: str) -> bool:
    """Whether a name leaves out what an area lies in, or its key.

    Examples
    --------
    >>> _is_short_for("Kent", "Ohio / Kent (39151)"), _is_short_for("Kent", "Kentucky")
    (True, False)
    """
    own = called.rpartition(PATH)[2]
    return bool(name) and name in (own, own.rpartition(" (")[0], called.rpartition(" (")[0])
