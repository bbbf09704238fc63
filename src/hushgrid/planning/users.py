"""Which K? What few records of each user lose, against noise."""

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from fractions import Fraction
from functools import cached_property
from pathlib import Path
from statistics import NormalDist
from typing import Any, Self

import numpy as np

from hushgrid.arrays import Floats
from hushgrid.counting.bounding import Estimate, wants_all_records
from hushgrid.errors import ArgumentError, MissingExtraError, quoted
from hushgrid.planning.ladder import figures_at
from hushgrid.planning.rehearsal import AREA_SHARES
from hushgrid.planning.words import about, rounded_percent
from hushgrid.privacy.budget import KEPT_SHARE
from hushgrid.release.all_records import ALL_RECORDS_SHARE
from hushgrid.text import aligned

MOST_PER_USER = 10**6
NONE = Fraction(0)


def rate_of_record(
    epsilon: Fraction, max_per_user: int, *, size_share: Fraction = NONE, estimate: Estimate = "kept-records"
) -> Fraction:
    """What counts may spend on one record, as `hushgrid.publish` does by default.

    Examples
    --------
    >>> rate_of_record(Fraction(1), 1), rate_of_record(Fraction(1), 10)
    (Fraction(1, 1), Fraction(49, 500))
    """
    beside = ALL_RECORDS_SHARE if wants_all_records(estimate) else KEPT_SHARE if max_per_user > 1 else NONE
    left = 1 - size_share - beside
    if left <= 0:
        msg = f"size_share={size_share} leaves nothing for counts beside {beside} for the share of records kept."
        raise ArgumentError(msg)
    return left * epsilon / max_per_user


TYPICAL, MANY = 5, 40  # records that half of the users have at most, and nine in ten, as in check-ins of New York
NINE_IN_TEN = NormalDist().inv_cdf(0.9)
PEOPLE = 4000  # made-up users that stand for all


@dataclass(frozen=True, kw_only=True)
class RecordsPerUser:
    """How many records users have, as far as that is public.

    Half of them have at most `typical`, nine in ten at most `many`; between and beyond, the numbers follow a
    log-normal law, as records of people mostly do.

    Examples
    --------
    >>> records = RecordsPerUser(typical=5, many=40)
    >>> round(records.kept(1), 2), round(records.kept(20), 2), records.kept(10**6)
    (0.05, 0.44, 1.0)
    """

    typical: float = TYPICAL
    many: float = MANY

    def __post_init__(self) -> None:
        if not 1 <= self.typical <= self.many <= MOST_PER_USER:
            msg = f"records_per_user is two numbers from 1 to {MOST_PER_USER:,}, the second no smaller: half of the "
            msg += f"users have at most the first, nine in ten at most the second, as in 5,40. Got {self.typical:g} "
            msg += f"and {self.many:g}."
            raise ArgumentError(msg)

    @classmethod
    def of(cls, numbers: Sequence[float]) -> Self:
        """Check a pair such as ``(5, 40)``.

        Examples
        --------
        >>> RecordsPerUser.of((2, 60))
        RecordsPerUser(typical=2.0, many=60.0)
        """
        try:
            typical, many = map(float, numbers)
        except (TypeError, ValueError):
            msg = (
                "records_per_user is two numbers, such as 5,40: half of the users have at most 5 records, nine in ten "
            )
            msg += f"at most 40. Got {quoted(numbers)}."
            raise ArgumentError(msg, instead={"records_per_user": "5,40"}) from None
        return cls(typical=typical, many=many)

    @cached_property
    def numbers(self) -> Floats:
        """Records of each of some made-up users."""
        sigma = math.log(self.many / self.typical) / NINE_IN_TEN
        law = NormalDist(math.log(self.typical), sigma) if sigma > 0 else None
        places = (np.arange(PEOPLE) + 0.5) / PEOPLE
        logs = [law.inv_cdf(place) if law else math.log(self.typical) for place in places]
        return np.maximum(np.rint(np.exp(logs)), 1)

    def kept(self, most: int) -> float:
        """Share of all records that is kept with a bound of `most`."""
        return float(np.minimum(self.numbers, most).sum() / self.numbers.sum())


