"""The state of a ledger, computed from its events."""

import hashlib
import shlex
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from decimal import Context, Decimal, Inexact
from difflib import get_close_matches
from fractions import Fraction
from typing import Literal, Self

from hushgrid.errors import ArgumentError, LedgerError, SynopsisFileError
from hushgrid.files.strict_json import JsonObject, check_common_denominator
from hushgrid.ledger.event import Abandoned, Committed, Event, Measured, Opened, Reserved, decode
from hushgrid.ledger.request import Request, request_key, whose_budget
from hushgrid.periods import Period, PeriodKind
from hushgrid.synopsis.claim import Unit

DIGITS = Context(prec=12, traps=[Inexact])


def amount(value: Fraction) -> str:
    """Write a rational as a short decimal or a fraction.

    Examples
    --------
    >>> amount(Fraction(1, 2)), amount(Fraction(300)), amount(Fraction(1, 3))
    ('0.5', '300', '1/3')
    """
    try:
        return f"{DIGITS.divide(Decimal(value.numerator), Decimal(value.denominator)):f}"
    except Inexact:
        return str(value)


State = Literal["reserved", "committed", "abandoned"]


@dataclass(frozen=True, kw_only=True)
class Entry:
    """Budget set aside, and what became of it.

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
        It changes once. An entry that stays reserved is running or was cut off; its budget is spent.
    ended : str or None
        When it was committed or abandoned.
    charged : Fraction
        What it cost: all of epsilon, or nothing if it was abandoned before anything was read.
    sha256 : str or None
        Of the release.
    reason : str or None
        Why it was abandoned.
    period : str or None
        The period that pays, and whose records alone are read.
    time_column, timezone : str or None
        What tells the records of a period from others.
    prior : str or None
        SHA-256 of the earlier release of a series that sharpens this one.
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
    period: str | None = None
    time_column: str | None = None
    timezone: str | None = None
    prior: str | None = None

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


EXAMPLE: dict[PeriodKind, str] = {
    "year": "2026",
    "quarter": "2026-Q1",
    "month": "2026-03",
    "week": "2026-W09",
    "day": "2026-03-31",
}


@dataclass(frozen=True, kw_only=True)
class Account:
    """The budget of one data set, or of one period of it.

    Parameters
    ----------
    budget : Fraction
        What may be spent: in all, or with `per` in each period.
    spent, reserved : Fraction
        In all, or with `per` the sum over all periods: what somebody present in all of them has to bear.
    per : "year", "quarter", "month", "week" or "day", optional
        Whether each period has a budget of its own.
    period : str, optional
        The period, where it is the account of one.
    periods : mapping
        The accounts of the periods that were charged, by name.

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
    per: PeriodKind | None = None
    period: str | None = None
    periods: Mapping[str, "Account"] = field(default_factory=dict)

    @property
    def left(self) -> Fraction:
        """What may still be asked for; with `per`, only a period has it."""
        assert self.per is None or self.period is not None
        return self.budget - self.spent - self.reserved

    @property
    def lifetime(self) -> Fraction:
        """What all releases so far may tell, of someone in all periods."""
        return self.spent + self.reserved

    @property
    def by_period(self) -> "list[Account]":
        """The accounts of periods that have spent, the earliest first."""
        ordered = (self.periods[name] for name in sorted(self.periods, key=Period.parse))
        return [account for account in ordered if account.lifetime]

    @property
    def everyone(self) -> str:
        """What all periods together cost somebody present in each, as a sentence."""
        number, a_record = len(self.by_period), "a record" if self.unit == "record" else "records"
        periods = f"all {number:,} {self.per}s" if number > 1 else f"the one {self.per}"
        return (
            f"Someone with {a_record} in {periods} charged so far: epsilon {amount(self.lifetime)} of "
            f"the data set {self.dataset!r}. It grows with every {self.per}, and no budget bounds it."
        )

    @property
    def whose(self) -> str:
        """The data set, and the period if it is the account of one."""
        return whose_budget(self.dataset, self.period)

    def paying(self, period: str | None) -> "Account":
        """The account that pays: this one, or that of a period.

        Examples
        --------
        >>> account = Account(dataset="trips", budget=Fraction(1), unit="user", opened="", per="month")
        >>> account.reserve(Fraction(1, 3), "2026-03").paying("2026-03").left
        Fraction(2, 3)
        """
        if self.per is None:
            if period is not None:
                kind = Period.parse(period).kind
                msg = f"the data set {self.dataset!r} has one budget for all times, and none for {period}. Leave out "
                msg += f"the period, or give another data set a budget for each {kind}: hushgrid ledger init --dataset "
                msg += f"NAME --budget B --unit {self.unit} --per {kind}"
                raise LedgerError(msg)
            return self
        if period is None:
            msg = f"the data set {self.dataset!r} has a budget for each {self.per}. Say which one pays, and how its "
            msg += (
                f"records are told: period='{EXAMPLE[self.per]}' (--period), time (--time) and timezone (--timezone)."
            )
            raise LedgerError(msg, instead={"period": EXAMPLE[self.per]})
        kind = Period.parse(period).kind
        if kind != self.per:
            msg = f"the data set {self.dataset!r} has a budget for each {self.per}, and {period} is a {kind}. Give a "
            msg += f"{self.per}, such as {EXAMPLE[self.per]}."
            raise LedgerError(msg)
        new = replace(self, spent=Fraction(0), reserved=Fraction(0), period=period, periods={})
        return self.periods.get(period, new)

    def reserve(self, epsilon: Fraction, period: str | None = None) -> Self:
        """The account after a reservation."""
        return self._with(period, reserved=epsilon)

    def settle(self, entry: Entry) -> Self:
        """The account after an entry has ended."""
        return self._with(entry.period, reserved=-entry.epsilon, spent=entry.charged)

    def _with(self, period: str | None, *, reserved: Fraction, spent: Fraction = Fraction(0)) -> Self:
        """The account with more set aside and spent, in a period or in all."""
        periods = self.periods
        if period is not None:
            payer = self.paying(period)
            paid = replace(payer, reserved=payer.reserved + reserved, spent=payer.spent + spent)
            periods = {**periods, period: paid}
        return replace(self, reserved=self.reserved + reserved, spent=self.spent + spent, periods=periods)


