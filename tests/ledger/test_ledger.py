"""What a ledger grants, keeps, gives back and refuses, in SQLite and in PostgreSQL."""

import hashlib
import io
from fractions import Fraction
from pathlib import Path

import pytest

from hushgrid.errors import ArgumentError, BudgetError, LedgerError
from hushgrid.geometry.domain import Domain
from hushgrid.ledger.ledger import open_ledger
from hushgrid.ledger.reservation import CommittedRelease, Reservation, commit_written
from hushgrid.ledger.store import PART
from hushgrid.synopsis.claim import LedgerMark
from tests.ledger.places import ASKED, asked, reserved, tampering

BYTES = b"a release, as bytes"


def test_a_release_is_reserved_and_committed(place: str) -> None:
    """The entry moves from reserved to committed, with the hash of the release; the account follows."""
    with open_ledger(place) as ledger:
        reservation = reserved(ledger, epsilon=Fraction(1, 3))
        before = ledger.book().accounts["trips"]
        release = reservation.commit(io.BytesIO(BYTES))
        book = ledger.book()

    assert (before.spent, before.reserved, before.left) == (0, Fraction(1, 3), Fraction(8, 3))
    assert book.accounts["trips"].spent == Fraction(1, 3)
    assert book.accounts["trips"].left == Fraction(8, 3)
    assert book.entries[1] == release.entry
    assert book.entries[1].state == "committed"
    assert book.entries[1].sha256 == hashlib.sha256(BYTES).hexdigest()


def test_the_same_request_gets_the_same_bytes(place: str, tmp_path: Path) -> None:
    """It costs nothing, in this run or another, until a new release is asked for."""
    with open_ledger(place) as ledger:
        reserved(ledger).commit(io.BytesIO(BYTES))
    with open_ledger(place) as ledger:
        again = ledger.reserve(asked())
        assert isinstance(again, CommittedRelease)
        again.save(tmp_path / "again.dp.parquet")
        left = ledger.book().accounts["trips"].left
        anew = ledger.reserve(asked(), new_release=True)

    assert (tmp_path / "again.dp.parquet").read_bytes() == BYTES
    assert left == 2
    assert isinstance(anew, Reservation)


def test_the_latest_of_several_releases_is_given_back(place: str) -> None:
    """Two were paid for; the second stands for the request."""
    with open_ledger(place) as ledger:
        reserved(ledger).commit(io.BytesIO(b"first"))
        reserved(ledger).commit(io.BytesIO(b"second"))
        again = ledger.reserve(asked())

        assert isinstance(again, CommittedRelease)
        assert again.read() == b"second"


def test_a_reserved_entry_satisfies_nothing(place: str) -> None:
    """A request asked for again before the commit is charged again."""
    with open_ledger(place) as ledger:
        first, second = ledger.reserve(asked()), ledger.reserve(asked())

        assert isinstance(first, Reservation)
        assert isinstance(second, Reservation)
        assert first.entry.number != second.entry.number
        assert ledger.book().accounts["trips"].left == 1


def test_ten_tenths_fit_a_budget_of_one(empty_place: str) -> None:
    """Ten tenths fit exactly and nothing more, because the account is kept in fractions."""
    with open_ledger(empty_place, create=True) as ledger:
        ledger.add_dataset("trips", budget=1.0, unit="user")
        for _ in range(10):
            reserved(ledger, epsilon=Fraction("0.1"))

        assert ledger.book().accounts["trips"].left == 0
        with pytest.raises(BudgetError):
            ledger.reserve(asked(epsilon=Fraction(1, 10**9)))


def test_what_does_not_fit_is_refused_in_figures(place: str) -> None:
    """What is asked, left, granted, spent and reserved, and that nothing was charged."""
    with open_ledger(place) as ledger:
        reserved(ledger, epsilon=Fraction(2)).commit(io.BytesIO(BYTES))
        reserved(ledger, epsilon=Fraction(1, 3))
        with pytest.raises(BudgetError) as refusal:
            ledger.reserve(asked(epsilon=Fraction("0.7")))
        events = len(ledger.book().hashes)

    assert refusal.value.exit_code == 4
    assert str(refusal.value) == (
        "epsilon 0.7 is asked of the data set 'trips', which has 2/3 left: of its budget of 3, 2 is spent and 1/3 "
        "reserved by releases that are not finished. Nothing was read or charged. Try epsilon='2/3'."
    )
    assert events == 4


def test_another_unit_is_refused(place: str) -> None:
    """One data set has one unit."""
    with open_ledger(place) as ledger, pytest.raises(LedgerError, match=r"protects each user, .* protect each record"):
        ledger.reserve(asked(unit="record"))


def test_an_unknown_data_set_is_refused(place: str) -> None:
    """The error names those that are known, and the way to add one."""
    with (
        open_ledger(place) as ledger,
        pytest.raises(LedgerError, match=r"'tripz'; it has 'trips'\. Add one") as refusal,
    ):
        ledger.reserve(asked(dataset="tripz"))
    assert refusal.value.exit_code == 5