ASSUMED = RecordsPerUser()


@dataclass(frozen=True, kw_only=True)
class BoundPlan:
    """What one bound K would do to counts of rectangles.

    Parameters
    ----------
    max_per_user : int
        K.
    kept : float
        Share of the records that is kept.
    noise, loss, together : float
        What 95 % of the errors stay below, relative to the records in the rectangle, once counts are scaled to all
        records: by noise, by records that are not kept, and by both. The loss is the share that is not kept: on
        check-ins of New York and of the world, 95 % of errors by loss stayed below 0.3 to 2 times that share.
    """

    max_per_user: int
    kept: float
    noise: float
    loss: float
    together: float


@dataclass(frozen=True, kw_only=True, repr=False)
class BoundsPlan:
    """What each K loses, against its noise, and the best of them.

    Printing it shows a table.

    Examples
    --------
    >>> from hushgrid.geometry.domain import Domain
    >>> from hushgrid.planning.plan import plan
    >>> square = Domain(west=0, south=0, east=1, north=1)
    >>> bounds = plan(square, points_about=40_000, epsilon=1, max_per_user=10, records_per_user=(5, 40)).bounds
    >>> first, *_, last = bounds.rows
    >>> first.loss > last.loss, first.noise < last.noise, 1 < bounds.best.max_per_user < last.max_per_user
    (True, True, True)
    """

    records_about: int
    records: RecordsPerUser
    rectangle: str  # "medium", or "large" where medium ones would be mostly noise with every bound
    rows: tuple[BoundPlan, ...]

    @property
    def best(self) -> BoundPlan:
        """The bound with the least error by both together."""
        return min(self.rows, key=lambda row: (row.together, row.max_per_user))

    def __repr__(self) -> str:
        header = ["at most a user", "records kept", "off by noise", "by what is not kept", "by both"]
        shares = [(row.kept, row.noise, row.loss, row.together) for row in self.rows]
        rows = [
            [f"{row.max_per_user:,}", *map(rounded_percent, each)] for row, each in zip(self.rows, shares, strict=True)
        ]
        largest = max(row.together for row in self.rows)
        first, *lines = aligned([header, *rows]).splitlines()
        drawn = [
            f"{line}  {bar(row.together / largest)}{' least' if row == self.best else ''}"
            for line, row in zip(lines, self.rows, strict=True)
        ]
        return "\n".join([first, *drawn])

    @property
    def sentence(self) -> str:
        """What the table says, in plain words."""
        few, many, best = self.rows[0], self.rows[-1], self.best
        return (
            f"Which K? Of about {about(self.records_about)} records in all, half of the users having at most "
            f"{self.records.typical:g} and nine in ten at most {self.records.many:g} (--records-per-user), K = "
            f"{few.max_per_user:,} would lose {rounded_percent(few.loss)}, and K = {many.max_per_user:,} takes "
            f"{many.max_per_user:,} times the noise. The table shows the error that 95 % of the counts of "
            f"{self.rectangle} rectangles stay below, scaled to all records. By noise and loss together it is least at "
            f"K = {best.max_per_user:,}. How many records users have must be public knowledge or a guess; never look "
            "it up in the data."
        )

    def to_dict(self) -> dict[str, Any]:
        """The table as values for JSON."""
        return {
            "records_about": self.records_about,
            "rectangle": self.rectangle,
            "records_per_user": [self.records.typical, self.records.many],
            "bounds": [asdict(row) for row in self.rows],
            "recommended": self.best.max_per_user,
            "sentence": self.sentence,
        }


