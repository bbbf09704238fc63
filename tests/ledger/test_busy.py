"""A ledger that another process holds."""

import threading
from collections.abc import Iterator

import pytest

from hushgrid.errors import LedgerError
from hushgrid.ledger import store
from hushgrid.ledger.ledger import open_ledger
from tests.ledger.places import asked, reserved, tampering


@pytest.fixture
def held(place: str) -> Iterator[str]:
    """A ledger that somebody is writing to."""
    with tampering(place):
        yield place


def test_a_busy_ledger_says_so(held: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """After some patience: exit code 5, and that nothing was changed."""
    monkeypatch.setattr(store, "PATIENCE", 0.2)
    with (
        open_ledger(held) as ledger,
        pytest.raises(LedgerError, match=r"is busy: .* 0\.2 seconds\. Nothing") as refusal,
    ):
        ledger.reserve(asked())
    assert refusal.value.exit_code == 5


def test_a_busy_ledger_can_be_read(held: str) -> None:
    """Readers do not wait for a writer."""
    with open_ledger(held) as ledger:
        assert ledger.book().accounts["trips"].left == 3
        assert ledger.verify().ok


def test_a_writer_waits_for_its_turn(place: str) -> None:
    """A second writer waits for the first, and sees what it has done."""
    began, granted = threading.Event(), []

    def ask() -> None:
        began.set()
        with open_ledger(place) as ledger:
            granted.append(reserved(ledger).entry.number)

    waiting = threading.Thread(target=ask)
    with open_ledger(place) as ledger, ledger._store.writing():
        waiting.start()
        began.wait()
        assert granted == []
    waiting.join()
    assert granted == [1]
