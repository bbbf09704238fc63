"""One release in a ledger, and one data set: what the events say of them."""

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Literal, Self

from hushgrid.ledger.event import Abandoned, Committed
from hushgrid.ledger.request import request_key
from hushgrid.synopsis.claim import Unit

State = Literal["reserved", "committed", "abandoned"]


@dataclass(frozen=True, kw_only=True)
class Entry:
    """Budget that was set aside, and what became of it.

    Parameters
    ----------
    number : int
        Entries are numbered from 1 over the whole ledger.
    dataset : str
        The data set it is charged to.
    epsilon : Fraction
        What was set aside.
    request : str
        What was asked for, as JSON.
    head : str
        Hash of the event that made it. The release carries it.
    reserved : str
        When, in UTC.
    state : "reserved", "committed" or "abandoned"
        It moves forward once. An entry that stays reserved is running, or was cut off; its budget is spent.
    ended : str or None
        When it was committed or abandoned.
    charged : Fraction
        What it has cost: all of epsilon, or nothing if it was abandoned before anything was read.
    sha256 : str or None
        Of the release.
    reason : str or None
        Why it was abandoned.
    """

    number: int
    dataset: str
    epsilon: Fraction
    request: str
    head: str
    reserved: str
    charged: Fraction
    state: State = "reserved"
    ended: str | None = None
    sha256: str | None = None
    reason: str | None = None

    @property
    def key(self) -> str:
        """Key of the request."""
        return request_key(self.request)

    def ends(self, event: Committed | Abandoned) -> Self:
        """The entry after its last event."""
        if isinstance(event, Committed):
            return replace(self, state="committed", ended=event.time, sha256=event.sha256)
        charged = self.charged if event.charged else Fraction(0)
        return replace(self, state="abandoned", ended=event.time, reason=event.reason, charged=charged)


@dataclass(frozen=True, kw_only=True)
class Account:
    """The budget of one data set.

    Examples
    --------
    >>> account = Account(dataset="trips", budget=Fraction(3), unit="user", opened="2026-01-31T09:00:00Z")
    >>> account.reserve(Fraction(1, 3)).left
    Fraction(8, 3)
    """

    dataset: str
    budget: Fraction
    unit: Unit
    opened: str
    spent: Fraction = Fraction(0)
    reserved: Fraction = Fraction(0)

    @property
    def left(self) -> Fraction:
        """What may still be asked for."""
        return self.budget - self.spent - self.reserved

    def reserve(self, epsilon: Fraction) -> Self:
        """The account after a reservation."""
        return replace(self, reserved=self.reserved + epsilon)

    def settle(self, entry: Entry) -> Self:
        """The account after an entry has ended."""
        return replace(self, reserved=self.reserved - entry.epsilon, spent=self.spent + entry.charged)
