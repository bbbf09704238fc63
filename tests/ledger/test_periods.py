"""A budget for each period: what is granted, refused and told, in SQLite and in PostgreSQL."""

import io
import shutil
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hushgrid.errors import ArgumentError, BudgetError, LedgerError
from hushgrid.ledger.book import Account, Book, link
from hushgrid.ledger.event import Opened, Reserved, decode, encode
from hushgrid.ledger.ledger import open_ledger
from hushgrid.ledger.reservation import CommittedRelease, Reservation
from tests.ledger.places import ASKED, asked, in_period, new_ledger, reserved

GOLDEN = Path(__file__).parents[1] / "golden" / "0.1.0" / "before-periods.ledger"
HEAD = "70fbe80ca89d074ad84d3838c5c237c6f9187662d6f94e27b135d1a6d8e2f584"
MARCH, APRIL = in_period("2026-03"), in_period("2026-04")


@pytest.fixture
def monthly(empty_place: str) -> str:
    """A ledger with a budget of 1 for each month."""
    return new_ledger(empty_place, budget=1, per="month")


def test_each_month_has_its_budget(monthly: str) -> None:
    """What one has spent is not missing in another, and the sum is that of somebody in both."""
    with open_ledger(monthly) as ledger:
        reserved(ledger, period=MARCH).commit(io.BytesIO(b"march"))
        reserved(ledger, period=APRIL, epsilon=Fraction(1, 3))
        account = ledger.book().accounts["trips"]

        assert [(each.period, each.spent, each.reserved, each.left) for each in account.by_period] == [
            ("2026-03", 1, 0, 0),
            ("2026-04", 0, Fraction(1, 3), Fraction(2, 3)),
        ]
        assert account.lifetime == Fraction(4, 3)
        assert "in all 2 months charged so far: epsilon 4/3" in account.everyone


def test_a_month_beyond_its_budget_is_refused(monthly: str) -> None:
    """With what it has left, though other months have more."""
    with open_ledger(monthly) as ledger:
        reserved(ledger, period=MARCH, epsilon=Fraction(3, 4))
        with pytest.raises(BudgetError, match=r"asked of 2026-03 of 'trips', which has 0\.25 left") as refused:
            ledger.reserve(asked(period=MARCH))
        assert refused.value.instead == {"epsilon": "0.25"}
        reserved(ledger, period=APRIL)


def test_a_correction_is_charged_to_its_own_month(monthly: str) -> None:
    """Months later, from what that month has left."""
    with open_ledger(monthly) as ledger:
        reserved(ledger, period=MARCH, epsilon=Fraction(1, 2)).commit(io.BytesIO(b"march"))
        reserved(ledger, period=APRIL).commit(io.BytesIO(b"april"))
        reserved(ledger, period=MARCH, epsilon=Fraction(1, 2)).commit(io.BytesIO(b"march, corrected"))
        again = ledger.reserve(asked(period=MARCH, epsilon=Fraction(1, 2)))

        assert isinstance(again, CommittedRelease)
        assert again.read() == b"march, corrected"
        with pytest.raises(BudgetError):
            ledger.reserve(asked(period=MARCH, epsilon=Fraction(1, 2)), new_release=True)


def test_a_month_is_part_of_the_request(monthly: str) -> None:
    """The release of one is not given back for another."""
    with open_ledger(monthly) as ledger:
        reserved(ledger, period=MARCH).commit(io.BytesIO(b"march"))

        assert isinstance(ledger.reserve(asked(period=APRIL)), Reservation)
        assert isinstance(ledger.reserve(asked(period=MARCH)), CommittedRelease)
    assert len({asked().key, asked(period=MARCH).key, asked(period=APRIL).key}) == 3


@pytest.mark.parametrize("name", ["2026", "2026-Q1", "2026-W09", "2026-03-31"])
def test_a_period_of_another_kind_is_refused(monthly: str, name: str) -> None:
    """Else a day could be paid by its month and by itself."""
    with open_ledger(monthly) as ledger, pytest.raises(LedgerError, match=f"each month, and {name} is a"):
        ledger.reserve(asked(period=in_period(name)))


