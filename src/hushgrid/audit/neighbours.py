"""Data sets that differ by one person, published again and again and told apart as well as an attacker could.

Each flaw that a build may have shows best on neighbours of its own: a size on a rounding edge of the grid's side, a
cell on the edge of being divided, records stacked on one spot, an empty spot, a user with far more records than count.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hushgrid.audit.binomial import lower_bound, upper_bound
from hushgrid.audit.check import Check, Experiment, Setting, Verdict
from hushgrid.audit.estimator import FEWEST_RUNS, EpsilonBound, epsilon_lower_bound
from hushgrid.audit.examples import SMALL
from hushgrid.audit.view import VIEWS, WIDTH, Place, view
from hushgrid.geometry.domain import Domain
from hushgrid.geometry.guidelines import leaf_sides
from hushgrid.methods.adaptive_grid import AdaptiveGrid
from hushgrid.methods.hb import OptimalHierarchy
from hushgrid.methods.hierarchy import Hierarchy
from hushgrid.methods.method import Method
from hushgrid.methods.privlet import Privlet
from hushgrid.methods.quadtree import Quadtree
from hushgrid.methods.uniform_grid import UniformGrid
from hushgrid.publish import publish
from hushgrid.synopsis.synopsis import Synopsis

UNIT_SQUARE = Domain(west=0, south=0, east=1, north=1)
SPOT = Place(0.1, 0.1)  # of the record that one data set has more
FAR = Place(0.9, 0.9)
CROWD = (Place(0.2, 0.2, 10), Place(0.11, 0.16, 10), Place(0.7, 0.3, 10), Place(0.6, 0.8, 10))
HALF = Fraction(1, 2)

# Runs relative to those asked for: more where a release is quick, and noise a fifth too small is to show.
LENGTHS = {"ug": 24.0, "uniform": 4.0, "identity": 2.0, "ag": 2.0, "privlet": 1.0}
USUAL_LENGTH = 0.6
SIZED: Mapping[str, Method] = {
    "ug": UniformGrid(),
    "ag": AdaptiveGrid(c=0.05),  # leaves the smallest side of 10 at a few hundred records
    "quadtree": Quadtree(),
    "hierarchy": Hierarchy(),
    "hb": OptimalHierarchy(),
    "privlet": Privlet(),
}
MOST_PER_USER, USERS = 3, 8
PILOT_RUNS = 40
LARGEST_SIZE = 2**18


@dataclass(frozen=True, kw_only=True)
class Neighbours:
    """Two data sets, a method to publish them with, and how often.

    Parameters
    ----------
    title : str
    method : Method
    places : tuple of Place
        The first data set.
    more : tuple of Place
        What the second has more: one record, or all those of one user.
    length : float
        Runs relative to those asked for.
    arguments : mapping
        Of `publish`, besides.
    """

    title: str
    method: Method
    places: tuple[Place, ...]
    more: tuple[Place, ...] = (SPOT,)
    length: float = USUAL_LENGTH
    arguments: Mapping[str, Any] = field(default_factory=dict)

    def views(self, setting: Setting, *, neighbour: bool) -> NDArray[np.float64]:
        """What an attacker sees in each of many releases of one of the data sets, shape (runs, views)."""
        places = self.places + (self.more if neighbour else ())
        runs = max(FEWEST_RUNS, round(setting.runs * self.length))
        releases = publications(places, runs, setting.epsilon, self.method, rng=setting.rng, **self.arguments)
        return np.array([view(release, self.places, self.more[0]) for release in releases], np.float64)

    def check(self, setting: Setting, error: float) -> Check:
        """Whether releases of the two differ by more than is promised."""
        samples = [self.views(setting, neighbour=neighbour) for neighbour in (False, True)]
        bound = epsilon_lower_bound(*samples, confidence=1 - error)
        claim = float(setting.epsilon)
        result = partial(
            Check,
            part="neighbours",
            title=self.title,
            method=self.method.name,
            runs=sum(map(len, samples)),
            claim=claim,
        )
        reach = largest_bound(len(samples[0]), error=error)
        if reach <= claim:
            finding = f"Too few runs: they could show no more than {reach:.2f}. Ask for more with --runs."
            return result(verdict=Verdict.NOT_APPLICABLE, finding=finding)
        flagged = bound.epsilon > claim
        return result(
            verdict=Verdict.FLAGGED if flagged else Verdict.PASSED,
            measured=bound.epsilon,
            finding=f"{_in_words(bound, samples, flagged=flagged)} These runs could show up to {reach:.2g}.",
        )


def experiments(setting: Setting) -> Iterator[Experiment]:
    """All pairs of neighbours for the methods asked for."""
    for neighbours in pairs(setting):
        yield Experiment(title=neighbours.title, statistical=True, run=partial(neighbours.check, setting))


def pairs(setting: Setting) -> Iterator[Neighbours]:
    """Neighbours for each kind of flaw."""
    for name in setting.methods:
        method, length = SMALL[name], LENGTHS.get(name, USUAL_LENGTH)
        yield Neighbours(title="A record in an empty spot", method=method, places=(FAR,), length=length)
        stacked = (SPOT._replace(times=25), FAR)
        yield Neighbours(
            title="A record on a stack of others", method=method, places=stacked, length=min(length, 2) / 2
        )
        if name in SIZED:
            yield on_a_size_edge(SIZED[name], setting)
    if "ug" in setting.methods:
        yield Neighbours(title="A record in a crowd", method=SMALL["ug"], places=CROWD, length=1.0)
    if "ag" in setting.methods:
        yield on_a_cell_edge(setting.epsilon)
    if "staq" in setting.methods:
        yield on_a_split_edge(setting)
    yield from heavy_users()


def on_a_size_edge(method: Method, setting: Setting) -> Neighbours:
    """As many records as one more of which would change the grid, if the true number sized it."""
    structure = partial(_public_structure, method, HALF * setting.epsilon)
    edge = last_before_a_change(structure)
    return Neighbours(
        title="The number of records on a rounding edge of the grid",
        method=method,
        places=(FAR._replace(times=edge),),
        arguments={"size_share": HALF, "size_from": "domain"},
    )


def on_a_cell_edge(epsilon: Fraction) -> Neighbours:
    """One cell of as many records as one more of which would divide it, if the true number decided."""
    edge = last_before_a_change(lambda size: int(leaf_sides(np.array([size]), HALF * epsilon)[0]))
    return Neighbours(
        title="A first-level count on the edge of a finer second level",
        method=AdaptiveGrid(first_side=1),
        places=(SPOT._replace(times=edge),),
        length=1.0,
    )


def on_a_split_edge(setting: Setting) -> Neighbours:
    """Records on one spot, so many that the cell around them is divided about every other time."""
    method, arguments = SMALL["staq"], {"public_size": 100}

    def is_mostly_divided(size: int) -> bool:
        places = (SPOT._replace(times=size),)
        releases = publications(places, PILOT_RUNS, setting.epsilon, method, rng=setting.rng, **arguments)
        widths = [view(release, places, SPOT)[VIEWS.index(WIDTH)] for release in releases]
        return 2 * sum(width < max(widths) for width in widths) > PILOT_RUNS or max(widths) < HALF

    edge = last_before_a_change(is_mostly_divided)
    return Neighbours(
        title="A cell on the edge of being divided",
        method=method,
        places=(SPOT._replace(times=edge),),
        arguments=arguments,
    )


def heavy_users() -> Iterator[Neighbours]:
    """A user with twenty times the records that count, in one spot and all over the map; the same for every method."""
    crowd = tuple(Place(0.05 + 0.9 * n / 40, 0.55, user=f"user {n % USERS}") for n in range(40))
    sides = np.arange(8) / 8 + 0.02
    spots = (SPOT._replace(times=60, user="eve"),), tuple(Place(x, y, user="eve") for x in sides for y in sides)
    for where, more in zip(("in one spot", "all over the map"), spots, strict=True):
        yield Neighbours(
            title=f"A user with far more records than count, {where}",
            method=UniformGrid(side=4),
            places=crowd,
            more=more,
            arguments={"max_per_user": MOST_PER_USER},
        )


def publications(
    places: tuple[Place, ...], runs: int, epsilon: Fraction, method: Method, **arguments: Any
) -> Iterator[Synopsis]:
    """So many releases of some places, by the front door; with `max_per_user`, of users."""
    times = [place.times for place in places]
    points = np.repeat(np.array([place[:2] for place in places]).reshape(-1, 2), times, axis=0)
    if "max_per_user" in arguments:
        arguments["user"] = np.repeat([place.user for place in places], times)
    for _ in range(runs):
        yield publish(points, domain=UNIT_SQUARE, epsilon=epsilon, method=method, calibrate=False, **arguments)


def last_before_a_change(function: Callable[[int], object]) -> int:
    """A number, found by doubling and halving, whose successor has another value than it.

    Where nothing changes up to `LARGEST_SIZE`, as a broken build may have it, the search ends there.

    Examples
    --------
    >>> last_before_a_change(lambda number: number > 1000)
    1000
    """
    start = function(0)
    low, high = 0, 1
    while function(high) == start and high < LARGEST_SIZE:
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if function(middle) == start else (low, middle)
    return low


def largest_bound(runs: int, *, error: float) -> float:
    """What so many runs of each data set show of a build that gives everything away."""
    each = error / (2 * len(VIEWS))
    deciding = runs - runs // 2
    low, high = lower_bound(deciding, deciding, error=each), upper_bound(0, deciding, error=each)
    return float(np.log(low / high)) if low > high else 0.0


def _public_structure(method: Method, epsilon: Fraction, size: int) -> int:
    """Number of cells of a release for a public size; of regions, where there are more than one level."""
    (release,) = publications((FAR._replace(times=size),), 1, epsilon, method, public_size=size)
    return len(release.measurements.regions.first) or release.partition.cells


def _in_words(bound: EpsilonBound, samples: list[NDArray[np.float64]], *, flagged: bool) -> str:
    """What told the data sets apart best, and how well."""
    if bound.epsilon == 0:
        return "Nothing an attacker looked at told the two data sets apart for sure."
    seen = f"{VIEWS[bound.event.statistic]} {_RELATIONS[bound.event.relation]} {bound.event.threshold:.4g}"
    shares = [bound.event.occurrences(sample) / len(sample) for sample in samples]
    verdict = "More than promised" if flagged else "Within what is promised"
    return f"{verdict}: {seen} in {shares[0]:.1%} of releases without the record and {shares[1]:.1%} with it."


_RELATIONS = {"<=": "is at most", ">": "is above", "==": "is", "!=": "is not"}
