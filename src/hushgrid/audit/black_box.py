"""Neighbouring data sets, published and told apart from outside.

Nothing here looks inside a build. Data sets are published again and again by the front door. The event that tells two
of them apart best is chosen on one half of the releases; ln(lower p / upper p') on the other half must not exceed the
claim.
"""

import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from hushgrid.arrays import Floats
from hushgrid.audit.check import Check, Experiment, Setting, Verdict
from hushgrid.audit.estimator import FEWEST_RUNS, verdict
from hushgrid.audit.examples import SMALL
from hushgrid.audit.handing import HandOver, NotHereError, as_array
from hushgrid.audit.neighbours import MOST_PER_USER, UNIT_SQUARE, Records, heap
from hushgrid.audit.routes import WAYS_IN, Route, new_account, squares, squares_in_rows
from hushgrid.audit.view import VIEWS, WIDTH, Place, view
from hushgrid.geometry.guidelines import leaf_sides
from hushgrid.methods.adaptive_grid import AdaptiveGrid
from hushgrid.methods.areas import Areas
from hushgrid.methods.baselines import OneCell
from hushgrid.methods.hierarchy import Hierarchy, OptimalHierarchy
from hushgrid.methods.method import Method
from hushgrid.methods.privlet import Privlet
from hushgrid.methods.uniform_grid import UniformGrid
from hushgrid.release.publish import publish
from hushgrid.synopsis.synopsis import Synopsis

SPOT = Place(0.1, 0.1)  # of the extra record
FAR = Place(0.9, 0.9)
HALF = Fraction(1, 2)

# Runs relative to those asked for: more where a release is quick.
LENGTHS = {"ug": 4.0, "uniform": 4.0, "identity": 4.0, "ag": 4.0, "privlet": 4.0}
USUAL_LENGTH, SHORT_LENGTH = 2.0, 0.6
SIZED: Mapping[str, Method] = {
    "ug": UniformGrid(),
    "ag": AdaptiveGrid(c=0.05),  # leaves the smallest side of 10 at a few hundred records
    "hierarchy": Hierarchy(),
    "hb": OptimalHierarchy(),
    "privlet": Privlet(),
}
PILOT_RUNS = 40
LARGEST_SIZE = 2**18
SIDE = 99  # of the grid of a release that holds thousands of experiments
AREAS_SIDE = 24


def neighbour_experiments(setting: Setting) -> Iterator[Experiment]:
    """All pairs of neighbours and all ways in."""
    for neighbours in pairs(setting):
        if setting.quick and neighbours.length == SHORT_LENGTH:
            continue  # so few runs would show nothing
        yield Experiment(
            title=f"neighbours: {neighbours.method.name}, {neighbours.title}",
            statistical=1,
            run=partial(neighbours.check, setting),
            weight=2.0,
        )
    for cells in many_at_once():
        yield Experiment(
            title=f"neighbours: {cells.route.method}, {cells.route.title}",
            statistical=1,
            run=partial(cells.check, setting),
            weight=2.0,
            group="Spark" if cells.route.needs == "pyspark" else None,
        )


