"""What pages may need beyond Python and bash: each gives the environment it makes, or skips with a reason."""

import importlib.util
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from urllib.parse import parse_qs, urlsplit

import pytest

from tests.conformance.postgis import why_no_postgis
from tests.ledger.server import running_server, why_not


@contextmanager
def spark() -> Iterator[dict[str, str]]:
    """PySpark and a Java to run it."""
    if importlib.util.find_spec("pyspark") is None or shutil.which("java") is None:
        pytest.skip("Spark needs pyspark and java")
    yield {}


@contextmanager
def postgres() -> Iterator[dict[str, str]]:
    """A server of our own, which psql and `postgresql:///` find by themselves."""
    if (reason := why_not()) is not None:
        pytest.skip(reason)
    with running_server() as url:
        place = urlsplit(url)
        yield {
            "PGHOST": parse_qs(place.query)["host"][0],
            "PGUSER": str(place.username),
            "PGDATABASE": place.path.strip("/"),
        }


@contextmanager
def postgis() -> Iterator[dict[str, str]]:
    """Such a server, of which databases can have PostGIS."""
    if (reason := why_no_postgis()) is not None:
        pytest.skip(reason)
    with postgres() as found:
        yield found


@contextmanager
def sqlite3() -> Iterator[dict[str, str]]:
    """The shell of SQLite."""
    if shutil.which("sqlite3") is None:
        pytest.skip("the shell sqlite3 is not installed")
    yield {}


NEEDS = {"spark": spark, "postgres": postgres, "postgis": postgis, "sqlite3": sqlite3}
