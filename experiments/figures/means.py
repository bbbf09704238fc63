"""Rows grouped by what was run, and their means over runs: the one computation behind every figure and claim."""

import math
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass

from experiments.datasets import DATASETS, ROAD_LIKE
from experiments.estimate import MISSING, Estimate
from experiments.figures.variant import Variant
from experiments.trial import ALL_SIZES, QUERIES, Row

PAPER_NAMES = {  # our set, and the one of the paper it stands for
    "uk_postcodes": "road",
    ROAD_LIKE: "road",
    "checkin_gowalla_sub": "checkin",
    "gowalla": "checkin",
    "us_chains": "landmark",
    "us_cvs": "storage",
}
ORDER = (  # of rows in tables and figures; methods that are not here come last
    *("ug", "ag", "dag", "kd-paper", "kd", "kd-hybrid-paper", "kd-hybrid", "quadtree-paper", "quadtree", "balanced"),
    *("dpcube", "dawa", "hierarchy", "hb", "privlet", "privtree", "staq", "aimed", "auto", "uniform", "identity"),
)
MADE_UP = frozenset({ROAD_LIKE})  # marked as such wherever they are named
QUERY_SIZES = QUERIES[:-1]
SHOWN_WITHIN = 3.0  # times the lowest error


@dataclass(frozen=True, kw_only=True)
class Scene:
    """A data set and a budget: what most panels and claims are about.

    Examples
    --------
    >>> Scene(dataset="us_cvs", epsilon=0.1).label
    'us_cvs (storage), ε = 0.1'
    """

    dataset: str
    epsilon: float

    @property
    def label(self) -> str:
        """What figures call it."""
        return f"{dataset_label(self.dataset)}, ε = {self.epsilon:g}"

    @property
    def title(self) -> str:
        """The same in two lines, above a narrow panel."""
        return f"{dataset_label(self.dataset)}\nε = {self.epsilon:g}"


