"""Groups of rows that readers can skip by place.

Leaves keep their order, and a group has a run of them. Where to cut is chosen from their bounds alone, for every kind
of partition. Slices share groups: a group has a few slices and one part of the map, so that readers skip by slice, and
by place.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from hushgrid.arrays import Floats, Indices
from hushgrid.geometry.partition import Partition

ROWS_PER_GROUP = 2**15  # at most: readers of a small place skip more where groups are smaller
LEAST_ROWS = 10_000  # in a group of slices, on average: smaller ones cost readers more than they let them skip
ROWS_TOGETHER = 2**16  # enough slices to share groups, however these lie
WORTH_CUTTING = 0.8  # at most, of what readers of a small place read without a cut
BLOCKS = 2**18  # of leaves, at most, that a partition is cut between, so that memory does not grow with it
ROWS_AT_ONCE = 2**16  # whose bounds are in memory
NOWHERE = np.array([np.inf, np.inf, -np.inf, -np.inf])


@dataclass(frozen=True, eq=False)
class Run:
    """Consecutive leaves of one partition, in blocks.

    Parameters
    ----------
    number : int
        Which partition.
    edges : array of int, shape (blocks + 1,)
        The first leaf of each block, and the leaf after the last.
    boxes : array of float, shape (blocks, 4)
        Bounds of each block.
    """

    number: int
    edges: Indices
    boxes: Floats

    @property
    def first(self) -> int:
        """The first leaf."""
        return int(self.edges[0])

    @property
    def stop(self) -> int:
        """The leaf after the last."""
        return int(self.edges[-1])

    @property
    def rows(self) -> int:
        """How many leaves there are."""
        return self.stop - self.first

    def cut(self, block: int) -> tuple["Run", "Run"]:
        """The blocks before one, and the others."""
        return (
            Run(self.number, self.edges[: block + 1], self.boxes[:block]),
            Run(self.number, self.edges[block:], self.boxes[block:]),
        )


def groups_by_place(partitions: Sequence[Partition]) -> Iterator[list[Run]]:
    """Leaves of one partition or of several, in groups of rows.

    Each group has runs of some partitions, in their order. All runs of a partition, taken in the order of the groups,
    have its leaves in order.

    Parameters
    ----------
    partitions : sequence of Partition
        That of one release, or of each slice.

    Examples
    --------
    >>> from hushgrid.geometry.domain import Domain
    >>> from hushgrid.geometry.grid import Grid
    >>> grid = Grid(domain=Domain(west=0, south=0, east=1, north=1), rows=300, columns=200)
    >>> [[(run.first, run.stop) for run in group] for group in groups_by_place([grid])]
    [[(0, 30000)], [(30000, 60000)]]
    """
    rows = sum(partition.cells for partition in partitions)
    for runs in _sharing(partitions, rows):
        # Slices that share groups have two at least: one would lie on the whole map, between those of single places.
        parts = [runs] if rows <= ROWS_PER_GROUP else _halves(runs)
        for part in parts:
            yield from _divided(part)


def _sharing(partitions: Sequence[Partition], rows: int) -> Iterator[list[Run]]:
    """Leaves of partitions that share groups.

    They are as few as make good groups; in a small file, all of them.
    """
    runs: list[Run] = []
    for number, partition in enumerate(partitions):
        runs.append(_run_of(partition, number))
        rows -= partition.cells
        if rows == 0 or (rows >= 2 * LEAST_ROWS and _are_enough(runs)):
            yield runs
            runs = []


def _are_enough(runs: list[Run]) -> bool:
    """Whether slices fill groups that lie apart.

    Where slices have different grids, their groups overlap a little. Then more slices make groups of smaller places.
    """
    rows = _rows_of(runs)
    return rows > ROWS_TOGETHER or (rows >= 2 * LEAST_ROWS and _are_apart(*_halves(runs)))


def _run_of(partition: Partition, number: int) -> Run:
    """All leaves of a partition."""
    size = -(-partition.cells // BLOCKS)
    step = ROWS_AT_ONCE // size * size
    boxes = [
        _around_each(partition.bounds(first, min(first + step, partition.cells)), size)
        for first in range(0, partition.cells, step)
    ]
    edges = np.append(np.arange(0, partition.cells, size), partition.cells)
    return Run(number, edges, np.concatenate(boxes))


def _around_each(bounds: Floats, size: int) -> Floats:
    """Boxes around blocks of so many leaves."""
    starts = np.arange(0, len(bounds), size)
    low, high = np.minimum.reduceat(bounds[:, :2], starts), np.maximum.reduceat(bounds[:, 2:], starts)
    return np.concatenate([low, high], axis=1)


def _divided(runs: list[Run]) -> Iterator[list[Run]]:
    """Runs cut again and again until they fit into groups."""
    if _rows_of(runs) <= ROWS_PER_GROUP:
        yield runs
        return
    for half in _halves(runs):
        yield from _divided(half)


def _halves(runs: list[Run]) -> tuple[list[Run], list[Run]]:
    """Runs cut in two, at a place if that is worth it.

    Areas may be in no order of place. Then half of the slices are in each half, or half of the leaves of one.
    """
    if any(len(run.boxes) > 1 for run in runs):
        halves = _halves_by_place(runs)
        if sum(map(_cost, halves)) <= WORTH_CUTTING * _cost(runs):
            return halves
    if len(runs) > 1:
        return runs[: len(runs) // 2], runs[len(runs) // 2 :]
    before, after = runs[0].cut(len(runs[0].boxes) // 2)
    return [before], [after]


def _rows_of(runs: list[Run]) -> int:
    return sum(run.rows for run in runs)


def _cost(runs: list[Run]) -> float:
    """Rows of a group times its area.

    That is what readers of a small place read of it.
    """
    return float(_rows_of(runs) * _areas(_around(runs)[None])[0])


def _around(runs: list[Run]) -> Floats:
    """The box around runs."""
    boxes = np.concatenate([run.boxes for run in runs])
    return np.concatenate([boxes[:, :2].min(axis=0), boxes[:, 2:].max(axis=0)])


def _halves_by_place(runs: list[Run]) -> tuple[list[Run], list[Run]]:
    """Runs cut in two, so that readers of a small place read few rows.

    A place lies in a group as often as the group's box is large, so that rows times areas are to be few. The longest
    run is cut first, and others follow it, some into one half alone.
    """
    longest = max(runs, key=lambda run: len(run.boxes))
    before, after = NOWHERE, NOWHERE
    cuts = {}
    for run in (longest, *(run for run in runs if run is not longest)):
        befores = _united(before, _growing(run.boxes))
        afters = _united(after, _growing(run.boxes[::-1])[::-1])
        rows = run.edges - run.first
        inner = slice(1, -1) if run is longest else slice(None)
        costs = rows[inner] * _areas(befores[inner]) + (run.rows - rows[inner]) * _areas(afters[inner])
        cut = int(np.argmin(costs)) + (inner.start or 0)
        before, after = befores[cut], afters[cut]
        cuts[run.number] = run.cut(cut)
    first, second = ([cuts[run.number][half] for run in runs] for half in (0, 1))
    return [run for run in first if run.rows], [run for run in second if run.rows]


def _are_apart(some: list[Run], others: list[Run]) -> bool:
    """Whether the boxes around runs have at most a border in common."""
    one, other = _around(some), _around(others)
    return bool(np.any(np.minimum(one[2:], other[2:]) <= np.maximum(one[:2], other[:2])))


def _growing(boxes: Floats) -> Floats:
    """Boxes around no block, around the first, around the first two, and so on."""
    low, high = np.minimum.accumulate(boxes[:, :2]), np.maximum.accumulate(boxes[:, 2:])
    return np.concatenate([NOWHERE[None], np.concatenate([low, high], axis=1)])


def _united(box: Floats, boxes: Floats) -> Floats:
    """Boxes around one box and each of some."""
    return np.concatenate([np.minimum(box[:2], boxes[:, :2]), np.maximum(box[2:], boxes[:, 2:])], axis=1)


def _areas(boxes: Floats) -> Floats:
    areas: Floats = (boxes[:, 2] - boxes[:, 0]) * (boxes[:, 3] - boxes[:, 1])
    return areas
