"""Places for ledgers, and requests to make of them."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

from hushgrid.geometry.domain import Domain
from hushgrid.ledger.ledger import Ledger, open_ledger
from hushgrid.ledger.request import Request
from hushgrid.ledger.reservation import Reservation
from hushgrid.ledger.store import Transaction
from hushgrid.periods import PeriodKind, PeriodRule

ASKED = Request(
    dataset="trips",
    unit="user",
    epsilon=Fraction(1),
    domain=Domain(west=-74.26, south=40.48, east=-73.70, north=40.92),
    method="ag",
    parameters={"alpha": 0.5, "size_from": "rows"},
    columns=("lon", "lat"),
    user_column="rider",
    max_per_user=10,
)


def asked(**changes: Any) -> Request:
    """The usual request, with some of it changed."""
    return replace(ASKED, **changes)


def file_place(folder: Path) -> str:
    """A new ledger in a file."""
    return str(folder / "trips.ledger")


def schema_place(server: str, name: str) -> str:
    """A new ledger in a schema of its own of a PostgreSQL server."""
    from sqlalchemy import create_engine, text

    engine = create_engine(server.replace("postgresql:", "postgresql+psycopg:"))
    with engine.begin() as connection:
        connection.execute(text(f'CREATE SCHEMA "{name}"'))
    engine.dispose()
    return f"{server}&options=-csearch_path%3D{name}"


def in_period(name: str, *, time: str = "started_at", timezone: str = "Europe/Paris") -> PeriodRule:
    """The rule of a period."""
    rule = PeriodRule.of(name, time=time, timezone=timezone)
    assert rule is not None
    return rule


def new_ledger(place: str, *, budget: object = 3, per: PeriodKind | None = None) -> str:
    """Make a ledger at a place, with the data set of the usual request."""
    with open_ledger(place, create=True) as ledger:
        ledger.add_dataset(ASKED.dataset, budget=budget, unit=ASKED.unit, per=per)
    return place


def reserved(ledger: Ledger, **changes: Any) -> Reservation:
    """A reservation that must be granted."""
    answer = ledger.reserve(asked(**changes), new_release=True)
    assert isinstance(answer, Reservation)
    return answer


@contextmanager
def tampering(place: str) -> Iterator[Transaction]:
    """A way to change what nobody should."""
    with open_ledger(place) as ledger, ledger._store.writing() as transaction:
        yield transaction
