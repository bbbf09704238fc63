"""A ledger for teams, in a PostgreSQL database."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from hushgrid.errors import ArgumentError, LedgerError, MissingExtraError
from hushgrid.ledger import store
from hushgrid.ledger.store import Transaction

if TYPE_CHECKING:
    from sqlalchemy import Connection, Engine
    from sqlalchemy.engine.interfaces import IsolationLevel

LOCK = 0x68757368  # "hush": the number of the lock that a writer holds


class PostgresStore:
    """A ledger in a PostgreSQL database.

    Parameters
    ----------
    url : str
        ``postgresql://USER@HOST/DATABASE``. Keep the password in ``~/.pgpass`` or ``PGPASSWORD`` instead.
    create : bool
        Create the tables if they do not exist.
    """

    def __init__(self, url: str, *, create: bool) -> None:
        self._engine = _engine(url)
        # The query may hold a password too.
        self.place = self._engine.url.set(drivername="postgresql", query={}).render_as_string(hide_password=True)
        if create:
            with self.writing() as transaction:
                ((exists,),) = transaction.run("SELECT to_regclass('hushgrid_events') IS NOT NULL")
                if not exists:
                    transaction.create()

    @contextmanager
    def reading(self) -> Iterator[Transaction]:
        """Open a transaction that sees one state."""
        with self._connection("REPEATABLE READ") as connection:
            yield _transaction(connection)

    @contextmanager
    def writing(self) -> Iterator[Transaction]:
        """Open a transaction that shuts out other writers.

        The lock is taken before anything is read.
        """
        with self._connection("READ COMMITTED") as connection:
            transaction = _transaction(connection)
            transaction.run(f"SET LOCAL lock_timeout = {int(1000 * store.PATIENCE)}")
            transaction.run("SET LOCAL synchronous_commit = on")
            transaction.run("SELECT pg_advisory_xact_lock(:lock)", lock=LOCK)
            yield transaction

    def close(self) -> None:
        """Close the connections."""
        self._engine.dispose()

    @contextmanager
    def _connection(self, isolation: "IsolationLevel") -> Iterator["Connection"]:
        from sqlalchemy.exc import SQLAlchemyError

        try:
            with self._engine.connect() as connection:
                connection.execution_options(isolation_level=isolation)
                with connection.begin():
                    yield connection
        except SQLAlchemyError as error:
            raise self._complaint(error) from error

    def _complaint(self, error: Exception) -> LedgerError:
        cause = getattr(error, "orig", error)
        match getattr(cause, "sqlstate", None):
            case "55P03":  # lock not available
                return LedgerError(
                    f"the ledger {self.place} is busy: another process has held it for {store.PATIENCE:g} seconds. "
                    "Nothing was changed. Try again."
                )
            case "42P01":  # undefined table
                return LedgerError(
                    f"{self.place} does not hold a ledger. Create one, with --per month if each month is to have a "
                    "budget: hushgrid ledger init --ledger URL --dataset NAME --budget B --unit record|user"
                )
            case _:
                return LedgerError(f"the ledger {self.place} cannot be used: {cause}")


def _transaction(connection: "Connection") -> Transaction:
    from sqlalchemy import text

    return Transaction(lambda statement, parameters: connection.execute(text(statement), parameters))


def _engine(url: str) -> "Engine":
    try:
        from sqlalchemy import create_engine, make_url
        from sqlalchemy.exc import ArgumentError as UrlError

        try:
            parsed = make_url(url)
        except UrlError:
            # Not quoted: it may hold a password.
            msg = "the URL of the ledger cannot be understood. Write postgresql://USER@HOST/DATABASE."
            raise ArgumentError(msg) from None
        # A release may take hours between reservation and commit, and servers drop idle connections.
        return create_engine(parsed.set(drivername="postgresql+psycopg"), pool_pre_ping=True)
    except ImportError as error:
        msg = 'a ledger in PostgreSQL needs SQLAlchemy and psycopg: pip install "hushgrid[postgres]".'
        raise MissingExtraError(msg) from error