GENESIS = "0" * 64  # stands before the first event


def link(previous: str, number: int, text: str) -> str:
    """Hash an event together with everything before it."""
    return hashlib.sha256(f"{previous}\n{number}\n{text}".encode()).hexdigest()


class Book:
    """Accounts, entries and journals of a ledger.

    An event that does not follow from those before it is an error: each hash includes the one before, the state of an
    entry changes once, and no account goes below zero.
    """

    def __init__(self) -> None:
        self.accounts: dict[str, Account] = {}
        self.entries: dict[int, Entry] = {}
        self.journals: dict[int, dict[int, Measured]] = {}
        self.hashes: list[str] = []

    @property
    def head(self) -> str:
        """Hash of the last event."""
        return self.hashes[-1] if self.hashes else GENESIS

    def read(self, number: object, text: object, digest: object) -> None:
        """Take in one event as the ledger stores it."""
        expected = len(self.hashes) + 1
        if number != expected or not isinstance(text, str) or digest != link(self.head, expected, text):
            msg = f"the ledger is damaged: event {expected} was edited, moved or removed."
            raise LedgerError(msg)
        try:
            self._apply(decode(text), digest)
        except (LedgerError, ArgumentError) as error:
            msg = f"the ledger is damaged: event {expected} is impossible: {error}"
            raise LedgerError(msg) from error
        self.hashes.append(digest)

    def account(self, dataset: str, *, place: str | None = None, per: PeriodKind | None = None) -> Account:
        """The account of a data set.

        Where there is none, the error says how to add one to the ledger at `place`, with a budget for each period if
        one is asked for.
        """
        if dataset not in self.accounts:
            known = ", ".join(map(repr, self.accounts)) or "none yet"
            ledger = "" if place is None else f"--ledger {shlex.quote(place)} "
            each = "" if per is None else f" --per {per}"
            msg = (
                f"the ledger has no data set {dataset!r}; it has {known}. Add one with: "
                f"hushgrid ledger init {ledger}--dataset {shlex.quote(dataset)} --budget B --unit record|user{each}"
            )
            near = get_close_matches(dataset, self.accounts, n=1)
            raise LedgerError(msg, instead={"dataset": near[0]} if near else None)
        return self.accounts[dataset]

    def release(self, key: str) -> Entry | None:
        """The latest committed entry of a request."""
        for entry in reversed(self.entries.values()):
            if entry.state == "committed" and entry.key == key:
                return entry
        return None

    def before(self, request: Request) -> Entry | None:
        """The last release of the data set and domain before a period.

        Of a request without a period, the last one at all.
        """
        found = [entry for entry in self.entries.values() if entry.state == "committed" and _is_alike(entry, request)]
        if request.period is None:
            return found[-1] if found else None
        own = request.period.period
        dated = [(Period.parse(entry.period), entry.number) for entry in found if entry.period is not None]
        _, number = max((each for each in dated if each[0] < own), default=(None, None))
        return None if number is None else self.entries[number]

    def clock(self, dataset: str) -> tuple[str | None, str | None] | None:
        """Column and time zone by which periods of a data set are told.

        They are those of its first entry that was not given back: if they changed, one record could be in two periods.
        """
        charged = (entry for entry in self.entries.values() if entry.dataset == dataset and entry.charged)
        return next(((entry.time_column, entry.timezone) for entry in charged), None)

    def unfinished(self, number: int) -> Entry:
        """An entry that is neither committed nor abandoned."""
        if number not in self.entries:
            known = f"its entries are 1 to {len(self.entries)}" if self.entries else "it has no entries yet"
            msg = f"the ledger has no entry {number}; {known}. List them: hushgrid ledger history"
            raise LedgerError(msg)
        entry = self.entries[number]
        if entry.state != "reserved":
            msg = f"entry {number} is already {entry.state}. Ask for a new release."
            raise LedgerError(msg)
        return entry

    def _apply(self, event: Event, digest: str) -> None:
        match event:
            case Opened():
                self._open(event)
            case Reserved():
                self._reserve(event, digest)
            case Measured():
                journal = self.journals[self.unfinished(event.entry).number]
                _require(event.measurement not in journal)
                journal[event.measurement] = event
            case Committed() | Abandoned():
                entry = self.unfinished(event.entry)
                _require(isinstance(event, Committed) or event.charged or not self.journals[entry.number])
                self.entries[entry.number] = ended = entry.ends(event)
                self.accounts[entry.dataset] = self.accounts[entry.dataset].settle(ended)

    def _open(self, event: Opened) -> None:
        _require(event.dataset not in self.accounts)
        self.accounts[event.dataset] = Account(
            dataset=event.dataset, budget=event.budget, unit=event.unit, opened=event.time, per=event.per
        )

    def _reserve(self, event: Reserved, digest: str) -> None:
        account = self.account(event.dataset)
        payer = account.paying(event.period)
        _require(event.entry == len(self.entries) + 1 and event.epsilon <= payer.left)
        _require(self.clock(event.dataset) in (None, (event.time_column, event.timezone)))
        check_sums(account, payer, event.epsilon)
        self.accounts[event.dataset] = account.reserve(event.epsilon, event.period)
        self.journals[event.entry] = {}
        self.entries[event.entry] = Entry(
            number=event.entry,
            dataset=event.dataset,
            epsilon=event.epsilon,
            charged=event.epsilon,
            request=event.request,
            head=digest,
            reserved=event.time,
            period=event.period,
            time_column=event.time_column,
            timezone=event.timezone,
            prior=event.prior,
        )


def _is_alike(entry: Entry, request: Request) -> bool:
    """Whether an entry released the data set and domain of a request.

    Slices are several releases, and do not count.
    """
    try:
        asked, wanted = (JsonObject.parse(text.encode()) for text in (entry.request, request.text))
        places = [(each.numbers("bounds"), each.text("crs")) for each in (asked, wanted)]
        is_sliced = asked.child("parameters").has("by")
    except (SynopsisFileError, UnicodeEncodeError):
        return False
    return entry.dataset == request.dataset and places[0] == places[1] and not is_sliced


def check_sums(account: Account, payer: Account, epsilon: Fraction) -> None:
    """Refuse an epsilon that makes sums unreasonably long."""
    try:
        for each in (account, payer):
            check_common_denominator([each.budget, each.spent, each.reserved, epsilon])
    except SynopsisFileError as error:
        msg = f"epsilon has a denominator that does not fit those of the data set {account.dataset!r}. Round it."
        raise LedgerError(msg) from error


def _require(condition: bool) -> None:
    if not condition:
        msg = "it contradicts the events before it."
        raise LedgerError(msg)