class Means:
    """Means over runs of the numbers in the rows of trials, with their standard errors.

    Parameters
    ----------
    rows : iterable of rows
        As `Results.rows` gives them. Rows of other kinds are left aside.

    Examples
    --------
    >>> row = {"dataset": "us_cvs", "epsilon": 1.0, "method": "ug", "parameters": {}, "queries": "all"}
    >>> means = Means([{**row, "seed": 0, "relative_mean": 0.2}, {**row, "seed": 1, "relative_mean": 0.4}])
    >>> means.estimate(Scene(dataset="us_cvs", epsilon=1), Variant.of("ug")).text()
    '0.30 ± .10'
    """

    def __init__(self, rows: Iterable[Row]) -> None:
        groups: dict[tuple[Scene, Variant, str], list[Row]] = defaultdict(list)
        for row in rows:
            if "relative_mean" in row and "method" in row:
                scene = Scene(dataset=row["dataset"], epsilon=row["epsilon"])
                groups[scene, Variant.of(row["method"], **row["parameters"]), row["queries"]].append(row)
        self._rows = dict(groups)
        self._estimates: dict[tuple[Scene, Variant, str, str], Estimate] = {}
        self._variants: dict[Scene, list[Variant]] = defaultdict(list)
        for scene, variant, queries in self._rows:
            if queries == ALL_SIZES:
                self._variants[scene].append(variant)

    def scenes(self) -> list[Scene]:
        """Every data set and budget, the paper's sets first."""
        return sorted(self._variants, key=lambda scene: (dataset_order(scene.dataset), scene.epsilon))

    def paper_scenes(self, *, epsilons: tuple[float, ...] = (0.1, 1.0)) -> list[Scene]:
        """Scenes of the paper's figures: its four sets, or where none of them was run, all there are."""
        scenes = [scene for scene in self.scenes() if scene.epsilon in epsilons]
        return [scene for scene in scenes if scene.dataset in PAPER_NAMES] or scenes

    def variants(self, scene: Scene, method: str | None = None) -> list[Variant]:
        """What was run on a scene."""
        return [variant for variant in self._variants.get(scene, ()) if method in (None, variant.method)]

    def methods(self) -> list[str]:
        """Methods that were run as they come, in the usual order."""
        found = {one.method for variants in self._variants.values() for one in variants if one.has_only()}
        return [*(name for name in ORDER if name in found), *sorted(found - set(ORDER))]

    def sizes(self, scene: Scene, method: str, parameter: str) -> dict[int, Variant]:
        """Variants that differ from the method only in a size, by that size."""
        found = {
            int(str(variant[parameter])): variant
            for variant in self.variants(scene, method)
            if variant.has_only(parameter)
        }
        return dict(sorted(found.items()))

    def has(self, scene: Scene, variant: Variant, queries: str = ALL_SIZES) -> bool:
        """Whether it was run."""
        return (scene, variant, queries) in self._rows

    def value(self, scene: Scene, variant: Variant, field: str = "relative_mean", queries: str = ALL_SIZES) -> float:
        """Mean of a field over runs; nan where it was not measured."""
        return self.estimate(scene, variant, field, queries).value

    def estimate(
        self, scene: Scene, variant: Variant, field: str = "relative_mean", queries: str = ALL_SIZES
    ) -> Estimate:
        """Mean of a field over the runs that have it, with its standard error."""
        key = (scene, variant, queries, field)
        if key not in self._estimates:
            rows = sorted(self._rows.get((scene, variant, queries), []), key=lambda row: str(row.get("key")))
            runs = {row.get("seed", 0): float(row[field]) for row in rows if field in row}
            self._estimates[key] = Estimate.of(runs) if runs else MISSING
        return self._estimates[key]

    def least(self, scene: Scene, variant: Variant, field: str) -> float:
        """Lowest value over runs, which is what a time is worth; nan where it was not measured."""
        rows = self._rows.get((scene, variant, ALL_SIZES), [])
        return min((float(row[field]) for row in rows if field in row), default=math.nan)

    def runs(self) -> int:
        """Number of trials."""
        return sum(len(rows) for (_, _, queries), rows in self._rows.items() if queries == ALL_SIZES)

    def best(self, scene: Scene, method: str, parameter: str) -> Variant | None:
        """The size with the lowest mean relative error."""
        return min(
            self.sizes(scene, method, parameter).values(),
            key=lambda variant: self.value(scene, variant),
            default=None,
        )

    def near_best(self, scene: Scene, method: str, parameter: str) -> dict[int, Variant]:
        """Sizes worth a place in a figure, which an error far above the lowest would flatten."""
        sizes = self.sizes(scene, method, parameter)
        lowest = min((self.value(scene, variant) for variant in sizes.values()), default=0)
        return {size: one for size, one in sizes.items() if self.value(scene, one) <= SHOWN_WITHIN * lowest}

    def best_range(self, scene: Scene, method: str, parameter: str, *, within: float) -> tuple[int, int] | None:
        """Smallest and largest size, about the best one, whose relative error is within a factor of the lowest.

        The suggested size counts among those that were tried.
        """
        errors = {size: self.value(scene, variant) for size, variant in self.sizes(scene, method, parameter).items()}
        if not errors:
            return None
        suggested = self.suggested_side(scene) if method == "ug" else self.suggested_first_side(scene)
        if suggested and self.has(scene, Variant.of(method)):
            errors.setdefault(suggested, self.value(scene, Variant.of(method)))
        best = min(errors, key=lambda size: errors[size])
        good = {size for size, error in errors.items() if error <= within * errors[best]}
        return _run_about(best, sorted(errors), good, step=-1), _run_about(best, sorted(errors), good, step=1)

    def suggested_side(self, scene: Scene) -> int | None:
        """Cells a side of UG at the size of Guideline 1, from the cells of its releases."""
        cells = self.value(scene, Variant.of("ug"), "cells")
        return None if math.isnan(cells) else round(math.sqrt(cells))

    def suggested_first_side(self, scene: Scene) -> int | None:
        """First-level cells a side of AG at its suggested size, a quarter of UG's and at least 10."""
        side = self.suggested_side(scene)
        return None if side is None else max(10, round(side / 4))


def dataset_label(name: str) -> str:
    """A data set and the set of the paper it stands for.

    Examples
    --------
    >>> dataset_label("us_cvs"), dataset_label("two_states"), dataset_label("places")
    ('us_cvs (storage)', 'two_states (road, made up)', 'places')
    """
    if name not in PAPER_NAMES:
        return name
    return f"{name} ({PAPER_NAMES[name]}{', made up' * (name in MADE_UP)})"


def dataset_order(name: str) -> tuple[int, str]:
    """For sorting: the paper's sets in its order, then those we know, then others."""
    known = [*PAPER_NAMES, *(known for known in DATASETS if known not in PAPER_NAMES)]
    return (known.index(name) if name in known else len(known)), name


def _run_about(start: int, sizes: list[int], good: set[int], *, step: int) -> int:
    place = sizes.index(start)
    while 0 <= place + step < len(sizes) and sizes[place + step] in good:
        place += step
    return sizes[place]