@dataclass(frozen=True, kw_only=True)
class Neighbours:
    """Two neighbouring data sets, and how to publish them.

    Parameters
    ----------
    title : str
    method : Method
    places : tuple of Place
        The first data set.
    more : tuple of Place
        What the second adds: one record, or all those of one user.
    length : float
        Runs relative to those asked for.
    edge : callable, optional
        Finds how many records to put on the last place, just short of a threshold.
    arguments : mapping
        Further arguments of `publish`.
    """

    title: str
    method: Method
    places: tuple[Place, ...]
    more: tuple[Place, ...] = (SPOT,)
    length: float = USUAL_LENGTH
    edge: Callable[[Setting], int] | None = None
    arguments: Mapping[str, Any] = field(default_factory=dict)

    def views(self, setting: Setting, *, neighbour: bool) -> Floats:
        """What an attacker sees in many releases.

        The releases are of one of the two data sets. The result has shape (runs, views).
        """
        places = self.places + (self.more if neighbour else ())
        runs = max(FEWEST_RUNS, round(setting.runs * self.length))
        releases = publications(places, runs, setting.epsilon, self.method, rng=setting.rng, **self.arguments)
        return np.array([view(release, self.places, self.more[0]) for release in releases], np.float64)

    def check(self, setting: Setting, error: float) -> tuple[Check, ...]:
        """Whether releases differ by more than is promised."""
        if self.edge is not None:
            stacked = (*self.places[:-1], self.places[-1]._replace(times=self.edge(setting)))
            return replace(self, places=stacked, edge=None).check(setting, error)
        samples = self.views(setting, neighbour=False), self.views(setting, neighbour=True)
        return verdict(self.title, self.method.name, samples, VIEWS, float(setting.epsilon), error)


def pairs(setting: Setting) -> Iterator[Neighbours]:
    """Neighbours for each kind of flaw."""
    for name in setting.methods:
        method, length = SMALL[name], LENGTHS.get(name, USUAL_LENGTH)
        yield Neighbours(title="a record in an empty spot", method=method, places=(FAR,), length=length)
        stacked = (SPOT._replace(times=25), FAR)
        yield Neighbours(title="a record on a stack of others", method=method, places=stacked, length=SHORT_LENGTH)
        if name in SIZED:
            yield on_a_size_edge(SIZED[name])
    if "ag" in setting.methods:
        yield on_a_cell_edge()
    if "staq" in setting.methods:
        yield on_a_split_edge()
    yield from heavy_users()


def on_a_size_edge(method: Method) -> Neighbours:
    """A data set one record short of another grid.

    The grid would change if the true number of records sized it.
    """
    return Neighbours(
        title="a size on a rounding edge",
        method=method,
        places=(FAR,),
        length=SHORT_LENGTH,
        edge=lambda setting: last_before_a_change(partial(_public_structure, method, HALF * setting.epsilon)),
        arguments={"size_share": HALF, "size_from": "domain"},
    )


def on_a_cell_edge() -> Neighbours:
    """A cell one record short of being divided.

    It would be divided if the true count decided.
    """

    def side(epsilon: Fraction, size: int) -> int:
        return int(leaf_sides(np.array([size]), HALF * epsilon)[0])

    return Neighbours(
        title="a first-level count on an edge",
        method=AdaptiveGrid(first_side=1),
        places=(SPOT,),
        length=SHORT_LENGTH,
        edge=lambda setting: last_before_a_change(partial(side, setting.epsilon)),
    )


def on_a_split_edge() -> Neighbours:
    """A stack of records that is divided half the time."""
    method, arguments = SMALL["staq"], {"public_size": 100}

    def is_mostly_divided(setting: Setting, size: int) -> bool:
        places = (SPOT._replace(times=size),)
        releases = publications(places, PILOT_RUNS, setting.epsilon, method, rng=setting.rng, **arguments)
        widths = [view(release, places, SPOT)[VIEWS.index(WIDTH)] for release in releases]
        return 2 * sum(width < max(widths) for width in widths) > PILOT_RUNS or max(widths) < HALF

    return Neighbours(
        title="a cell on the edge of being divided",
        method=method,
        places=(SPOT,),
        length=SHORT_LENGTH,
        edge=lambda setting: last_before_a_change(partial(is_mostly_divided, setting)),
        arguments=arguments,
    )


