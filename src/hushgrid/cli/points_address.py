"""What the argument POINTS of ``hushgrid publish`` names: a file, or something that an engine reads."""

from pathlib import Path
from typing import TYPE_CHECKING, Literal

from hushgrid.errors import ArgumentError

if TYPE_CHECKING:
    from hushgrid.counting.engine.address import Address

EngineChoice = Literal["auto", "duckdb", "spark"]


def points_address(text: str, engine: EngineChoice, spark_conf: tuple[str, ...]) -> "Path | Address":
    """A path for our own readers, or an address for an engine.

    Examples
    --------
    >>> points_address("SELECT lon, lat FROM 'trips/*.parquet'", "duckdb", ()).engine
    'duckdb'
    >>> points_address("postgresql://me@host/trips?table=points", "auto", ()).engine
    'postgres'
    """
    from hushgrid.counting.engine.address import Address, is_query
    from hushgrid.counting.engine.postgres import is_postgres

    settings = dict(_setting(pair) for pair in spark_conf)
    if settings and engine != "spark":
        msg = "--spark-conf is about Spark. Give --engine spark as well, or leave it out."
        raise ArgumentError(msg)
    if is_postgres(text):
        if engine != "auto":
            msg = f"a URL of PostgreSQL is counted by its server. Leave out --engine {engine}."
            raise ArgumentError(msg)
        return Address(text=text, engine="postgres")
    if engine != "auto":
        return Address(text=text, engine=engine, spark_conf=settings)
    if is_query(text):
        msg = "a query needs an engine that answers it: --engine duckdb, or --engine spark."
        raise ArgumentError(msg)
    if "://" in text:
        msg = f"{text} is not a file here. --engine spark reads s3a://, hdfs:// and whatever else its session knows."
        raise ArgumentError(msg)
    return Path(text)


def _setting(pair: str) -> tuple[str, str]:
    key, sign, value = pair.partition("=")
    if not key or not sign:
        msg = f"--spark-conf is a setting of Spark, KEY=VALUE; got {pair!r}."
        raise ArgumentError(msg)
    return key, value