def test_a_period_is_asked_for_where_and_only_where_there_are_some(monthly: str) -> None:
    """A data set has either kind of budget, and says which."""
    with open_ledger(monthly) as ledger:
        ledger.add_dataset("homes", budget=1, unit="user")
        with pytest.raises(LedgerError, match="a budget for each month") as refused:
            ledger.reserve(asked())
        assert refused.value.instead == {"period": "2026-03"}
        with pytest.raises(LedgerError, match="one budget for all times") as refused:
            ledger.reserve(asked(dataset="homes", period=in_period("2026-W09")))
        assert "a budget for each week: hushgrid ledger init" in str(refused.value)
        assert str(refused.value).endswith("--unit user --per week")
        with pytest.raises(LedgerError, match=r"no data set 'rides'.* record\|user --per month"):
            ledger.reserve(asked(dataset="rides", period=MARCH))
        with pytest.raises(ArgumentError, match="with a budget of 1 a month for each user"):
            ledger.add_dataset("trips", budget=1, unit="user", per="month")
        with pytest.raises(ArgumentError, match="per must be one of"):
            ledger.add_dataset("work", budget=1, unit="user", per="hour")  # type: ignore[arg-type]
        assert ledger.book().entries == {}


@pytest.mark.parametrize("other", [{"timezone": "UTC"}, {"time": "ended_at"}])
def test_months_are_told_in_one_way_for_good(monthly: str, other: dict[str, str]) -> None:
    """By another column or time zone, a record could be in two months and cost each of them."""
    with open_ledger(monthly) as ledger:
        reserved(ledger, period=MARCH)
        with pytest.raises(LedgerError, match="one record could be in two periods") as refused:
            ledger.reserve(asked(period=in_period("2026-04", **other)))

    assert refused.value.instead == {"time": "started_at", "timezone": "Europe/Paris"}


def test_a_wrong_column_that_read_nothing_binds_nobody(monthly: str) -> None:
    """Its budget was given back, and with it the way to tell months."""
    with open_ledger(monthly) as ledger:
        reserved(ledger, period=in_period("2026-03", time="startet_at")).abandon("no such", data_was_read=False)
        reserved(ledger, period=MARCH)
        account = ledger.book().accounts["trips"]

    assert [each.period for each in account.by_period] == ["2026-03"]


def test_verify_tells_the_sum_of_all_months(monthly: str) -> None:
    """Beside what no month may exceed."""
    with open_ledger(monthly) as ledger:
        assert ledger.verify().checks[1].name == "0 months of trips"
        reserved(ledger, period=MARCH)
        assert ledger.verify().checks[1].name == "1 month of trips"
        reserved(ledger, period=APRIL, epsilon=Fraction(1, 2))
        checks = {check.name: check.detail for check in ledger.verify().checks}

    assert checks["2 months of trips"] == "none beyond its budget of 1; someone in all of them: 1.5"


def test_the_last_release_before_a_month_is_found(monthly: str) -> None:
    """The latest month before it, and of that month the latest entry, of the same data set and domain."""
    elsewhere = replace(ASKED.domain, west=-75.0)
    with open_ledger(monthly) as ledger:
        assert ledger.before(asked(period=APRIL)) is None
        for name, changes in {
            "2026-01": {},
            "2026-03": {"epsilon": Fraction(1, 2)},
            "2026-02": {"domain": elsewhere},
            "2025-12": {"parameters": {"by": "slices"}},
            "2026-05": {},
        }.items():
            reserved(ledger, period=in_period(name), **changes).commit(io.BytesIO(name.encode()))
        reserved(ledger, period=MARCH, epsilon=Fraction(1, 4)).commit(io.BytesIO(b"2026-03, corrected"))
        reserved(ledger, period=MARCH, epsilon=Fraction(1, 8))  # not finished
        found = {
            name: release and release.read()
            for name in ("2026-01", "2026-02", "2026-03", "2026-04", "2026-06")
            for release in [ledger.before(asked(period=in_period(name)))]
        }

    assert found == {
        "2026-01": None,  # slices are no prior
        "2026-02": b"2026-01",
        "2026-03": b"2026-01",
        "2026-04": b"2026-03, corrected",
        "2026-06": b"2026-05",
    }


