"""Measurements that are kept, so that a run that was cut off can go on."""

import io

import numpy as np
import pytest

from hushgrid.errors import LedgerError
from hushgrid.ledger.ledger import open_ledger
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

        with pytest.raises(LedgerError, match="other cells or of another rate"):
            journal.recall(1, "cells at 1/3")


def test_a_measurement_is_recorded_once(place: str) -> None:
    """Of two runs that go on with one entry, the slower one stops before it uses what it drew."""
    with open_ledger(place) as ledger:
        reserved(ledger).journal.record(1, "cells", VALUES.tobytes())

        with pytest.raises(LedgerError, match="recorded before"):
            ledger.resume(1, asked()).journal.record(1, "cells", VALUES.tobytes())


def test_another_request_cannot_resume_an_entry(place: str) -> None:
    """Not even one of the same epsilon."""
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
