"""What each split of the budget does to areas in levels.

Errors of counts on areas follow from the areas, the budget and its split alone: no points are made up.
"""

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, Literal

import numpy as np

from hushgrid.geometry.areas import AreaPartition
from hushgrid.geometry.domain import Domain
from hushgrid.geometry.nesting import AreaLevel
from hushgrid.inference.evidence import Evidence
from hushgrid.inference.least_squares import nodes_of_runs
from hushgrid.inference.measurements import Measurements, NoisyValues, Regions
from hushgrid.inference.noise_law import NoiseLaw
from hushgrid.methods.areas import Areas, default_shares
from hushgrid.methods.method import check_whole
from hushgrid.planning.users import MOST_PER_USER, rate_of_record
from hushgrid.planning.words import levels_in_words
from hushgrid.privacy.exact import Exactable, exact_epsilon
from hushgrid.synopsis.answer import answer_of_noise

CONFIDENCE = 0.95
# Shares go with these powers of the number of areas; with the power 1/3 they are the default.
POWERS = (-1 / 3, 0, 2 / 3)

Mark = Literal["", "default", "given"]


@dataclass(frozen=True, kw_only=True)
class SplitPlan:
    """One split of the budget, and the errors it leaves.

    Parameters
    ----------
    shares : tuple of Fraction
        Of the budget for each level, the coarsest first; zero where a level is not counted itself.
    reaches : tuple of float
        How far the count of a typical area of each level may be off, with 95 % confidence: the median over its areas.
    total_reach : float
        The same for all areas together.
    mark : "default", "given" or ""
    """

    shares: tuple[Fraction, ...]
    reaches: tuple[float, ...]
    total_reach: float
    mark: Mark = ""


@dataclass(frozen=True, kw_only=True, repr=False)
class LevelsPlan:
    """What to expect of counts on areas.

    Printing it shows a table. Its splits of the budget go from those that favour the coarsest level to the finest level
    counted alone.
    """

    levels: tuple[AreaLevel, ...]
    epsilon: Fraction
    max_per_user: int
    splits: tuple[SplitPlan, ...]
    points_about: int | None = None

    def __repr__(self) -> str:
        return levels_in_words(self)

    @property
    def chosen(self) -> SplitPlan:
        """The split that a release would have: the one given, or the default."""
        marked = {split.mark: split for split in self.splits}
        return marked.get("given") or marked["default"]

    def to_dict(self) -> dict[str, Any]:
        """The plan as values for JSON."""
        names = [level.name for level in self.levels]
        return {
            "epsilon": float(self.epsilon),
            "exact_epsilon": str(self.epsilon),
            "max_per_user": self.max_per_user,
            "levels": [{"level": level.name, "areas": len(level.names)} for level in self.levels],
            "splits": [
                {
                    "mark": split.mark,
                    "shares": dict(zip(names, map(float, split.shares), strict=True)),
                    "reaches": dict(zip(names, split.reaches, strict=True)),
                    "total_reach": split.total_reach,
                }
                for split in self.splits
            ],
        }


def plan_areas(
    method: Areas, domain: Domain | None, *, epsilon: Exactable, points_about: int | None, max_per_user: int
) -> LevelsPlan:
    """What to expect of a release on areas.

    Without a domain, it is the rectangle around them.
    """
    areas = method.public_partition(domain or method.domain())
    shares = None if method.shares is None else method.shares_of(areas)
    made = plan_levels(areas, epsilon=epsilon, max_per_user=max_per_user, shares=shares)
    return replace(made, points_about=points_about)


def plan_levels(
    areas: AreaPartition,
    *,
    epsilon: Exactable,
    max_per_user: int = 1,
    shares: tuple[Fraction, ...] | None = None,
) -> LevelsPlan:
    """What to expect of counts on areas, from these and the budget alone.

    Parameters
    ----------
    areas : AreaPartition
        What would be counted on.
    epsilon : float, str, Decimal, int or Fraction
        The privacy budget.
    max_per_user : int
        Records of one user that are kept at most.
    shares : tuple of Fraction, optional
        A split to show beside the others.
    """
    check_whole(max_per_user, name="max_per_user", low=1, high=MOST_PER_USER)
    granted = exact_epsilon(epsilon)
    marks: dict[tuple[Fraction, ...], Mark] = {_split(areas, power): "" for power in POWERS}
    marks[(*[Fraction(0)] * len(areas.levels), Fraction(1))] = ""
    marks[default_shares(areas)] = "default"
    if shares is not None:
        marks[shares] = "given"
    splits = [_split_plan(areas, each, rate_of_record(granted, max_per_user), mark) for each, mark in marks.items()]
    return LevelsPlan(
        levels=tuple(areas.all_levels),
        epsilon=granted,
        max_per_user=max_per_user,
        splits=tuple(sorted(splits, key=lambda split: split.shares[::-1])),
    )


def _split(areas: AreaPartition, power: float) -> tuple[Fraction, ...]:
    """Shares in proportion to a power of the number of areas.

    They are whole per cents, none of them zero.
    """
    weights = np.array([float(len(level.names)) for level in areas.all_levels]) ** power
    above = [Fraction(max(round(100 * weight), 1), 100) for weight in (weights / weights.sum())[:-1].tolist()]
    return (*above, 1 - sum(above, Fraction(0)))


def _split_plan(areas: AreaPartition, shares: tuple[Fraction, ...], rate: Fraction, mark: Mark) -> SplitPlan:
    """The errors of one split, at the rate of one record."""
    *above, finest = shares
    counted = [(level, share * rate) for level, share in zip(areas.levels, above, strict=True) if share > 0]
    measured = Measurements.of_leaves(NoisyValues.at_one_rate(np.zeros(areas.cells, np.int64), finest * rate))
    if counted:
        values = [NoisyValues.at_one_rate(np.zeros(len(level.names), np.int64), each) for level, each in counted]
        starts = [level.starts for level, _ in counted]
        regions = Regions(
            first=np.concatenate([each[:-1] for each in starts]), stop=np.concatenate([each[1:] for each in starts])
        )
        measured = replace(measured, regions=regions, region_values=NoisyValues.joined(values))
    known = Evidence(areas, measured).nodes
    noise = NoiseLaw(known, measured)
    variances, fourths = (noise.of_nodes(power) for power in (2, 4))
    reaches = np.asarray(answer_of_noise(np.zeros(len(variances)), variances, fourths, CONFIDENCE).high)
    nodes = [nodes_of_runs(known.tree, level.starts[:-1], level.starts[1:]) for level in areas.all_levels]
    return SplitPlan(
        shares=shares,
        reaches=tuple(float(np.median(reaches[each])) for each in nodes),
        total_reach=float(reaches[0]),
        mark=mark,
    )
