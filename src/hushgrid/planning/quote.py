"""What a ledger would charge, asked without writing to it."""

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Self

from hushgrid.ledger.book import Entry, amount
from hushgrid.ledger.request import whose_budget
from hushgrid.release.delivery import Charge
from hushgrid.release.request import ReleaseRequest


@dataclass(frozen=True, kw_only=True)
class Quote:
    """What a ledger would charge for a release.

    Parameters
    ----------
    ledger, dataset : str
        Where the ledger is, and the data set in it.
    epsilon : Fraction
        The price; zero where it is paid already.
    left : Fraction
        Of the budget, before the release.
    entry : int, optional
        The entry that has this very release, or that would be resumed.
    period : str, optional
        The period that pays, where each has a budget.

    Examples
    --------
    >>> print(Quote(ledger="city.ledger", dataset="trips", epsilon=Fraction(1, 2), left=Fraction(3)))
    epsilon 0.5: of the data set 'trips' in the ledger city.ledger, 3 is left before it, and 2.5 after it
    """

    ledger: str
    dataset: str
    epsilon: Fraction
    left: Fraction
    entry: int | None = None
    period: str | None = None

    @classmethod
    def of(cls, request: ReleaseRequest, charge: Charge) -> Self:
        """Ask a ledger; errors are those of publishing."""
        from hushgrid.ledger.ledger import open_ledger  # here, because few sessions keep a ledger

        wanted = charge.wanted(request)
        period = None if wanted.period is None else wanted.period.period.name
        with open_ledger(charge.ledger) as ledger:
            if charge.resume is not None:
                entry: Entry | None = ledger.resume(charge.resume, wanted).entry
            else:
                entry = ledger.foresee(wanted, new_release=charge.new_release)
            return cls(
                ledger=ledger.place,
                dataset=charge.dataset,
                epsilon=request.epsilon if entry is None else Fraction(0),
                left=ledger.book().account(charge.dataset).paying(period).left,
                entry=None if entry is None else entry.number,
                period=period,
            )

    @property
    def left_after(self) -> Fraction:
        """What is left of the budget after the release."""
        return self.left - self.epsilon

    def __str__(self) -> str:
        if self.entry is not None:
            return f"nothing: entry {self.entry} of the ledger {self.ledger} has paid for this release"
        budget = f"{whose_budget(self.dataset, self.period)} in the ledger {self.ledger}"
        return (
            f"epsilon {amount(self.epsilon)}: of {budget}, "
            f"{amount(self.left)} is left before it, and {amount(self.left_after)} after it"
        )

    def to_dict(self) -> dict[str, Any]:
        """The same as plain values; amounts as exact text."""
        return {
            "ledger": self.ledger,
            "dataset": self.dataset,
            "epsilon": str(self.epsilon),
            "left": str(self.left),
            "left_after": str(self.left_after),
            "period": self.period,
            "entry": self.entry,
        }


def check_account(charge: Charge) -> None:
    """Refuse a ledger that cannot be opened, or lacks the data set."""
    from hushgrid.ledger.ledger import open_ledger

    with open_ledger(charge.ledger) as ledger:
        ledger.book().account(charge.dataset, place=ledger.place)
