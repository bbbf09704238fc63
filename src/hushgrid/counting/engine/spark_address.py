"""Anything that Spark's own readers find: a folder of Parquet, a table of the catalog, or a SELECT."""

import logging
from collections.abc import Mapping
from typing import Any

from hushgrid.counting.engine.statement import is_query
from hushgrid.errors import HushgridError, InputError, MissingExtraError

# Of a session that hushgrid starts: Spark's pages show numbers of rows, and its log quotes one that a query fails on.
QUIET = {"spark.ui.enabled": "false", "spark.ui.showConsoleProgress": "false", "spark.log.level": "OFF"}
ERROR_LOG = "SQLQueryContextLogger"  # where PySpark writes messages of errors a second time


def spark_frame(text: str, conf: Mapping[str, str]) -> Any:
    """The data frame that a text names: a path or address of Parquet, a table, or a query.

    Parameters
    ----------
    conf : mapping
        Settings of the session: of a new one, or as far as Spark lets them change of the one that is active.
    """
    session = _session(conf)
    logging.getLogger(ERROR_LOG).disabled = True
    try:
        if is_query(text):
            return session.sql(text)
        if "/" in text or text.endswith(".parquet"):
            return session.read.parquet(text)
        return session.table(text)
    except Exception as error:  # noqa: BLE001  # Java's, as several classes of Python
        condition = getattr(error, "getCondition", lambda: None)() or type(error).__name__
        msg = (
            f"Spark cannot open {text!r} ({condition}). Give a folder of Parquet files, such as s3a://bucket/trips, a "
        )
        msg += "table, or a SELECT."
        raise InputError(msg) from None


def _session(conf: Mapping[str, str]) -> Any:
    try:
        from pyspark.sql import SparkSession
    except ImportError as error:
        msg = 'Spark is not installed: pip install "hushgrid[spark]".'
        raise MissingExtraError(msg) from error
    builder = SparkSession.builder.appName("hushgrid")
    settings = dict(conf) if SparkSession.getActiveSession() else {**QUIET, **conf}
    for key, value in settings.items():
        builder = builder.config(key, value)
    try:
        return builder.getOrCreate()
    except Exception as error:  # noqa: BLE001  # of Py4J, or of Java
        msg = f"Spark did not start ({type(error).__name__}). It needs Java 17 or later, found by JAVA_HOME or on the "
        msg += "path, and settings (--spark-conf) that it understands."
        raise HushgridError(msg) from None
