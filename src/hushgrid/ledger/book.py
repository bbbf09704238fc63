"""The state of a ledger, computed from its events."""

import hashlib
import shlex
from dataclasses import dataclass, replace
from decimal import Context, Decimal, Inexact
from difflib import get_close_matches
from fractions import Fraction
from typing import Literal, Self

from hushgrid.errors import LedgerError, SynopsisFileError
from hushgrid.files.strict_json import check_common_denominator
from hushgrid.ledger.event import Abandoned, Committed, Event, Measured, Opened, Reserved, decode
from hushgrid.ledger.request import request_key
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
        except LedgerError as error:
            msg = f"the ledger is damaged: event {expected} is impossible: {error}"
            raise LedgerError(msg) from error
        self.hashes.append(digest)

    def account(self, dataset: str, *, place: str | None = None) -> Account:
        """The account of a data set.

        Where there is none, the error says how to add one to the ledger at `place`.
        """
        if dataset not in self.accounts:
            known = ", ".join(map(repr, self.accounts)) or "none yet"
            ledger = "" if place is None else f"--ledger {shlex.quote(place)} "
            msg = (
                f"the ledger has no data set {dataset!r}; it has {known}. Add one with: "
                f"hushgrid ledger init {ledger}--dataset {shlex.quote(dataset)} --budget B --unit record|user"
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
            dataset=event.dataset, budget=event.budget, unit=event.unit, opened=event.time
        )

    def _reserve(self, event: Reserved, digest: str) -> None:
        account = self.account(event.dataset)
        _require(event.entry == len(self.entries) + 1 and event.epsilon <= account.left)
        check_sums(account, event.epsilon)
        self.accounts[event.dataset] = account.reserve(event.epsilon)
        self.journals[event.entry] = {}
        self.entries[event.entry] = Entry(
            number=event.entry,
            dataset=event.dataset,
            epsilon=event.epsilon,
            charged=event.epsilon,
            request=event.request,
            head=digest,
            reserved=event.time,
        )


def check_sums(account: Account, epsilon: Fraction) -> None:
    """Refuse an epsilon that makes sums unreasonably long."""
    try:
        check_common_denominator([account.budget, account.spent, account.reserved, epsilon])
    except SynopsisFileError as error:
        msg = f"epsilon has a denominator that does not fit those of the data set {account.dataset!r}. Round it."
        raise LedgerError(msg) from error


def _require(condition: bool) -> None:
    if not condition:
        msg = "it contradicts the events before it."
        raise LedgerError(msg)
