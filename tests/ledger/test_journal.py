"""Measurements that are kept, so that a run that was cut off can go on."""

import io
from collections.abc import Callable

import numpy as np
import pytest

from hushgrid.errors import LedgerError
from hushgrid.ledger.book import Book
from hushgrid.ledger.event import Event
from hushgrid.ledger.ledger import open_ledger
from hushgrid.ledger.store import Transaction
from tests.ledger.places import asked, reserved, tampering

VALUES = np.array([3, -1, 2**62, 0], dtype="<i8")


def test_a_measurement_is_recalled_and_not_drawn_again(place: str) -> None:
    """A resumed entry finds the very integers, under the number and the fingerprint they were recorded with."""
    with open_ledger(place) as ledger:
        journal = reserved(ledger).journal
        assert journal.recall(1, "cells at 1/2") is None
        journal.record(1, "cells at 1/2", VALUES.tobytes())
    with open_ledger(place) as ledger:
        recalled = ledger.resume(1, asked()).journal.recall(1, "cells at 1/2")

    assert recalled is not None
    np.testing.assert_array_equal(np.frombuffer(recalled, "<i8"), VALUES)


def test_a_resumed_entry_is_charged_once(place: str) -> None:
    """It goes on with what was reserved, keeps its mark, and is committed like any other."""
    with open_ledger(place) as ledger:
        first = reserved(ledger)
        resumed = ledger.resume(1, asked())
        resumed.commit(io.BytesIO(b"release"))

        assert resumed.mark == first.mark
        assert ledger.book().accounts["trips"].left == 2


def test_other_cells_or_another_rate_are_an_error(place: str) -> None:
    """A measurement does not stand for another."""
    with open_ledger(place) as ledger:
        journal = reserved(ledger).journal
        journal.record(1, "cells at 1/2", b"")

        with pytest.raises(LedgerError, match="other cells or at another rate"):
            journal.recall(1, "cells at 1/3")


def test_a_measurement_is_recorded_once(place: str) -> None:
    """Of two runs that go on with one entry, the slower one stops before it uses what it drew."""
    with open_ledger(place) as ledger:
        reserved(ledger).journal.record(1, "cells", VALUES.tobytes())

        with pytest.raises(LedgerError, match="already recorded"):
            ledger.resume(1, asked()).journal.record(1, "cells", VALUES.tobytes())


def test_another_request_cannot_resume_an_entry(place: str) -> None:
    """Even one of the same epsilon is refused."""
    with open_ledger(place) as ledger:
        reserved(ledger)

        with pytest.raises(LedgerError, match="another request"):
            ledger.resume(1, asked(method="ug"))


def test_what_was_measured_cannot_be_given_back(place: str) -> None:
    """Whatever the caller says: a journal is proof that data was read."""
    with open_ledger(place) as ledger:
        reservation = reserved(ledger)
        reservation.journal.record(1, "cells", VALUES.tobytes())

        with pytest.raises(LedgerError, match="cannot be given back"):
            reservation.abandon("a reason", data_was_read=False)
        assert reservation.abandon("a reason").charged == 1


def test_a_lost_measurement_is_an_error_and_not_drawn_again(place: str) -> None:
    """The chain knows that it was there."""
    with open_ledger(place) as ledger:
        reserved(ledger).journal.record(1, "cells", VALUES.tobytes())
    with tampering(place) as transaction:
        transaction.run("DELETE FROM hushgrid_parts")

    with open_ledger(place) as ledger, pytest.raises(LedgerError, match="missing or was altered"):
        ledger.resume(1, asked()).journal.recall(1, "cells")


def test_journals_of_entries_that_ended_take_no_room(place: str) -> None:
    """Only the unfinished ones are kept, also where two hold the same bytes."""
    with open_ledger(place) as ledger:
        ended, going_on = reserved(ledger), reserved(ledger)
        ended.journal.record(1, "cells", VALUES.tobytes())
        going_on.journal.record(1, "cells", VALUES.tobytes())
        ended.commit(io.BytesIO(b"release"))

        assert going_on.journal.recall(1, "cells") == VALUES.tobytes()
        with ledger._store.reading() as transaction:
            assert {holder.partition("/")[0] for holder in transaction.holders()} == {"release", "journal"}
            assert len(transaction.holders()) == 2
        assert ledger.verify().ok


def test_a_journal_reads_each_event_once(place: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """However many draws a release takes, and however long the ledger is; events of others are taken in."""
    with open_ledger(place) as ledger:
        journal = reserved(ledger).journal
        journal.record(1, "cells", b"")
        read: list[object] = []
        as_before = Book.read

        def counted(book: Book, *event: object) -> None:
            read.append(event[0])
            as_before(book, *event)

        monkeypatch.setattr(Book, "read", counted)
        journal.record(2, "cells", b"")
        with monkeypatch.context() as patch:
            patch.setattr(Book, "read", as_before)
            other = reserved(ledger)
            other.journal.record(1, "cells", b"")
        journal.record(3, "cells", b"")
        assert journal.recall(2, "cells") == b""

        assert read == sorted(set(read))  # type: ignore[type-var]
        assert len(read) == 4


def test_an_event_that_was_never_committed_is_forgotten(place: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A record that failed can be made again: the journal goes by what is in the ledger."""
    with open_ledger(place) as ledger:
        journal = reserved(ledger).journal
        with monkeypatch.context() as patch:
            patch.setattr(Transaction, "append", fail_after(Transaction.append))
            with pytest.raises(OSError, match="no power"):
                journal.record(1, "cells", VALUES.tobytes())

        assert journal.recall(1, "cells") is None
        journal.record(1, "cells", VALUES.tobytes())
        assert journal.recall(1, "cells") == VALUES.tobytes()


def fail_after(append: Callable[[Transaction, Book, Event], None]) -> Callable[[Transaction, Book, Event], None]:
    """An append whose transaction does not end."""

    def failing(transaction: Transaction, book: Book, event: Event) -> None:
        append(transaction, book, event)
        msg = "no power"
        raise OSError(msg)

    return failing


def test_a_ledger_that_was_rolled_back_meanwhile_is_an_error(place: str) -> None:
    """A journal that goes on by what it knows still sees that its last event is gone, or another."""
    with open_ledger(place) as ledger:
        journal = reserved(ledger).journal
        journal.record(1, "cells", VALUES.tobytes())
        with tampering(place) as transaction:
            transaction.run("DELETE FROM hushgrid_events WHERE number = 3")

        with pytest.raises(LedgerError, match="event 3 was edited, moved or removed"):
            journal.record(2, "cells", VALUES.tobytes())


def test_an_edit_of_the_last_known_event_is_an_error(place: str) -> None:
    """Its text is held against its hash again."""
    with open_ledger(place) as ledger:
        journal = reserved(ledger).journal
        journal.record(1, "cells", VALUES.tobytes())
        with tampering(place) as transaction:
            transaction.run("UPDATE hushgrid_events SET event = 'other' WHERE number = 3")

        with pytest.raises(LedgerError, match="event 3 was edited, moved or removed"):
            journal.recall(1, "cells")