def test_a_budget_is_fixed_for_good(place: str) -> None:
    """A data set cannot be added twice, with whatever budget."""
    with (
        open_ledger(place) as ledger,
        pytest.raises(ArgumentError, match="already has the data set 'trips', with a budget of 3 for each user"),
    ):
        ledger.add_dataset("trips", budget=4, unit="user")


def test_data_sets_have_budgets_of_their_own(place: str) -> None:
    """What one spends, the other keeps."""
    with open_ledger(place) as ledger:
        ledger.add_dataset("homes", budget="1/7", unit="record")
        reserved(ledger, epsilon=Fraction(3))
        reserved(ledger, dataset="homes", unit="record", epsilon=Fraction(1, 7))

        assert [account.left for account in ledger.book().accounts.values()] == [0, 0]


@pytest.mark.parametrize(
    ("name", "budget", "unit"),
    [
        ("", 1, "user"),
        (" trips", 1, "user"),
        ("two\nlines", 1, "user"),
        ("x" * 101, 1, "user"),
        ("x", 0, "user"),
        ("x", -1, "user"),
        ("x", "nan", "user"),
        ("x", "1/" + "9" * 600, "user"),
        ("x", 1, "household"),
    ],
)
def test_bad_terms_are_refused(place: str, name: str, budget: object, unit: str) -> None:
    """A name that cannot be read, a budget that is none, a unit that does not exist."""
    with open_ledger(place) as ledger:
        with pytest.raises(ArgumentError):
            ledger.add_dataset(name, budget=budget, unit=unit)  # type: ignore[arg-type]
        assert len(ledger.book().hashes) == 1


def test_names_in_any_script_are_kept(place: str) -> None:
    """Letters beyond ASCII survive the file, the database and the chain."""
    name = "trajets à vélo 自転車"
    with open_ledger(place) as ledger:
        ledger.add_dataset(name, budget=1, unit="user")
        reserved(ledger, dataset=name, parameters={"query": "SELECT lon, lat FROM trajets WHERE ville = 'Orléans'"})

        assert ledger.book().accounts[name].left == 0
        assert ledger.verify().ok


def test_a_name_that_looks_the_same_is_the_same(place: str) -> None:
    """One accent is a letter's own and another a character after it: that must not be a second budget."""
    with open_ledger(place) as ledger:
        ledger.add_dataset("vélos", budget=1, unit="user")
        with pytest.raises(
            ArgumentError, match="already has the data set 'v\u00e9los', in characters that look the same"
        ):
            ledger.add_dataset("ve\u0301los", budget=1, unit="user")

        assert list(ledger.book().accounts) == ["trips", "v\u00e9los"]


@pytest.mark.parametrize("data_was_read", [True, False])
def test_giving_up_returns_budget_only_if_nothing_was_read(place: str, data_was_read: bool) -> None:
    """By default it stays spent."""
    with open_ledger(place) as ledger:
        entry = reserved(ledger).abandon("no such column", data_was_read=data_was_read)
        account = ledger.book().accounts["trips"]

    assert entry.state == "abandoned"
    assert (entry.charged, account.spent, account.reserved) == (data_was_read, data_was_read, 0)


@pytest.mark.parametrize("last", ["commit", "abandon"])
@pytest.mark.parametrize("then", ["commit", "abandon", "give back", "measure", "recall", "resume"])
def test_an_entry_that_has_ended_stays_as_it_is(place: str, last: str, then: str) -> None:
    """No second commit, no way back, nothing measured for it any more."""
    with open_ledger(place) as ledger:
        reservation = reserved(ledger)
        moves = {
            "commit": lambda: reservation.commit(io.BytesIO(BYTES)),
            "abandon": lambda: reservation.abandon("a reason"),
            "give back": lambda: reservation.abandon("a reason", data_was_read=False),
            "measure": lambda: reservation.journal.record(1, "cells", BYTES),
            "recall": lambda: reservation.journal.recall(1, "cells"),
            "resume": lambda: ledger.resume(1, asked()),
        }
        moves[last]()
        before = ledger.book().head

        with pytest.raises(LedgerError, match=r"entry 1 is already (committed|abandoned)"):
            moves[then]()
        assert ledger.book().head == before


def test_an_entry_that_does_not_exist_is_refused(place: str) -> None:
    """Resuming an unknown entry is an error that names its number."""
    with open_ledger(place) as ledger, pytest.raises(LedgerError, match="no entry 7"):
        ledger.resume(7, asked())


def test_the_mark_is_in_the_chain(place: str) -> None:
    """A release carries data set, entry and head; the head is found later, whatever has happened since."""
    with open_ledger(place) as ledger:
        reservation = reserved(ledger)
        head = ledger.book().head
        reservation.commit(io.BytesIO(BYTES))
        reserved(ledger)

        assert reservation.mark == LedgerMark(dataset="trips", entry=1, head=head)
        assert ledger.verify(head=reservation.mark.head).ok


@pytest.mark.parametrize("size", [0, 1, PART - 1, PART, PART + 1, 2 * PART + 5])
def test_releases_of_any_size_are_kept(place: str, size: int) -> None:
    """Part by part, on either side of the edges."""
    content = hashlib.shake_128(b"release").digest(size)
    with open_ledger(place) as ledger:
        reserved(ledger).commit(io.BytesIO(content))
        again = ledger.reserve(asked())

        assert isinstance(again, CommittedRelease)
        assert again.read() == content