def heavy_users() -> Iterator[Neighbours]:
    """A user with far more records than count.

    Twenty times as many: in one spot, all over the map, in a private total, in the share of records kept, and in a
    count of all records.
    """
    crowd = tuple(Place(0.05 + 0.9 * n / 40, 0.55, user=f"user {n % 8}") for n in range(40))
    sides = np.arange(8) / 8 + 0.02
    everywhere = tuple(Place(x, y, user="eve") for x in sides for y in sides)
    for where, more in {"in one spot": (SPOT._replace(times=60, user="eve"),), "everywhere": everywhere}.items():
        yield Neighbours(
            title=f"a heavy user {where}",
            method=UniformGrid(side=4),
            places=crowd,
            more=more,
            length=SHORT_LENGTH,
            arguments={"max_per_user": MOST_PER_USER},
        )
    totals: Mapping[str, Mapping[str, Any]] = {
        "a private total": {"scale_to_total": "private"},
        "the share of records kept": {},
        "a count of all records": {"estimate": "all-records"},
    }
    for where, options in totals.items():
        yield Neighbours(
            title=f"a heavy user in {where}",
            method=OneCell(),
            places=crowd[:4],
            more=everywhere,
            length=2.0,
            arguments={"max_per_user": MOST_PER_USER, **options},
        )


@dataclass(frozen=True, kw_only=True)
class ManyAtOnce:
    """Releases in which every cell is an experiment.

    With users, every `group` of cells together is one.

    One data set is empty. The other has a record in every cell, or a user with at least as many records as count. The
    noise of cells is independent, so two releases are thousands of runs.

    Parameters
    ----------
    route : Route
    cells : int
        Of the release.
    group : int
        Cells that one user is in.
    times : int
        Records of a user in each of them.
    kept : int
        How much of a count they make.
    """

    route: Route
    cells: int
    group: int = 1
    times: int = 1
    kept: int = 1
    releases: int = 1

    def check(self, setting: Setting, error: float) -> tuple[Check, ...]:
        """Whether releases differ by more than is promised."""
        rate = float(setting.epsilon) / (self.group * self.kept)
        try:
            samples = [self._losses(setting, full, rate) for full in (False, True)]
        except NotHereError as reason:
            check = Check(
                part="neighbours",
                title=self.route.title,
                method=self.route.method,
                verdict=Verdict.NOT_APPLICABLE,
                finding=f"Not looked at: {reason}.",
            )
            return (check,)
        return verdict(
            self.route.title,
            self.route.method,
            (samples[0], samples[1]),
            ("the evidence against a record", "the count of its cell"),
            float(setting.epsilon),
            error,
        )

    def _losses(self, setting: Setting, full: bool, rate: float) -> Floats:
        """Evidence against a record, for each group of cells.

        The first column is how much likelier the counts are without anyone, the second the first count.
        """
        rows = []
        with tempfile.TemporaryDirectory() as folder, ExitStack() as stack:
            points, more = self.route.handed(self._records(full), Path(folder), stack)
            for number in range(self.releases):
                options = {**self.route.arguments, **more, "calibrate": self.route.calibrate}
                if self.route.ledger:
                    options.update(new_account(Path(folder) / f"ledger-{number}", of_users=self.route.of_users))
                elif setting.rng is not None:
                    options["rng"] = setting.rng
                release = publish(points, domain=UNIT_SQUARE, epsilon=setting.epsilon, **options)
                values = release.measurements.leaves.values.reshape(-1, self.group)
                losses = rate * (np.abs(values - self.kept) - np.abs(values)).sum(axis=1)
                rows.append(np.stack([losses, values[:, 0]], axis=1))
        return np.concatenate(rows).astype(np.float64)

    def _records(self, full: bool) -> Records:
        side = round(self.cells**0.5)
        middles = (np.arange(side) + 0.5) / side
        points = np.array([[x, y] for y in middles for x in middles]) if full else np.empty((0, 2))
        points = np.repeat(points, self.times, axis=0)
        if not self.route.of_users:
            return Records(points)
        return Records(points, tuple(f"user {n // (self.times * self.group)}" for n in range(len(points))))


