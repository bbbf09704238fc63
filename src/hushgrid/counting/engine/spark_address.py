"""Anything that Spark's own readers find: a folder of Parquet, a table of the catalog, or a SELECT."""

import atexit
import logging
import os
import re
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

from hushgrid.counting.engine.spark_engine import PREFIX
from hushgrid.counting.engine.statement import is_here, is_query
from hushgrid.counting.open_counter import BeforeRows, nothing
from hushgrid.errors import ArgumentError, HushgridError, InputError, MissingExtraError

# Of a session that hushgrid starts: Spark's pages show numbers of rows, and its log quotes one that a query fails on.
QUIET = {"spark.ui.enabled": "false", "spark.ui.showConsoleProgress": "false", "spark.log.level": "OFF"}
ERROR_LOG = "SQLQueryContextLogger"  # where PySpark writes messages of errors a second time
LOCAL, WAREHOUSE, REMOTE = "spark.local.dir", "spark.sql.warehouse.dir", "spark.remote"
PATTERNS = "__globPaths__"  # what Spark itself sets where a path is one, whatever letters are in it


def spark_frame(text: str, conf: Mapping[str, str], *, before_rows: BeforeRows = nothing) -> Any:
    """The data frame that a text names: a path or address of Parquet, a table, or a query.

    Parameters
    ----------
    text : str
        What exists on this machine under that name goes before a table, and before a pattern.
    conf : mapping
        Settings of the session: of a new one, or as far as Spark lets them change of the one that is active.
    before_rows : callable
        Called before Spark looks at a query or a table: either may be of text, whose types it finds in rows.
    """
    session = _session(conf)
    logging.getLogger(ERROR_LOG).disabled = True
    try:
        is_path = is_here(text) or bool(re.search(r"[/*?{[]", text)) or text.endswith(".parquet")
        if is_query(text) or not is_path:
            before_rows()
        if is_query(text):
            # Inside another one, where Spark takes nothing but a query: FROM a INSERT INTO b would run at once.
            query = text.rstrip().removesuffix(";")
            return session.sql(f"SELECT * FROM (\n{query}\n)")  # noqa: S608  # it is the user's own
        if is_here(text):
            return session.read.option(PATTERNS, "false").parquet(f"file://{Path(text).absolute()}")
        if is_path:
            return session.read.parquet(text)
        return session.table(text)
    except Exception as error:  # noqa: BLE001  # Java's, as several classes of Python
        condition = getattr(error, "getCondition", lambda: None)() or type(error).__name__
        msg = f"Spark cannot open {text!r} ({condition}). Give a folder of Parquet files, such as s3a://bucket/trips, "
        msg += "a table, or one SELECT. A table that is called like a file here is named with its database, "
        msg += "default.trips."
        raise InputError(msg) from None


def _session(conf: Mapping[str, str]) -> Any:
    try:
        from pyspark.sql import SparkSession
    except ImportError as error:
        msg = 'Spark is not installed: pip install "hushgrid[spark]".'
        raise MissingExtraError(msg) from error
    builder = SparkSession.builder.appName("hushgrid")
    is_ours = SparkSession.getActiveSession() is None
    settings = {**QUIET, **conf, **_private_folders(conf)} if is_ours else dict(conf)
    for key, value in settings.items():
        builder = builder.config(key, value)
    try:
        with _for_owner_alone():
            session = builder.getOrCreate()
    except Exception as error:  # noqa: BLE001  # of Py4J, or of Java
        msg = f"Spark did not start ({type(error).__name__}). It needs Java 17 or later, found by JAVA_HOME or on the "
        msg += "path, and settings (--spark-conf) that it understands."
        raise HushgridError(msg) from None
    if is_ours:
        atexit.register(_stop, session)
    return session


def _private_folders(conf: Mapping[str, str]) -> dict[str, str]:
    """Settings by which a new session keeps what it spills to folders of ours, which are gone when Python ends."""
    if REMOTE in conf or "SPARK_REMOTE" in os.environ:
        return {}  # a server writes, wherever it is told to
    try:
        places = [Path(place).absolute() if place else None for place in conf.get(LOCAL, "").split(",")]
        folders = [mkdtemp(prefix=PREFIX, dir=place) for place in places]
    except OSError:
        msg = f"{LOCAL} names folders of this machine that can be written to, got {conf[LOCAL]!r}."
        raise ArgumentError(msg) from None
    for folder in folders:
        atexit.register(shutil.rmtree, folder, ignore_errors=True)
    # Spark makes the folder of its tables in the current one, tables or not.
    return {LOCAL: ",".join(folders), WAREHOUSE: conf.get(WAREHOUSE, f"{folders[0]}/warehouse")}


def _stop(session: Any) -> None:
    with suppress(Exception):  # a session that died has stopped
        session.stop()


@contextmanager
def _for_owner_alone() -> Iterator[None]:
    """Let the processes that are started here make files for their owner alone, wherever they make them."""
    mask = os.umask(0o077)
    try:
        yield
    finally:
        os.umask(mask)
