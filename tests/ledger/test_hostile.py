"""Files that are no ledger, or were one: a LedgerError and nothing else, soon and in little memory."""

import io
import os
import sqlite3
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hushgrid.cli.commands.ledger import accounts_in_words, entries_as_values, entries_in_words
from hushgrid.errors import ArgumentError, BudgetError, LedgerError, MissingExtraError
from hushgrid.ledger.ledger import open_ledger
from hushgrid.ledger.reservation import CommittedRelease
from hushgrid.ledger.store import EVENTS, PARTS
from tests.ledger.places import asked, file_place, new_ledger, reserved

ENDLESS = "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT x, 'x', 'x' FROM n"


@pytest.fixture(scope="module")
def valid(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """The bytes of a small ledger with a release and a journal."""
    place = new_ledger(file_place(tmp_path_factory.mktemp("valid")))
    with open_ledger(place) as ledger:
        reserved(ledger).commit(io.BytesIO(b"release"))
        reserved(ledger).journal.record(1, "cells", b"noisy")
    return Path(place).read_bytes()


def use(path: Path) -> None:
    """Everything that can be done with a ledger."""
    with open_ledger(path) as ledger:
        book = ledger.book()
        accounts_in_words(book), entries_in_words(book), entries_as_values(book)
        ledger.verify(head="0" * 64)
        answer = ledger.reserve(asked())
        if isinstance(answer, CommittedRelease):
            answer.read()
        reserved(ledger, method="ug").journal.record(1, "cells", b"noisy")


def made_with(*statements: str) -> Callable[[Path], None]:
    """A SQLite file of one's own design."""

    def make(path: Path) -> None:
        connection = sqlite3.connect(path)
        for statement in statements:
            connection.execute(statement)
        connection.commit()
        connection.close()

    return make


def event_row(number: str, event: str, digest: str) -> Callable[[Path], None]:
    """A ledger with one row of strange values."""
    row = f"INSERT INTO hushgrid_events (number, event, hash) VALUES ({number}, {event}, {digest})"
    return made_with(EVENTS, PARTS, row)


FILES: dict[str, Callable[[Path], None]] = {
    "empty": lambda path: path.write_bytes(b"") and None,
    "text": lambda path: path.write_text("trips, 3\n" * 100) and None,
    "only the magic": lambda path: path.write_bytes(b"SQLite format 3\0") and None,
    "magic and noise": lambda path: path.write_bytes(b"SQLite format 3\0" + os.urandom(8192)) and None,
    "Parquet": lambda path: path.write_bytes(b"PAR1" + bytes(1000) + b"PAR1") and None,
    "a folder": lambda path: path.mkdir(),
    "other tables": made_with("CREATE TABLE trips (lon REAL, lat REAL)"),
    "one table missing": made_with(EVENTS),
    "one table too many": made_with(EVENTS, PARTS, "CREATE TABLE more (x)"),
    "another column": made_with(EVENTS.replace(", hash TEXT", ", more TEXT, hash TEXT"), PARTS),
    "an endless view": made_with(f"CREATE VIEW hushgrid_events (number, event, hash) AS {ENDLESS}", PARTS),
    "a trigger": made_with(
        EVENTS, PARTS, "CREATE TRIGGER t AFTER INSERT ON hushgrid_events BEGIN DELETE FROM hushgrid_events; END"
    ),
    "a number that is huge": event_row("9223372036854775807", "'{}'", "'x'"),
    "an event that is no text": event_row("1", "x'00ff'", "'x'"),
    "an event that is no UTF-8": event_row("1", "CAST(x'ff' AS TEXT)", "'x'"),
    "an event that is a number": event_row("1", "5", "5"),
    "an event of 100 MB": event_row("1", "CAST(zeroblob(100000000) AS TEXT)", "'x'"),
}


@pytest.mark.parametrize("make", FILES.values(), ids=FILES)
def test_what_is_no_ledger_is_one_clear_error(tmp_path: Path, make: Callable[[Path], None]) -> None:
    """That names the file, or says that it is damaged; nothing is changed, and nothing granted."""
    path = tmp_path / "strange.ledger"
    make(path)

    with pytest.raises(LedgerError, match=r"strange\.ledger|the ledger is damaged: event 1"):
        use(path)


def test_a_file_of_something_else_is_never_made_a_ledger(tmp_path: Path) -> None:
    """Making a ledger at the path of another database, or of a text, leaves it as it is."""
    for name in ("text", "other tables"):
        path = tmp_path / name
        FILES[name](path)
        before = path.read_bytes()
        with pytest.raises(LedgerError):
            open_ledger(path, create=True)
        assert path.read_bytes() == before


def test_a_ledger_that_was_cut_short_is_one_clear_error(valid: bytes, tmp_path: Path) -> None:
    """At any of 64 places."""
    path = tmp_path / "cut.ledger"
    for cut in range(0, len(valid), len(valid) // 64 + 1):
        path.write_bytes(valid[:cut])
        with pytest.raises(LedgerError):
            use(path)


def test_a_schema_that_is_no_text_is_one_clear_error(valid: bytes, tmp_path: Path) -> None:
    """At every fourth byte from the first statement on: SQLite quotes what it cannot read."""
    path, first, refused = tmp_path / "changed.ledger", valid.index(b"CREATE"), 0
    for place in range(first, first + 800, 4):
        path.write_bytes(valid[:place] + b"\x80" + valid[place + 1 :])
        try:
            use(path)
        except LedgerError:
            refused += 1
    assert refused > 50


PLACES = st.integers(0, 199) | st.integers(0, 2**24)  # the header decides most


@settings(
    max_examples=200,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(changes=st.lists(st.tuples(PLACES, st.integers(0, 255)), min_size=1, max_size=8))
def test_bytes_that_were_changed_are_harmless(valid: bytes, tmp_path: Path, changes: list[tuple[int, int]]) -> None:
    """200 ledgers with up to eight bytes changed: a LedgerError, a full account, or no difference."""
    content = bytearray(valid)
    for place, byte in changes:
        content[place % len(valid)] = byte
    path = tmp_path / "changed.ledger"
    path.write_bytes(content)
    for beside in ("-journal", "-wal", "-shm"):
        path.with_name(path.name + beside).unlink(missing_ok=True)

    with suppress(LedgerError, BudgetError):
        use(path)


URLS = [
    "postgresql://:secret@[",
    "postgresql://hush:secret@127.0.0.1:1/x",
    "postgresql://hush@127.0.0.1:1/x?password=secret",
]


@pytest.mark.parametrize("url", URLS)
def test_a_url_that_leads_nowhere_is_one_clear_error(url: str) -> None:
    """Which never tells the password."""
    with pytest.raises((LedgerError, ArgumentError)) as refusal, open_ledger(url) as ledger:
        ledger.book()
    assert "secret" not in str(refusal.value)


def test_postgres_without_its_extra_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    """By the name of the extra."""
    monkeypatch.setitem(sys.modules, "sqlalchemy", None)
    with pytest.raises(MissingExtraError, match=r'pip install "hushgrid\[postgres\]"'):
        open_ledger("postgresql://hush@localhost/x")


def test_other_databases_are_refused_by_name() -> None:
    """Rather than made a file called mysql."""
    with pytest.raises(ArgumentError, match="got mysql://"):
        open_ledger("mysql://hush@localhost/x")