@pytest.mark.parametrize(
    "damage", ["DELETE FROM hushgrid_parts", "UPDATE hushgrid_parts SET bytes = '\\x00'"], ids=["missing", "altered"]
)
def test_a_lost_copy_is_an_error_and_no_free_release(place: str, tmp_path: Path, damage: str) -> None:
    """A lost copy gives no bytes, no reservation and no file."""
    with open_ledger(place) as ledger:
        reserved(ledger).commit(io.BytesIO(BYTES))
    with tampering(place) as transaction:
        transaction.run(damage)

    with open_ledger(place) as ledger:
        again = ledger.reserve(asked())
        assert isinstance(again, CommittedRelease)
        with pytest.raises(LedgerError, match="missing or was altered"):
            again.read()
        with pytest.raises(LedgerError, match="missing or was altered"):
            again.save(tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_a_release_appears_after_its_commit(place: str, tmp_path: Path) -> None:
    """While it is written there is no file of any name; at the end it is at its path, and in the ledger."""
    output = tmp_path / "release" / "trips.dp.parquet"
    output.parent.mkdir()

    def write(out: object) -> None:
        out.write(BYTES)  # type: ignore[attr-defined]
        assert list(output.parent.iterdir()) == []

    with open_ledger(place) as ledger:
        release = commit_written(reserved(ledger), write, folder=output.parent)
        assert list(output.parent.iterdir()) == []
        release.save(output)

        assert output.read_bytes() == release.read() == BYTES
        assert list(output.parent.iterdir()) == [output]


def test_a_release_that_cannot_appear_is_not_lost(place: str, tmp_path: Path) -> None:
    """A file that came to stand in its way stays; the release is given back under another name, at no cost."""
    (tmp_path / "taken").write_bytes(b"theirs")
    with open_ledger(place) as ledger:
        release = commit_written(reserved(ledger), lambda out: out.write(BYTES) and None)
        with pytest.raises(ArgumentError, match="exists"):
            release.save(tmp_path / "taken")
        again = ledger.reserve(asked())

        assert isinstance(again, CommittedRelease)
        assert again.read() == BYTES
    assert (tmp_path / "taken").read_bytes() == b"theirs"


@pytest.mark.parametrize(
    "change",
    [
        {"dataset": "homes"},
        {"unit": "record"},
        {"epsilon": Fraction(2)},
        {"domain": Domain(west=-74.26, south=40.48, east=-73.70, north=40.93)},
        {"domain": Domain(west=-74.26, south=40.48, east=-73.70, north=40.92, crs="EPSG:4326")},
        {"method": "ug"},
        {"parameters": {"alpha": 0.25, "size_from": "rows"}},
        {"parameters": {"alpha": 0.5}},
        {"columns": ("lat", "lon")},
        {"user_column": "driver"},
        {"max_per_user": 11},
        {"parameters": {"alpha": 0.5, "size_from": "rows", "query": "SELECT lon, lat FROM trips WHERE year = 2026"}},
        {"public_size": 1000},
    ],
    ids=str,
)
def test_every_part_of_a_request_is_in_its_key(change: dict[str, object]) -> None:
    """Another data set, unit, domain, column, query, method, parameter, budget or size is another request."""
    assert asked(**change).key != ASKED.key


def test_keys_in_old_ledgers_are_still_found() -> None:
    """A request that was granted before has the key it had, so that nothing is charged twice."""
    assert ASKED.key == "f7967ba5ae43a4f702723eb08e53adc85ff7ba48acd8268ac82673b2d6950b05"


def test_spelling_is_not_in_the_key() -> None:
    """The order of parameters, the spelling of numbers and the sign of zero do not change the key."""
    spelled = {"parameters": {"size_from": "rows", "alpha": 0.50}, "epsilon": Fraction("1.0")}
    zero = [Domain(west=west, south=0, east=1, north=1) for west in (0, 0.0, -0.0)]

    assert asked(**spelled).key == ASKED.key
    assert len({asked(domain=domain).key for domain in zero}) == 1


def test_a_request_too_long_to_write_down_is_refused(place: str) -> None:
    """A request of too many characters is refused before anything is charged."""
    with open_ledger(place) as ledger:
        with pytest.raises(ArgumentError, match="characters"):
            ledger.reserve(asked(parameters={"query": "x" * 100_000}))
        assert ledger.book().entries == {}


def test_epsilons_without_a_common_denominator_are_refused(place: str) -> None:
    """Sums stay numbers of reasonable length; the way out is to round."""
    *granted, refused = (Fraction(1, 10**200 + number) for number in (1, 3, 7, 9))
    with open_ledger(place) as ledger:
        for epsilon in granted:
            reserved(ledger, epsilon=epsilon)

        with pytest.raises(LedgerError, match="Round it"):
            reserved(ledger, epsilon=refused)
        assert ledger.book().accounts["trips"].left == 3 - sum(granted)
