"""Servers and sessions that the tests of engines share."""

import pytest

from tests.conformance.engines import spark_session, why_no_spark
from tests.ledger.server import running_server, why_not


@pytest.fixture(scope="module")
def spark():
    """The session that the tests of Spark share."""
    if reason := why_no_spark():
        pytest.skip(reason)
    session = spark_session()
    yield session
    session.stop()


@pytest.fixture(scope="module")
def server():
    """The URL of a PostgreSQL server of our own."""
    if reason := why_not():
        pytest.skip(reason)
    with running_server() as url:
        yield url
