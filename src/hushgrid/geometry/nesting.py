"""Areas in levels, such as counties in states."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hushgrid.arrays import Indices
from hushgrid.errors import ArgumentError
from hushgrid.geometry.branches import Branches

PATH = " / "  # between an area and what it lies in, where its name alone is not enough


@dataclass(frozen=True, kw_only=True, eq=False)
class AreaLevel:
    """Coarser areas, each a run of the finest ones.

    Parameters
    ----------
    name : str
        What the level is called.
    names : tuple of str
        What its areas are called; no two alike.
    starts : array of int, shape (areas + 1,)
        First of the finest areas in each, and the end.

    Examples
    --------
    >>> AreaLevel(name="state", names=("Ohio", "Utah"), starts=np.array([0, 88, 117])).sums(np.ones(117))
    array([88., 29.])
    """

    name: str
    names: tuple[str, ...]
    starts: Indices

    def __post_init__(self) -> None:
        starts = np.array(self.starts, np.int64)
        starts.flags.writeable = False
        object.__setattr__(self, "starts", starts)

    def sums(self, values: NDArray[Any]) -> NDArray[Any]:
        """Sums of values of the finest areas over these."""
        return np.asarray(np.add.reduceat(values, self.starts[:-1]))

    @property
    def shape(self) -> dict[str, Any]:
        """Name of the level, names of its areas, and how many parts each has."""
        return {"name": self.name, "names": list(self.names), "parts": np.diff(self.starts).tolist()}


def check_levels(levels: Sequence[AreaLevel], finest: str, cells: int) -> None:
    """Refuse levels that do not lie one in another."""
    called = [*(level.name for level in levels), finest]
    if len(set(called)) < len(called) or not all(name.strip() for name in called):
        msg = f"levels need names that tell them apart, got {', '.join(called)}."
        raise ArgumentError(msg)
    borders = set(range(cells + 1))
    for level in reversed(levels):
        starts = level.starts
        good = len(starts) == len(level.names) + 1 > 1 and starts[0] == 0 and starts[-1] == cells
        if not good or not (np.diff(starts) > 0).all() or not borders.issuperset(starts.tolist()):
            msg = f"the areas of level {level.name!r} are not made of whole areas of the next level."
            raise ArgumentError(msg)
        if len(set(level.names)) < len(level.names) or not all(name.strip() for name in level.names):
            msg = f"the areas of level {level.name!r} need names that tell them apart."
            raise ArgumentError(msg)
        borders = set(starts.tolist())


def branches_of(levels: Sequence[AreaLevel], cells: int) -> Branches:
    """The tree of areas in levels, below a root.

    An area with one part is one node with that part: both are the same points.

    Examples
    --------
    >>> level = AreaLevel(name="state", names=("Ohio", "D.C."), starts=np.array([0, 2, 3]))
    >>> branches_of([level], 3).child_counts
    array([2, 2, 0, 0, 0])
    """
    edges = [level.starts for level in levels] + [np.arange(cells + 1)]
    counts, runs = [], [(0, cells)]
    while runs:
        below = [_parts(edges, first, stop) for first, stop in runs]
        counts += [len(parts) for parts in below]
        runs = [part for parts in below for part in parts]
    return Branches(np.array(counts, np.int64))


def _parts(edges: Sequence[Indices], first: int, stop: int) -> list[tuple[int, int]]:
    """Runs of the coarsest level that divides a run."""
    if stop - first == 1:
        return []
    inside = (starts[np.searchsorted(starts, first) : np.searchsorted(starts, stop) + 1] for starts in edges)
    return list(pairwise(next(each.tolist() for each in inside if len(each) > 2)))  # a border inside


@dataclass(frozen=True, kw_only=True, eq=False)
class Nesting:
    """Names of areas, put in an order in which levels are runs.

    Parameters
    ----------
    order : array of int, shape (areas,)
        Features in that order: those of one area of a level together, and else as they came.
    names : tuple of str
        What the finest areas are called, in that order.
    levels : tuple of AreaLevel
        The coarser levels, the coarsest first.
    """

    order: Indices
    names: tuple[str, ...]
    levels: tuple[AreaLevel, ...]

    @classmethod
    def of(cls, names: Sequence[str], coarser: Mapping[str, Sequence[str]], keys: Sequence[str] = ()) -> "Nesting":
        """Nest areas by what each one lies in, the coarsest level first.

        `keys` tell apart areas of one name that lie in the same.

        Examples
        --------
        >>> nesting = Nesting.of(["Kent", "Clay", "Kent"], {"state": ["Delaware", "Texas", "Texas"]})
        >>> nesting.names, nesting.levels[0].names
        (('Delaware / Kent', 'Texas / Clay', 'Texas / Kent'), ('Delaware', 'Texas'))
        """
        columns = {level: list(values) for level, values in coarser.items()}
        _check_parents(columns)
        numbers = [_by_appearance(values) for values in columns.values()]
        order = np.lexsort((np.arange(len(names)), *reversed(numbers)))
        levels = tuple(
            AreaLevel(
                name=level,
                names=tuple(dict.fromkeys(values[number] for number in order.tolist())),
                starts=np.append(np.flatnonzero(np.diff(each[order], prepend=-1)), len(names)),
            )
            for (level, values), each in zip(columns.items(), numbers, strict=True)
        )
        called = _told_apart(names, [*columns.values()][-1], keys) if columns else list(names)
        return cls(order=order, names=tuple(called[number] for number in order.tolist()), levels=levels)


def _told_apart(names: Sequence[str], parents: Sequence[str], keys: Sequence[str]) -> list[str]:
    """Names with what areas lie in, and their keys, as far as it takes.

    Examples
    --------
    >>> _told_apart(["Kent", "Kent", "Clay"], ["Ohio", "Ohio", "Utah"], ["1", "2", "3"])
    ['Ohio / Kent (1)', 'Ohio / Kent (2)', 'Utah / Clay']
    """
    if len(set(names)) == len(names):
        return list(names)
    paths = [f"{parent}{PATH}{name}" for parent, name in zip(parents, names, strict=True)]
    if not keys:
        return paths
    times = Counter(paths)
    return [f"{path} ({key})" if times[path] > 1 else path for path, key in zip(paths, keys, strict=True)]


def _by_appearance(values: Sequence[str]) -> Indices:
    """A number for each value, by where it came first."""
    numbers = {value: number for number, value in enumerate(dict.fromkeys(values))}
    return np.array([numbers[value] for value in values], np.int64)


def _check_parents(columns: Mapping[str, Sequence[str]]) -> None:
    """Refuse an area of a level that lies in two of the level above."""
    for (above, parents), (level, values) in pairwise(columns.items()):
        first: dict[str, int] = {}
        for number, value in enumerate(values):
            other = first.setdefault(value, number)
            if parents[other] != parents[number]:
                msg = f"{level} {value!r} lies in {above} {parents[other]!r} by feature {other}, and in "
                msg += f"{parents[number]!r} by feature {number}. Give the two of them names of their own, or leave "
                msg += f"out the level {above!r}."
                raise ArgumentError(msg)