def many_at_once() -> Iterator[ManyAtOnce]:
    """Every way in, with thousands of experiments per release."""
    grid: dict[str, Any] = {"method": UniformGrid(side=SIDE)}
    user = {**grid, "max_per_user": MOST_PER_USER}
    heavy = {"times": 5, "kept": MOST_PER_USER}
    distinct = {"group": MOST_PER_USER, "times": 2, "releases": 4}

    def route(title: str, arguments: Mapping[str, Any], hand_over: HandOver = as_array, **options: Any) -> Route:
        return Route(title=title, method="ug", arguments=arguments, hand_over=hand_over, **options)

    yield ManyAtOnce(route=route("arrays, calibrated", grid, calibrate=True), cells=SIDE**2, releases=2)
    yield ManyAtOnce(route=route("arrays, ledger", grid, ledger=True), cells=SIDE**2)
    yield ManyAtOnce(route=route("users", user, of_users=True), cells=SIDE**2, **heavy)
    yield ManyAtOnce(
        route=route("distinct users", {**user, "distinct": True}, of_users=True), cells=SIDE**2, **distinct
    )
    for title, hand_over, needs in WAYS_IN:
        yield ManyAtOnce(route=route(title, grid, hand_over, needs=needs), cells=SIDE**2)
        if title in ("CSV file", "Parquet folder", "DuckDB"):
            of_users = route(f"users, {title}", user, hand_over, needs=needs, of_users=True)
            yield ManyAtOnce(route=of_users, cells=SIDE**2, **heavy)
            pairs_of = route(
                f"distinct users, {title}", {**user, "distinct": True}, hand_over, needs=needs, of_users=True
            )
            yield ManyAtOnce(route=pairs_of, cells=SIDE**2, **distinct)
    yield from _many_areas()


def _many_areas() -> Iterator[ManyAtOnce]:
    probe = Route(title="areas", method="areas", arguments={}, needs="shapely")
    if probe.missing is not None:
        yield ManyAtOnce(route=probe, cells=AREAS_SIDE**2)
        return
    areas: dict[str, Any] = {"method": Areas(squares(AREAS_SIDE))}
    user = {**areas, "max_per_user": MOST_PER_USER}
    for title, arguments, options in (
        ("areas", areas, {}),
        ("areas in levels", {"method": squares_in_rows(AREAS_SIDE)}, {}),
        ("areas, users", user, {"times": 5, "kept": MOST_PER_USER}),
        ("areas, distinct users", {**user, "distinct": True}, {"group": MOST_PER_USER, "times": 2, "releases": 16}),
    ):
        route = Route(title=title, method="areas", arguments=arguments, of_users="max_per_user" in arguments)
        yield ManyAtOnce(route=route, cells=AREAS_SIDE**2, **{"releases": 8, **options})


def publications(
    places: tuple[Place, ...], runs: int, epsilon: Fraction, method: Method, **arguments: Any
) -> Iterator[Synopsis]:
    """Publish some places again and again.

    With `max_per_user`, places are those of users.
    """
    points = np.concatenate([np.empty((0, 2)), *(heap(place[:2], place.times) for place in places)])
    if "max_per_user" in arguments:
        arguments["user"] = np.repeat([place.user for place in places], [place.times for place in places])
    for _ in range(runs):
        yield publish(points, domain=UNIT_SQUARE, epsilon=epsilon, method=method, calibrate=False, **arguments)


def last_before_a_change(function: Callable[[int], object]) -> int:
    """A number just before the value changes.

    It is found by doubling and halving.

    If nothing changes up to `LARGEST_SIZE`, as in a broken build, the search ends there.

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


def _public_structure(method: Method, epsilon: Fraction, size: int) -> int:
    """Number of regions or cells for a public size.

    Regions are counted where there is more than one level.
    """
    (release,) = publications((FAR._replace(times=size),), 1, epsilon, method, public_size=size)
    return len(release.measurements.regions.first) or release.partition.cells