def test_the_prior_of_a_series_is_on_record(monthly: str) -> None:
    """By its hash, which leads back to the release."""
    with open_ledger(monthly) as ledger:
        first = reserved(ledger, period=MARCH).commit(io.BytesIO(b"march"))
        ledger.reserve(asked(period=APRIL), prior=first.sha256)
        entry = ledger.book().entries[2]

        assert entry.prior is not None
        assert ledger.released(entry.prior).read() == b"march"
        with pytest.raises(LedgerError, match="has no release"):
            ledger.released("ab" * 32)


def test_a_ledger_from_before_there_were_periods_still_opens(tmp_path: Path) -> None:
    """It is whole, says the same, gives back its release by the same key, and goes on."""
    place = shutil.copy(GOLDEN, tmp_path / "old.ledger")
    with open_ledger(place) as ledger:
        assert ledger.verify(head=HEAD).ok
        assert ledger.book().head == HEAD
        account = ledger.book().accounts["trips"]
        assert (account.per, account.spent, account.reserved, account.left) == (
            None,
            Fraction(1, 2),
            Fraction(1, 3),
            Fraction(13, 6),
        )
        again = ledger.reserve(asked(epsilon=Fraction(1, 2)))
        assert isinstance(again, CommittedRelease)
        assert again.read() == b"a release, as bytes"
        resumed = ledger.resume(2, asked(epsilon=Fraction(1, 3), method="staq"))
        assert resumed.journal.recall(1, "all cells at 1") == b"noisy"
        ledger.add_dataset("rides", budget=1, unit="user", per="month")
        reserved(ledger, dataset="rides", period=MARCH)
        assert ledger.verify(head=HEAD).ok


def test_events_without_periods_are_written_as_before() -> None:
    """An older version reads them, and a chain goes on."""
    opened = Opened(dataset="trips", budget=Fraction(3), unit="user", time="2026-01-31T09:00:00Z")
    kept = Reserved(entry=1, dataset="trips", epsilon=Fraction(1), request="{}", time="2026-01-31T09:00:00Z")

    assert '"per"' not in encode(opened)
    assert all(f'"{name}"' not in encode(kept) for name in ("period", "time_column", "timezone", "prior"))
    for event in (opened, kept, replace(opened, per="week"), replace(kept, period="2026-W01", prior="ab")):
        assert decode(encode(event)) == event


FORGED = {
    "beyond the budget of a month": {"epsilon": Fraction(2)},
    "of no month": {"period": None},
    "of a day": {"period": "2026-03-01"},
    "of no period at all": {"period": "soon"},
}


@pytest.mark.parametrize("change", FORGED.values(), ids=FORGED)
def test_a_chain_that_was_made_up_is_refused(change: dict[str, object]) -> None:
    """Though each hash fits: what the events say could not have happened."""
    book = Book()
    opened = encode(Opened(dataset="trips", budget=Fraction(1), unit="user", per="month"))
    book.read(1, opened, link(book.head, 1, opened))
    event = Reserved(entry=1, dataset="trips", epsilon=Fraction(1), request="{}", period="2026-03")
    forged = encode(replace(event, **change))  # type: ignore[arg-type]

    with pytest.raises(LedgerError, match="event 2 is impossible"):
        book.read(2, forged, link(book.head, 2, forged))


@settings(max_examples=50)
@given(spends=st.lists(st.tuples(st.sampled_from(["2026-01", "2026-02", "2025-12"]), st.sampled_from([1, 2, 3]))))
def test_sums_are_those_of_a_plain_model(spends: list[tuple[str, int]]) -> None:
    """What months have left, and what somebody in all of them has to bear, whatever was asked for."""
    account = Account(dataset="trips", budget=Fraction(1), unit="user", opened="", per="month")
    plain: dict[str, Fraction] = {}
    for month, thirds in spends:
        epsilon = Fraction(thirds, 3)
        if epsilon <= account.paying(month).left:
            account = account.reserve(epsilon, month)
            plain[month] = plain.get(month, Fraction(0)) + epsilon

    assert {each.period: each.reserved for each in account.by_period} == plain
    assert all(0 <= each.left <= 1 for each in account.by_period)
    assert account.lifetime == sum(plain.values())
    assert [each.period for each in account.by_period] == sorted(plain)
