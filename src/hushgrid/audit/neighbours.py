"""Made-up data sets that differ by one record or user.

The record-level sets cross, one record at a time, every threshold that a method may have: a size on a rounding edge, a
cell on the edge of being divided, a stack of duplicates, two medians a record apart. The user-level sets add one user
who has far more records than count, on one spot, all over the map and over all files.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from hushgrid.geometry.domain import Domain

UNIT_SQUARE = Domain(west=0, south=0, east=1, north=1)
PLASTIC = 1.32471795724474602596  # x**3 = x + 1; its powers fill the plane evenly (Roberts 2018, sequence R2)
SPOT, FAR, CORNER, OUTSIDE = (0.1, 0.1), (0.9, 0.9), (1.0, 1.0), (7.0, 7.0)
NOWHERE = (float("nan"), 0.5)
RISING = 16  # records added one by one on one spot, whose cell rises from among the emptiest to the fullest
MOST_PER_USER, CAP = 3, 30  # K, and B for a private total: ten times K
HEAVY = 64  # records of a user who has far more than either


@dataclass(frozen=True, eq=False)
class Records:
    """Points, and whose they are."""

    points: NDArray[np.float64]
    users: tuple[str | None, ...] | None = None

    def plus(self, other: "Records") -> "Records":
        """These records and others."""
        users = None if self.users is None else self.users + (other.users or ())
        return Records(np.concatenate([self.points, other.points]), users)

    def turned(self) -> "Records":
        """The same records in another order."""
        order = np.argsort(np.arange(len(self.points)) * PLASTIC % 1, kind="stable")[::-1]
        users = None if self.users is None else tuple(self.users[index] for index in order)
        return Records(self.points[order], users)


class Pair(NamedTuple):
    """Two data sets by name.

    `same` says that they hold the same records in another order.
    """

    first: str
    second: str
    same: bool = False


@dataclass(frozen=True, kw_only=True, eq=False)
class Family:
    """Data sets by name, and which are neighbours.

    Draws are recorded on those named in `recorded`.
    """

    sets: dict[str, Records]
    pairs: tuple[Pair, ...]
    recorded: tuple[str, ...]

    def some(self) -> "Family":
        """The family without sets that grow record by record.

        This is for slow ways in.
        """
        return self._only([name for name in self.sets if not name.startswith("rising") or name == "rising 1"])

    def few(self) -> "Family":
        """One pair of neighbours and two other sets.

        This is for engines that take seconds.
        """
        pair = next(pair for pair in self.pairs if pair.first == self.start)
        odd = next(name for name in self.sets if name.endswith(ODD))
        return self._only([pair.first, pair.second, self.recorded[1], odd])

    @property
    def start(self) -> str:
        """The set that most neighbours come from."""
        return self.recorded[0]

    def _only(self, names: list[str]) -> "Family":
        pairs = tuple(pair for pair in self.pairs if pair.first in names and pair.second in names)
        recorded = tuple(name for name in self.recorded if name in names)
        return Family(sets={name: self.sets[name] for name in names}, pairs=pairs, recorded=recorded)


def even_points(count: int) -> NDArray[np.float64]:
    """Points that fill a square evenly."""
    steps = np.outer(np.arange(1, count + 1), [1 / PLASTIC, 1 / PLASTIC**2]) % 1
    return np.asarray(steps)


def heap(place: Sequence[float], count: int) -> NDArray[np.float64]:
    """A number of points on one spot."""
    return np.tile(np.array(place, np.float64), (count, 1)).reshape(-1, 2)


ODD = "odd numbers"  # the end of the names of sets that hold them


@cache
def odd_points() -> NDArray[np.float64]:
    """Points of numbers that stop a careless reader: of either coordinate, and of both."""
    tiny, beside = (5e-324, 2.3e-308, 1e-45, -5e-324, -0.0), (np.nextafter(1, 0), np.nextafter(1, 2))
    no_numbers = np.array([0x7FF4000000000001, 0xFFF8000000000000], np.uint64).view(np.float64)  # the first signals
    odd = np.array([*tiny, *beside, 1e15, 2.0**63, -(2.0**63), 1e39, 1.7e308, -1.7e308, np.inf, -np.inf, *no_numbers])
    plain = np.full(len(odd), 0.3)
    return np.concatenate([np.stack(pair, axis=1) for pair in ((odd, plain), (plain, odd), (odd, odd))])


# Public knowledge about where people may be: the same whatever the records are, and right enough to be believed.
KNOWN_SPOTS = {(0.9, 0.2): 200, (0.7, 0.3): 90, (0.6, 0.8): 90, (0.33, 0.62): 40, SPOT: 20, (0.41, 0.57): 20}
PUBLIC = np.concatenate([even_points(200), *(heap(place, count) for place, count in KNOWN_SPOTS.items())])


@cache
def record_family() -> Family:
    """Sets that grow record by record, and others."""
    crowd = np.concatenate(
        [even_points(30), heap((0.9, 0.2), 20), heap((0.7, 0.3), 9), heap((0.6, 0.8), 9), heap((0.33, 0.62), 4)]
    )
    balanced = np.array([[x, y] for x in (0.1, 0.3, 0.7, 0.9) for y in (0.1, 0.3, 0.7, 0.9)])
    base = {
        "empty": np.empty((0, 2)),
        "crowd": crowd,
        "mirrored": 1 - crowd,
        "dense": np.concatenate([even_points(700), heap((0.41, 0.57), 300)]),
        "balanced": balanced,
        "twins": np.concatenate([heap((0.497, 0.497), 60), heap((0.503, 0.503), 60)]),  # all other cuts are far worse
        "stack": heap(SPOT, 25),
        **{f"rising {n}": np.concatenate([crowd, heap(SPOT, n)]) for n in range(1, RISING + 1)},
    }
    pairs = [Pair("crowd", "rising 1"), *(Pair(f"rising {n}", f"rising {n + 1}") for n in range(1, RISING))]
    more = {"spot": SPOT, "far": FAR, "corner": CORNER, "outside": OUTSIDE, "nowhere": NOWHERE, "edge": (0.02, 0.4)}
    for start, places in {
        "empty": ("spot", "corner"),
        "crowd": ("far", "corner", "outside", "nowhere"),
        "balanced": ("edge", "spot"),
        "twins": ("edge",),
        "stack": ("spot",),
        "dense": ("far",),
    }.items():
        for place in places:
            name = f"{start} and {place}"
            base[name] = np.concatenate([base[start], heap(more[place], 1)])
            pairs.append(Pair(start, name))
    base[f"crowd and {ODD}"] = np.concatenate([crowd, odd_points()])
    sets = {name: Records(points) for name, points in base.items()}
    sets["crowd, reordered"] = sets["crowd"].turned()
    pairs.append(Pair("crowd", "crowd, reordered", same=True))
    return Family(sets=sets, pairs=tuple(pairs), recorded=("crowd", "dense", "empty", "twins"))


@cache
def user_family() -> Family:
    """A crowd of users, with and without one more.

    The others have a few records each; the one may have any number.
    """
    places = even_points(48)
    crowd = Records(places, tuple(f"user {n % 20}" for n in range(len(places))))
    everywhere = np.array([[x, y] for x in np.arange(8) / 8 + 0.02 for y in np.arange(8) / 8 + 0.02])
    more = {
        "nobody": Records(np.empty((0, 2)), ()),
        "one record": _of("eve", heap(SPOT, 1)),
        "records outside": _of("eve", heap(OUTSIDE, HEAVY)),
        "no id": Records(heap(SPOT, 1), (None,)),
        "a heap": _of("eve", heap(SPOT, HEAVY)),
        "records everywhere": _of("eve", everywhere),
        ODD: _of("eve", odd_points()),
    }
    sets = {f"crowd and {name}": crowd.plus(records) for name, records in more.items()}
    sets["empty"] = Records(np.empty((0, 2)), ())
    sets["eve alone"] = more["records everywhere"]
    sets["many"] = Records(even_points(300), tuple(f"user {n % 7}" for n in range(300)))
    start = "crowd and nobody"
    pairs = [Pair(start, f"crowd and {name}") for name in reversed(more) if name != "nobody"]
    pairs.append(Pair("empty", "eve alone"))
    for name in ("crowd and records everywhere", "many"):
        sets[f"{name}, reordered"] = sets[name].turned()
        pairs.append(Pair(name, f"{name}, reordered", same=True))
    return Family(sets=sets, pairs=tuple(pairs), recorded=(start, "many"))


def _of(user: str, points: NDArray[np.float64]) -> Records:
    return Records(points, (user,) * len(points))
