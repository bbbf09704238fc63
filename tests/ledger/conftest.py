"""Ledgers in SQLite and in PostgreSQL."""

import secrets
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.ledger.places import file_place, new_ledger, schema_place
from tests.ledger.server import running_server, why_not


@pytest.fixture(scope="session")
def server() -> Iterator[str]:
    """The URL of a PostgreSQL server of our own."""
    reason = why_not()
    if reason is not None:
        pytest.skip(reason)
    with running_server() as url:
        yield url


@pytest.fixture(params=["sqlite", "postgres"])
def backend(request: pytest.FixtureRequest) -> str:
    """Which database a test runs on."""
    return str(request.param)


@pytest.fixture
def empty_place(backend: str, tmp_path: Path, request: pytest.FixtureRequest) -> str:
    """Where a ledger can be made."""
    if backend == "sqlite":
        return file_place(tmp_path)
    return schema_place(request.getfixturevalue("server"), f"s{secrets.token_hex(8)}")


@pytest.fixture
def place(empty_place: str) -> str:
    """A ledger with the data set trips, unit user, budget 3."""
    return new_ledger(empty_place)
