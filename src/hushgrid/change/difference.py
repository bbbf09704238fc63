"""What changed between two releases, place by place."""

from dataclasses import dataclass, fields, replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from hushgrid.arrays import Floats, Indices
from hushgrid.change.evidence import CORRECTIONS, Correction, TwoCounts, p_values


@dataclass(frozen=True, kw_only=True)
class Terms:
    """How sure intervals and discoveries are to be.

    Parameters
    ----------
    confidence : float
        How often an interval should hold the true difference or ratio.
    rate : float
        With ``bh``, the share of false ones among the changes called significant; with ``holm``, the chance of any.
    correction : "bh" or "holm"
        For many comparisons: Benjamini and Hochberg's, or Holm's.
    """

    confidence: float = 0.95
    rate: float = 0.05
    correction: Correction = "bh"


@dataclass(frozen=True, kw_only=True, eq=False)
class Difference:
    """Counts of places in two releases, and how they differ.

    Every field but `terms` has shape (n,), or is one value for one place.

    Parameters
    ----------
    before, after : float or array
        Estimated counts, never clipped.
    difference : float or array
        After minus before.
    low, high : float or array
        Interval that holds the true difference with the confidence asked for.
    ratio, ratio_low, ratio_high : float or array
        After over before, and its interval; missing (NaN) where either count is not usable.
    p_value : float or array
        How often noise alone makes a difference as large as this.
    significant : bool or array
        Whether it is larger than noise explains, after the correction for as many comparisons as there are places.
    terms : Terms
        What was asked for.
    """

    before: float | Floats
    after: float | Floats
    difference: float | Floats
    low: float | Floats
    high: float | Floats
    ratio: float | Floats
    ratio_low: float | Floats
    ratio_high: float | Floats
    p_value: float | Floats
    significant: bool | NDArray[np.bool_]
    terms: Terms

    @classmethod
    def of(cls, pair: TwoCounts, terms: Terms) -> Self:
        """Compare the counts of two releases."""
        before, after = np.asarray(pair.before.estimate), np.asarray(pair.after.estimate)
        difference, half = after - before, pair.half_widths(1 - terms.confidence)
        ratio = fieller(before, after, *pair.halves(1 - terms.confidence))
        usable = np.asarray(pair.before.usable) & np.asarray(pair.after.usable)
        low, middle, high = (np.where(usable, each, np.nan) for each in ratio)
        p = p_values(np.abs(difference), pair.half_widths)
        return cls(
            before=before,
            after=after,
            difference=difference,
            low=difference - half,
            high=difference + half,
            ratio=middle,
            ratio_low=low,
            ratio_high=high,
            p_value=p,
            significant=CORRECTIONS[terms.correction](p) <= terms.rate,
            terms=terms,
        )

    def columns(self) -> dict[str, Floats]:
        """All fields but the terms, by name; shape (n,) each."""
        return {field.name: np.atleast_1d(getattr(self, field.name)) for field in fields(self) if field.name != "terms"}

    def scalar(self) -> "Difference":
        """The difference of one place, as plain values."""
        return replace(self, **{name: values[0].item() for name, values in self.columns().items()})

    def of_places(self, numbers: Indices) -> "Difference":
        """Some of the places, by number; what is significant stays so."""
        some: dict[str, Any] = {name: values[numbers] for name, values in self.columns().items()}
        return replace(self, **some)

    def by_evidence(self) -> Indices:
        """Numbers of the places, the surest change first; of equal ones, the larger."""
        columns = self.columns()
        return np.asarray(np.lexsort((-np.abs(columns["difference"]), columns["p_value"])))

    def sentence(self, place: str = "place") -> str:
        """What changed, for someone who reads one sentence.

        Parameters
        ----------
        place : str
            What one place is called.
        """
        columns = self.columns()
        size, found = len(columns["difference"]), columns["difference"][columns["significant"].astype(bool)]
        rose, fell = int((found > 0).sum()), int((found < 0).sum())
        among = f"{size:,} {plural(place)}" if size != 1 else f"1 {place}"
        if not rose + fell:
            return f"In none of {among} did the number change by more than noise explains."
        first, verb = (rose, "rose") if rose else (fell, "fell")
        then = f"in {fell:,} it fell" if rose and fell else f"in none it {'fell' if rose else 'rose'}"
        return (
            f"In {first:,} of {among} the number {verb} by more than noise explains, {then}; {_assurance(self.terms)}."
        )


def plural(noun: str) -> str:
    """Several of what a noun names.

    Examples
    --------
    >>> plural("county"), plural("state"), plural("parish"), plural("survey")
    ('counties', 'states', 'parishes', 'surveys')
    """
    if noun.endswith("y") and noun[-2:-1] not in "aeiou":
        return f"{noun[:-1]}ies"
    return f"{noun}es" if noun.endswith(("s", "x", "ch", "sh")) else f"{noun}s"


def _assurance(terms: Terms) -> str:
    share = f"{100 * terms.rate:g} %"
    if terms.correction == "holm":
        return f"the chance that any of these is a false alarm is at most {share}"
    return f"at most {share} of such findings are false alarms on average"


def fieller(before: Floats, after: Floats, before_half: Floats, after_half: Floats) -> tuple[Floats, Floats, Floats]:
    """Lower end, middle and upper end of the ratio after / before.

    A ratio r is held where after - r before may be zero: |after - r before| <= hypot(after_half, r before_half)
    (E. C. Fieller, "Some problems in interval estimation", JRSS B 16, 1954). The ends are not finite where `before` may
    be zero itself.

    Examples
    --------
    >>> fieller(np.array([100.0]), np.array([200.0]), np.array([0.0]), np.array([20.0]))
    (array([1.8]), array([2.]), array([2.2]))
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        squared = before**2 - before_half**2
        root = np.sqrt(before**2 * after**2 - squared * (after**2 - after_half**2))
        low, high = ((before * after + sign * root) / squared for sign in (-1, 1))
        return np.maximum(low, 0), after / before, high
