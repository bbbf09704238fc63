"""A ledger that somebody has changed: edits, removals, reordering, old copies."""

import io
import shutil
from collections.abc import Callable
from fractions import Fraction

import pytest

from hushgrid.errors import LedgerError
from hushgrid.ledger.book import GENESIS, link
from hushgrid.ledger.ledger import open_ledger
from hushgrid.ledger.store import Transaction
from tests.ledger.places import asked, file_place, new_ledger, reserved, tampering


@pytest.fixture
def place(place: str) -> str:
    """A ledger of ten events: a release, one given up, one going on, another data set, another release."""
    with open_ledger(place) as ledger:
        reserved(ledger).commit(io.BytesIO(b"first release"))
        reserved(ledger, epsilon=Fraction(1, 2)).abandon("a reason")
        reserved(ledger, epsilon=Fraction(1, 4)).journal.record(1, "cells", b"measured")
        ledger.add_dataset("homes", budget=1, unit="record")
        reserved(ledger, dataset="homes", unit="record").commit(io.BytesIO(b"second release"))
    return place


def rows(transaction: Transaction) -> list[tuple[int, str]]:
    """Numbers and texts of all events."""
    return [(number, text) for number, text in transaction.run("SELECT number, event FROM hushgrid_events ORDER BY 1")]


def rewrite(transaction: Transaction, texts: list[str]) -> None:
    """Make up a whole new chain that is right in itself."""
    transaction.run("DELETE FROM hushgrid_events")
    head = GENESIS
    for number, text in enumerate(texts, start=1):
        head = link(head, number, text)
        insert = "INSERT INTO hushgrid_events (number, event, hash) VALUES (:number, :event, :hash)"
        transaction.run(insert, number=number, event=text, hash=head)


def edit(transaction: Transaction) -> None:
    """Lower what was spent."""
    transaction.run(
        'UPDATE hushgrid_events SET event = replace(event, \'"epsilon":"1/2"\', \'"epsilon":"1/9"\') WHERE number = 4'
    )


def edit_with_hash(transaction: Transaction) -> None:
    """Lower what was spent, with a hash that fits the row."""
    edit(transaction)
    (digest,) = next(iter(transaction.run("SELECT hash FROM hushgrid_events WHERE number = 3")))
    transaction.run(
        "UPDATE hushgrid_events SET hash = :hash WHERE number = 4", hash=link(digest, 4, rows(transaction)[3][1])
    )


def remove(transaction: Transaction) -> None:
    """Take out the entry that was given up."""
    transaction.run("DELETE FROM hushgrid_events WHERE number IN (4, 5)")


def remove_and_close_up(transaction: Transaction) -> None:
    """Take out the entry that was given up, and number the others anew."""
    remove(transaction)
    for number in range(6, 11):
        transaction.run("UPDATE hushgrid_events SET number = :new WHERE number = :old", new=number - 2, old=number)


def remove_first(transaction: Transaction) -> None:
    """Take out the beginning."""
    transaction.run("DELETE FROM hushgrid_events WHERE number = 1")


def swap(transaction: Transaction) -> None:
    """Exchange two events."""
    for old, new in ((2, 99), (4, 2), (99, 4)):
        transaction.run("UPDATE hushgrid_events SET number = :new WHERE number = :old", new=new, old=old)


def repeat(transaction: Transaction) -> None:
    """Commit twice, in a chain that is right in itself."""
    texts = [text for _, text in rows(transaction)]
    rewrite(transaction, [*texts[:3], texts[2], *texts[3:]])


def overspend(transaction: Transaction) -> None:
    """Spend more than was granted, in a chain that is right in itself."""
    rewrite(transaction, [text.replace('"epsilon":"1"', '"epsilon":"4"') for _, text in rows(transaction)])


def unknown_kind(transaction: Transaction) -> None:
    """Add an event that this version does not know, in a chain that is right in itself."""
    rewrite(transaction, [*(text for _, text in rows(transaction)), '{"kind":"refunded","entry":1}'])


EDITS = [edit, edit_with_hash, remove, remove_and_close_up, remove_first, swap, repeat, overspend, unknown_kind]


@pytest.mark.parametrize("change", EDITS, ids=lambda change: change.__name__)
def test_a_change_is_noticed_by_every_use(place: str, change: Callable[[Transaction], None]) -> None:
    """Verifying says which event is wrong, and nothing is granted or given back any more."""
    with tampering(place) as transaction:
        change(transaction)

    with open_ledger(place) as ledger:
        verification = ledger.verify()
        assert not verification.ok
        assert "the ledger is damaged: event" in verification.checks[0].detail
        with pytest.raises(LedgerError, match="the ledger is damaged: event"):
            ledger.reserve(asked())
        with pytest.raises(LedgerError, match="the ledger is damaged: event"):
            ledger.book()


@pytest.mark.parametrize("number", range(1, 11))
@pytest.mark.parametrize("change", ["UPDATE hushgrid_events SET event = event || ' '", "DELETE FROM hushgrid_events"])
def test_no_event_can_be_edited_or_removed(place: str, number: int, change: str) -> None:
    """Each of them, the last included, whose removal shows by the copy that it leaves behind."""
    with tampering(place) as transaction:
        transaction.run(f"{change} WHERE number = {number}")

    with open_ledger(place) as ledger:
        assert not ledger.verify().ok


@pytest.mark.parametrize("what", ["release", "journal"])
@pytest.mark.parametrize("damage", ["DELETE FROM hushgrid_parts", "UPDATE hushgrid_parts SET bytes = :other"])
def test_a_kept_copy_that_was_changed_is_noticed(place: str, what: str, damage: str) -> None:
    """Releases, and measurements of an entry that is not finished."""
    with tampering(place) as transaction:
        other = {"other": b"other bytes"} if ":other" in damage else {}
        transaction.run(f"{damage} WHERE holder LIKE '{what}/%'", **other)

    with open_ledger(place) as ledger:
        failed = [check for check in ledger.verify().checks if not check.ok]
    assert [check.name for check in failed] == ["copies"]
    assert f"{what}/" in failed[0].detail


def test_a_ledger_that_nobody_touched_passes(place: str) -> None:
    """Every check, with any head it ever had."""
    with open_ledger(place) as ledger:
        heads = ledger.book().hashes

        assert len(heads) == 10
        assert all(ledger.verify(head=head).ok for head in heads)


def test_a_chain_made_up_anew_is_noticed_by_its_head(place: str) -> None:
    """Whoever can write the ledger can make up a whole one; the head in a release that is out tells."""
    with open_ledger(place) as ledger:
        head = ledger.book().entries[4].head
    with tampering(place) as transaction:
        rewrite(transaction, [text.replace('"epsilon":"1/2"', '"epsilon":"1/9"') for _, text in rows(transaction)])

    with open_ledger(place) as ledger:
        assert ledger.verify().ok
        failed = [check.name for check in ledger.verify(head=head).checks if not check.ok]
    assert failed == ["head"]


def test_an_old_copy_is_noticed_by_the_head_of_a_later_release(tmp_path) -> None:
    """By itself it is whole: it was the ledger once."""
    place = new_ledger(file_place(tmp_path))
    shutil.copy(place, tmp_path / "old")
    with open_ledger(place) as ledger:
        reservation = reserved(ledger)
        reservation.commit(io.BytesIO(b"release"))
    shutil.copy(tmp_path / "old", place)

    with open_ledger(place) as ledger:
        assert ledger.verify().ok
        assert not ledger.verify(head=reservation.mark.head).ok