def plan_bounds(
    records: RecordsPerUser,
    *,
    kept_about: int,
    most: int,
    epsilon: Fraction,
    size_share: Fraction,
    filled: float,
    estimate: Estimate = "kept-records",
) -> BoundsPlan:
    """Weigh what each K loses against the noise it takes.

    Parameters
    ----------
    records : RecordsPerUser
    kept_about, most : int
        About how many records would be kept with a bound, and that bound; it is one of those looked at.
    epsilon, size_share, filled, estimate
        As for `plan`.
    """
    records_about = round(kept_about / records.kept(most))
    tried = sorted({*_round_bounds(int(records.numbers.max())), most})
    for rectangle in ("medium", "large"):
        rows = tuple(
            _bound_plan(
                records,
                records_about,
                each,
                rate_of_record(epsilon, each, size_share=size_share, estimate=estimate),
                filled,
                rectangle,
            )
            for each in tried
        )
        if min(row.noise for row in rows) < MOSTLY_NOISE:
            break
    return BoundsPlan(records_about=records_about, records=records, rectangle=rectangle, rows=rows)


MOSTLY_NOISE = 0.5  # relative error of rectangles beyond which these are too small to choose K by
LAPLACE_REACH = math.log(20)  # times its scale: what 95 % of Laplace noise stays below


def _bound_plan(
    records: RecordsPerUser, records_about: int, most: int, rate: Fraction, filled: float, rectangle: str
) -> BoundPlan:
    # Errors relative to points depend on points times epsilon alone, so the same made-up points serve every bound.
    kept = records.kept(most)
    signal = rate * Fraction(kept).limit_denominator(10**6)
    reach = figures_at("staq", records_about, signal, filled).relative_reach[list(AREA_SHARES).index(rectangle)]
    # A rectangle that is estimated as empty is off by all of its points and no more; the total has no such limit.
    noise = math.hypot(reach, LAPLACE_REACH / float(signal * records_about))
    return BoundPlan(max_per_user=most, kept=kept, noise=noise, loss=1 - kept, together=math.hypot(noise, 1 - kept))


BLOCKS = " ▏▎▍▌▋▊▉█"
LONGEST_BAR = 24  # characters


def bar(share: float) -> str:
    """A bar of Unicode blocks, for a share of the longest.

    Examples
    --------
    >>> bar(0.5), bar(1 / 48)
    ('████████████', '▌')
    """
    full, eighths = divmod(round(share * LONGEST_BAR * 8), 8)
    return "█" * full + BLOCKS[eighths].strip()


def draw_bounds(bounds: BoundsPlan, path: Path) -> None:
    """Draw what each K loses against its noise.

    The ending of the path says how: PNG, SVG or PDF.
    """
    try:
        from matplotlib.figure import Figure
    except ImportError as error:
        msg = "a picture of the curve needs matplotlib: pip install 'hushgrid[plots]'."
        raise MissingExtraError(msg) from error

    figure = Figure(figsize=(6.4, 4), layout="constrained")
    axes = figure.subplots()
    tried = [row.max_per_user for row in bounds.rows]
    for name, style in (("noise", "--"), ("loss", ":"), ("together", "-")):
        label = {"loss": "what is not kept"}.get(name, name)
        axes.plot(tried, [100 * getattr(row, name) for row in bounds.rows], style, color="#0b5fa5", label=label)
    axes.plot(bounds.best.max_per_user, 100 * bounds.best.together, "o", color="#c2410c")
    axes.annotate(
        f"K = {bounds.best.max_per_user:,}",
        (bounds.best.max_per_user, 100 * bounds.best.together),
        xytext=(0, -16),
        textcoords="offset points",
        ha="center",
    )
    axes.set(xscale="log", xlabel="records of a user that are kept, K", ylabel="95 % of counts off by less than (%)")
    axes.set_ylim(0, 100 * min(2, max(row.together for row in bounds.rows)) * 1.1)
    axes.xaxis.set_major_formatter("{x:,.0f}")  # after the scale, which sets its own
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(frameon=False)
    figure.savefig(path, dpi=150)


def _round_bounds(largest: int) -> list[int]:
    """Bounds 1, 2, 5, 10, 20 and so on, up to the largest or beyond."""
    numbers = [first * 10**zeros for zeros in range(len(str(MOST_PER_USER))) for first in (1, 2, 5)]
    return numbers[: next(place for place, number in enumerate(numbers) if number >= min(largest, MOST_PER_USER)) + 1]
