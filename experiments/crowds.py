"""Users with many records and few: check-ins, and made-up ones by several laws."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from experiments.datasets import DATASETS
from experiments.datasets.table import TableDataset
from experiments.users import CheckIns
from experiments.workload import true_counts, workload
from hushgrid.geometry.domain import Domain

Floats = NDArray[np.float64]


@dataclass(frozen=True, kw_only=True, eq=False)
class Crowd:
    """Users with their records, and what is asked of them."""

    name: str
    domain: Domain
    records: CheckIns

    @property
    def sizes(self) -> NDArray[np.int64]:
        """Records of each user."""
        return np.unique(self.records.true_users, return_counts=True)[1]

    def kept(self, bound: int, rng: np.random.Generator) -> Floats:
        """At most that many records of each user, chosen at random."""
        users = self.records.true_users
        order = np.lexsort((rng.random(len(users)), users))
        _, first, sizes = np.unique(users[order], return_index=True, return_counts=True)
        places = np.arange(len(users)) - np.repeat(first, sizes)
        return np.asarray(self.records.true_points[order[places < bound]])


def made_up(sizes: NDArray[np.int64], *, name: str, regional: float = 0.0, seed: int = 1) -> Crowd:
    """Users of 60 towns, each with a home and two other places that they mostly go to.

    `regional` says how much towns differ in what their users record: a standard deviation of the logarithm.
    """
    rng = np.random.default_rng(seed)
    towns, weights = 0.05 + 0.9 * rng.random((60, 2)), rng.pareto(1.0, 60) + 0.2
    town = rng.choice(60, len(sizes), p=weights / weights.sum())
    sizes = np.maximum(1, sizes * np.exp(regional * rng.standard_normal(60))[town]).astype(np.int64)
    home = towns[town] + 0.02 * rng.standard_normal((len(sizes), 2))
    places = home[:, None] + rng.standard_normal((len(sizes), 3, 2)) * np.array([0, 0.01, 0.03])[:, None]
    users = np.repeat(np.arange(len(sizes)), sizes)
    points = places[users, rng.choice(3, len(users), p=[0.5, 0.3, 0.2])] + 5e-4 * rng.standard_normal((len(users), 2))
    away = rng.random(len(users)) < 0.1
    points[away] = towns[rng.choice(60, away.sum())] + 0.02 * rng.standard_normal((away.sum(), 2))
    points, domain = np.clip(points, 0, 1), Domain(west=0, south=0, east=1, north=1)
    rects = workload(domain, (0.5, 0.5), seed=0).reshape(-1, 4)
    records = CheckIns(true_points=points, true_users=users, rects=rects, true_answers=true_counts(points, rects))
    return Crowd(name=name, domain=domain, records=records)


def check_ins(name: str) -> Crowd:
    """A data set of check-ins."""
    dataset = DATASETS[name]
    assert isinstance(dataset, TableDataset)
    return Crowd(name=name, domain=dataset.domain, records=CheckIns.of(dataset, user="user"))


def log_normal(users: int, *, mean: float = 1.0, deviation: float = 1.3) -> NDArray[np.int64]:
    """Records of users, by a log-normal law."""
    rng = np.random.default_rng(2)
    return np.maximum(1, np.exp(mean + deviation * rng.standard_normal(users))).astype(np.int64)


def two_kinds() -> NDArray[np.int64]:
    """Ten thousand users with one record, and 200 with about 300."""
    return np.concatenate([np.ones(10_000, np.int64), np.random.default_rng(2).poisson(300, 200)])


def heavy_tail() -> NDArray[np.int64]:
    """Users whose records follow a law of Pareto: the few largest have a good part of all."""
    return np.floor(2 * (np.random.default_rng(2).pareto(1.5, 20_000) + 1)).astype(np.int64)


CROWDS: dict[str, Callable[[], Crowd]] = {
    "nyc": lambda: check_ins("checkin_gowalla_nyc"),
    "sub": lambda: check_ins("checkin_gowalla_sub"),
    "log-normal": lambda: made_up(log_normal(20_000), name="log-normal"),
    "regions differ": lambda: made_up(log_normal(20_000), name="regions differ", regional=0.5),
    "few users": lambda: made_up(log_normal(3_000), name="few users"),
    "two kinds": lambda: made_up(two_kinds(), name="two kinds"),
    "Pareto": lambda: made_up(heavy_tail(), name="Pareto"),
}
