"""What a release promises, and where it comes from."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Literal

from hushgrid.arrays import Indices
from hushgrid.periods import Period, PeriodKind

Unit = Literal["record", "user"]
SizeSource = Literal["public", "rows", "domain"]

TOTAL = "total"  # purpose of the spend on a noisy number of all records
USERS, REGIONS = "users", "regions"  # of those on users by their records, and on all records by region
BY_USER = (USERS, TOTAL, REGIONS)  # of all that is not for counts of kept records
OF_SLICES = "total"  # kind of a prior that is the total and all other slices
ALL_SLICES = "all slices: "  # begins the purposes of what the total cost, in the account of a slice that it sharpened


@dataclass(frozen=True, kw_only=True)
class Spend:
    """A part of the budget and what it bought.

    Parameters
    ----------
    purpose : str
        In a word or two.
    epsilon : Fraction
        What it costs one record.
    measured : bool
        Whether it bought measurements that the release keeps; a size, a choice or a structure is not one.
    """

    purpose: str
    epsilon: Fraction
    measured: bool = True


@dataclass(frozen=True, kw_only=True)
class Size:
    """The figure that sized the partition.

    It was declared public, or is noisy and paid for. It is never shown as a total.
    """

    source: SizeSource
    value: int


@dataclass(frozen=True, kw_only=True)
class CappedTotal:
    """A noisy number of all records, capped by user.

    Parameters
    ----------
    value : int
        The noisy number; it may be negative.
    cap : int
        How many records of one user it counts at most.
    """

    value: int
    cap: int


@dataclass(frozen=True, kw_only=True)
class Claim:
    """The guarantee of a release: pure ε-differential privacy.

    Parameters
    ----------
    epsilon : Fraction
        Bound for one unit: adding or removing it changes no probability by more than a factor exp(ε).
    unit : "record" or "user"
        What neighbours differ by: one record, or all records of one user.
    max_per_unit : int
        Records of one unit that were kept at most; each measurement is charged that many times.
    spends : tuple of Spend
        Where the budget went, in order.
    size : Size or None
        The figure that sized the partition, where one was needed.
    max_cells : int or None
        Most cells that it could be given for it, where a limit was asked for.
    simulation : bool
        Made with seeded noise: an experiment, not a release.
    distinct : bool
        Whether users were counted, once in each cell, and not their records.
    total : CappedTotal or None
        The records of all users, kept or not, where they were counted and paid for.

    Examples
    --------
    >>> print(Claim(epsilon=Fraction(1, 2)).sentence)
    Adding or removing any one record changes the probability of every possible release by a factor of at most
    exp(0.5) = 1.65.
    >>> Claim(epsilon=Fraction(1), unit="user", max_per_unit=10).counted
    'kept records'
    """

    epsilon: Fraction
    unit: Unit = "record"
    max_per_unit: int = 1
    spends: tuple[Spend, ...] = ()
    size: Size | None = None
    max_cells: int | None = None
    simulation: bool = False
    distinct: bool = False
    total: CappedTotal | None = None

    def beside(self, total: "Claim") -> "Claim":
        """The guarantee of a slice and of the total of all slices together.

        A record is in both, so that it pays for both. What was measured of the total is not in the slice.
        """
        of_total = tuple(
            Spend(purpose=ALL_SLICES + spend.purpose, epsilon=spend.epsilon, measured=False) for spend in total.spends
        )
        return replace(self, epsilon=self.epsilon + total.epsilon, spends=(*of_total, *self.spends))

    @property
    def alone(self) -> "Claim":
        """The guarantee of what was measured of a slice, without the total."""
        spends = tuple(spend for spend in self.spends if not spend.purpose.startswith(ALL_SLICES))
        paid = sum((spend.epsilon for spend in self.spends), Fraction(0)) - sum(spend.epsilon for spend in spends)
        return replace(self, epsilon=self.epsilon - paid * self.max_per_unit, spends=spends)

    @property
    def total_rate(self) -> Fraction | None:
        """Rate of the noise in the total, if there is one.

        The account has its price for one of a user's K records, and one user changes it by the cap.
        """
        spent = self.spent_on(TOTAL)
        return None if self.total is None or not spent else spent / self.total.cap

    def spent_on(self, purpose: str) -> Fraction:
        """What one unit pays for a purpose."""
        paid = (spend.epsilon for spend in self.spends if spend.purpose == purpose)
        return sum(paid, Fraction(0)) * self.max_per_unit

    @property
    def counted(self) -> str:
        """What the counts are counts of, in words."""
        if self.unit == "record":
            return "points"
        return "user-area pairs" if self.distinct else "kept records"

    @property
    def sentence(self) -> str:
        """The guarantee in one plain sentence.

        A second one says what was done to each user's records for it.
        """
        who = "record" if self.unit == "record" else "user, with all their records,"
        epsilon = float(self.epsilon)
        factor = f" = {math.exp(epsilon):.3g}" if epsilon < 100 else ""
        return (
            f"Adding or removing any one {who} changes the probability of every possible release "
            f"by a factor of at most exp({epsilon:g}){factor}.{self._bound}"
        )

    @property
    def _bound(self) -> str:
        if self.unit == "record":
            return ""
        if self.distinct:
            each = f"each of at most {self.max_per_unit:,} cells" if self.max_per_unit > 1 else "one cell"
            return f" Each user counts once in {each}, chosen at random."
        records, were = ("records", "were") if self.max_per_unit > 1 else ("record", "was")
        kept = f" At most {self.max_per_unit:,} {records} of each user, chosen at random, {were} kept."
        if self.total is None or not self.spent_on(REGIONS):
            return kept
        return f"{kept} In the total and in regions, at most {self.total.cap:,} of each user count."


@dataclass(frozen=True, kw_only=True)
class MethodRecord:
    """The method that made a release.

    Parameters
    ----------
    name : str
        Its name in `hushgrid.METHODS`.
    parameters : mapping
        The parameters it was given; None where it found the value itself.
    asked : str
        What the caller asked for, a method or ``auto``.
    notes : tuple of str
        What a reader of the release should know: why it was chosen, which size was clamped.
    """

    name: str
    parameters: Mapping[str, int | float | str | bool | None] = field(default_factory=dict)
    asked: str = ""
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True, eq=False)
class PriorRecord:
    """The public prior that a release was held against.

    Parameters
    ----------
    name, kind, sha256, licence : str, licence may be None
        As the prior has them.
    nats : float
        How much likelier it made what was measured, as a logarithm.
    leaves : array of int, shape (leaves,), optional
        Its evidence in each leaf, in units of 1/32; None where it gained too little and was ignored.
    """

    name: str
    kind: str
    sha256: str
    licence: str | None
    nats: float
    leaves: Indices | None = None

    @property
    def used(self) -> bool:
        """Whether the counts follow from it."""
        return self.leaves is not None


@dataclass(frozen=True, kw_only=True)
class PeriodRecord:
    """The period whose records alone a release counts.

    Parameters
    ----------
    name : str
        Such as ``"2026-03"``.
    timezone : str
        Where its days begin and end.

    Examples
    --------
    >>> print(PeriodRecord(name="2026-03", timezone="Europe/Paris").words)
    2026-03 (time zone Europe/Paris)
    """

    name: str
    timezone: str

    @property
    def kind(self) -> PeriodKind:
        """Whether it is a year, quarter, month, week or day."""
        return Period.parse(self.name).kind

    @property
    def words(self) -> str:
        """The period and where it is one."""
        return f"{self.name} (time zone {self.timezone})"


@dataclass(frozen=True, kw_only=True)
class LedgerMark:
    """The ledger's entry that a release was charged to.

    Parameters
    ----------
    dataset : str
        The name that the data set has there.
    entry : int
        Number of its entry.
    head : str
        Hash of the ledger when the budget was set aside: a ledger that does not know it is an old copy, or another.
    """

    dataset: str
    entry: int
    head: str
