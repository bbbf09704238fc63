"""Events of a ledger, which alone make its state.

None is ever changed or removed.
"""

from collections.abc import Callable
from dataclasses import dataclass, field, fields
from datetime import UTC, datetime
from fractions import Fraction
from typing import Any, get_args

from hushgrid.errors import ArgumentError, LedgerError, SynopsisFileError
from hushgrid.files.strict_json import JsonObject
from hushgrid.ledger.request import canonical
from hushgrid.periods import PeriodKind
from hushgrid.synopsis.claim import Unit

LONGEST_EVENT = 2**16  # characters, where a request with a long row filter has a few thousand


def now() -> str:
    """The time in UTC, to the second."""
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


@dataclass(frozen=True, kw_only=True)
class Opened:
    """A data set got its budget and its unit.

    With `per`, each period of that kind has the budget.
    """

    dataset: str
    budget: Fraction
    unit: Unit
    per: PeriodKind | None = None
    time: str = field(default_factory=now)


@dataclass(frozen=True, kw_only=True)
class Reserved:
    """Budget was set aside before anything was read.

    That of a period, if there is one, whose records are told by a column and a time zone. `prior` is the SHA-256 of the
    earlier release of a series that sharpens this one.
    """

    entry: int
    dataset: str
    epsilon: Fraction
    request: str
    period: str | None = None
    time_column: str | None = None
    timezone: str | None = None
    prior: str | None = None
    time: str = field(default_factory=now)


@dataclass(frozen=True, kw_only=True)
class Measured:
    """A noisy measurement was kept before its use."""

    entry: int
    measurement: int
    fingerprint: str
    sha256: str
    time: str = field(default_factory=now)


@dataclass(frozen=True, kw_only=True)
class Committed:
    """A release was finished, and a copy kept."""

    entry: int
    sha256: str
    time: str = field(default_factory=now)


@dataclass(frozen=True, kw_only=True)
class Abandoned:
    """A release was given up.

    Its budget stays spent unless nothing was read.
    """

    entry: int
    reason: str
    charged: bool
    time: str = field(default_factory=now)


Event = Opened | Reserved | Measured | Committed | Abandoned

KINDS: dict[str, type[Event]] = {kind.__name__.lower(): kind for kind in get_args(Event)}
READERS: dict[Any, Callable[[JsonObject, str], Any]] = {
    str: JsonObject.text,
    int: JsonObject.whole,
    bool: JsonObject.flag,
    Fraction: JsonObject.rational,
    Unit: lambda values, name: values.text(name, among=get_args(Unit)),
    str | None: lambda values, name: values.text(name) if values.has(name) else None,
    PeriodKind | None: lambda values, name: values.text(name, among=get_args(PeriodKind)) if values.has(name) else None,
}


def encode(event: Event) -> str:
    """Write an event as canonical JSON.

    What is None is left out, so that events without periods are as they were before there were any.

    Examples
    --------
    >>> print(encode(Opened(dataset="trips", budget=Fraction(3), unit="user", time="2026-01-31T09:00:00Z")))
    {"budget":"3","dataset":"trips","kind":"opened","time":"2026-01-31T09:00:00Z","unit":"user"}
    """
    given = {name: value for name, value in vars(event).items() if value is not None}
    values = {name: str(value) if isinstance(value, Fraction) else value for name, value in given.items()}
    text = canonical({"kind": type(event).__name__.lower(), **values})
    if len(text) > LONGEST_EVENT:
        msg = f"the request takes {len(text):,} characters to write down, and a ledger holds at most {LONGEST_EVENT:,}."
        raise ArgumentError(msg)
    return text


def decode(text: str) -> Event:
    """Read an event; unknown kinds and keys are errors."""
    try:
        values = JsonObject.parse(text.encode())
        kind = KINDS[values.text("kind", among=tuple(KINDS))]
        names = {each.name: each.type for each in fields(kind)}
        values.only("kind", *names)
        return kind(**{name: READERS[kind_of](values, name) for name, kind_of in names.items()})
    except (SynopsisFileError, UnicodeEncodeError) as error:
        msg = f"it cannot be understood ({error})"
        raise LedgerError(msg) from error
