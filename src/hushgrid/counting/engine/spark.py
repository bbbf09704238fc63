"""Points that Spark reads, counted by Spark."""

import atexit
import logging
import os
import re
import shutil
import sys
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from itertools import chain, islice
from pathlib import Path
from tempfile import TemporaryDirectory, mkdtemp
from typing import Any, ClassVar
from uuid import uuid4

import narwhals as nw
import pyarrow as pa

from hushgrid.counting.areas import AreaIndex
from hushgrid.counting.counter import BeforeRows, nothing
from hushgrid.counting.engine.address import is_here, is_query
from hushgrid.counting.engine.copied import streamed_copy
from hushgrid.counting.engine.engine import AREA, Columns, Frame, as_declared, as_doubles, batch_with_areas, lazy
from hushgrid.errors import ArgumentError, HushgridError, InputError, MissingExtraError

# Settings of a session that hushgrid starts: Spark's pages show numbers of rows, and its log quotes rows that fail.
QUIET = {"spark.ui.enabled": "false", "spark.ui.showConsoleProgress": "false", "spark.log.level": "OFF"}
ERROR_LOG = "SQLQueryContextLogger"  # where PySpark writes messages of errors a second time
GATEWAY = "py4j"  # between Python and Spark
LOCAL, WAREHOUSE, REMOTE = "spark.local.dir", "spark.sql.warehouse.dir", "spark.remote"
PYTHON = "PYSPARK_PYTHON"  # PySpark's own setting: the Python of executors
PATTERNS = "__globPaths__"  # Spark's own option: whether paths may be patterns


def spark_frame(text: str, conf: Mapping[str, str], *, before_rows: BeforeRows = nothing) -> Any:
    """The data frame that a text names.

    A path or address of Parquet files, a table, or a query.

    Parameters
    ----------
    text : str
        What exists on this machine under that name goes before a table, and before a pattern.
    conf : mapping
        Settings of the session: of a new one, or as far as Spark lets them change of the one that is active.
    before_rows : callable
        Called before Spark looks at a query or a table: either may be of text, whose types it finds in rows.
    """
    _silence_logs()
    session = _session(conf)
    try:
        is_path = is_here(text) or bool(re.search(r"[/*?{[]", text)) or text.endswith(".parquet")
        if is_query(text) or not is_path:
            before_rows()
        if is_query(text):
            # Inside another query Spark accepts queries only: FROM a INSERT INTO b would run at once.
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


def _silence_logs() -> None:
    """Stop PySpark and its gateway from logging errors.

    Their messages may quote rows. It lasts until Python ends: a thread of the gateway's own, which lets go of objects,
    finds a broken connection whenever it next has something to do.
    """
    logging.getLogger(ERROR_LOG).disabled = True
    logging.getLogger().addFilter(_is_not_of_gateway)  # which logs as nobody in particular


def _is_not_of_gateway(record: logging.LogRecord) -> bool:
    return GATEWAY not in Path(record.pathname).parts


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
        if _is_local(session) and not _is_remote(conf) and PYTHON not in os.environ:
            session.sparkContext.pythonExec = sys.executable  # where hushgrid is; by default the first on the path
    return session


def _is_local(session: Any) -> bool:
    """Whether executors are on this machine."""
    return (session.conf.get("spark.master", None) or "").startswith("local")


def _is_remote(conf: Mapping[str, str]) -> bool:
    """Whether a server of Spark Connect has the session."""
    return REMOTE in conf or "SPARK_REMOTE" in os.environ


def _private_folders(conf: Mapping[str, str]) -> dict[str, str]:
    """Settings that let Spark spill to our folders.

    For a new session. The folders are gone when Python ends.
    """
    if _is_remote(conf):
        return {}  # a server writes where its own settings say
    try:
        places = [Path(place).absolute() if place else None for place in conf.get(LOCAL, "").split(",")]
        folders = [mkdtemp(prefix=PREFIX, dir=place) for place in places]
    except OSError:
        msg = f"{LOCAL} must name folders of this machine that can be written to, got {conf[LOCAL]!r}."
        raise ArgumentError(msg) from None
    for folder in folders:
        atexit.register(shutil.rmtree, folder, ignore_errors=True)
    # Spark makes the folder of its tables in the current one, tables or not.
    return {LOCAL: ",".join(folders), WAREHOUSE: conf.get(WAREHOUSE, f"{folders[0]}/warehouse")}


def _stop(session: Any) -> None:
    with suppress(Exception):  # a session that died has stopped already
        session.stop()


@contextmanager
def _for_owner_alone() -> Iterator[None]:
    """Let new processes make files for their owner alone."""
    mask = os.umask(0o077)
    try:
        yield
    finally:
        os.umask(mask)


def _packer() -> Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    """A function that makes one value of each batch.

    Executors get it as it is written here.
    """
    name = PACKED_BATCH

    def packed(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            stream = pa.BufferOutputStream()
            with pa.ipc.new_stream(stream, batch.schema) as writer:
                writer.write_batch(batch)
            yield pa.record_batch({name: pa.array([stream.getvalue().to_pybytes()], pa.binary())})

    return packed


SCRATCH = "spark.hushgrid.scratch"
PACKED_BATCH = "packed"
PREFIX = "hushgrid-"


class SparkEngine:
    """Data frames of one Spark session.

    The snapshot is Parquet that Spark writes once, because neither `persist` nor `localCheckpoint` is a guarantee: what
    an executor takes with it when it dies is computed again, from data that may have changed.
    """

    name: ClassVar[str] = "Spark"
    doubles = staticmethod(as_doubles)
    objects_as_text = staticmethod(as_declared)

    def __init__(self, session: Any) -> None:
        _silence_logs()
        self._session = session
        self._shared = session.conf.get(SCRATCH, None)
        if self._shared is None and not _is_local(session):
            msg = (
                f"Spark needs a place for a copy of the coordinates that all executors can reach: set {SCRATCH}, such "
            )
            msg += f"as --spark-conf {SCRATCH}=s3a://bucket/private, to a folder that may hold private data."
            raise ArgumentError(msg)

    def number(self, value: float) -> nw.Expr:
        """The number itself, a double to Spark."""
        return nw.lit(value)

    def table(self, columns: Columns) -> Frame:
        """A data frame that every executor gets.

        So that no point moves to be joined.
        """
        from pyspark.sql.functions import broadcast

        return lazy(broadcast(self._session.createDataFrame(pa.table(dict(columns)))))

    @contextmanager
    def with_areas(self, frame: Frame, index: AreaIndex, /) -> Iterator[Frame]:
        """Add the area of each point, on the executors.

        They need hushgrid, too; no point leaves them.
        """
        from pyspark.sql.types import LongType, StructField, StructType

        def areas(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
            return (batch_with_areas(batch, index) for batch in batches)

        native: Any = frame.to_native()
        schema = StructType([*native.schema.fields, StructField(AREA, LongType())])
        yield lazy(native.mapInArrow(areas, schema))

    def check_users(self, _frame: Frame, /) -> None:
        """Accept user ids."""

    def with_sha256(self, frame: Frame, text: str, digest: str, /) -> Frame:
        """Add the SHA-256 by Spark's own function."""
        from pyspark.sql.functions import sha2

        native: Any = frame.to_native()
        return lazy(native.withColumn(digest, sha2(text, 256)))

    @contextmanager
    def parquet(self, frame: Frame, /) -> Iterator[Path]:
        """A file of the rows, by way of a copy in the scratch folder.

        Executors pack rows as they are in Arrow: Spark's own Parquet forgets by default that a time is an instant, and
        Python's rows have the time zone of the driver. They need pyarrow for it, and nothing of hushgrid.
        """
        native: Any = frame.to_native()
        packed = lazy(native.mapInArrow(_packer(), f"{PACKED_BATCH} binary"))
        with ExitStack() as stack:
            with self.snapshot(packed) as copy:
                copied: Any = copy.to_native()
                batches = (batch for row in copied.toLocalIterator() for batch in pa.ipc.open_stream(row[PACKED_BATCH]))
                some = list(islice(batches, 1))
                schema = some[0].schema if some else frame.collect_schema().to_arrow()
                path = stack.enter_context(streamed_copy(chain(some, batches), schema))
            yield path

    @contextmanager
    def snapshot(self, frame: Frame) -> Iterator[Frame]:
        """A copy in the scratch folder.

        The setting `spark.hushgrid.scratch` names it; a local session needs none.
        """
        with self._scratch() as folder:
            place = f"{folder}/points"
            native: Any = frame.to_native()
            native.write.parquet(place)
            yield lazy(self._session.read.schema(native.schema).parquet(place))

    @contextmanager
    def _scratch(self) -> Iterator[str]:
        if self._shared is None:
            with TemporaryDirectory(prefix=PREFIX) as folder:
                yield f"file://{folder}"
            return
        folder = f"{self._shared.rstrip('/')}/{PREFIX}{uuid4().hex}"
        try:
            yield folder
        finally:
            self._remove(folder)

    def _remove(self, folder: str) -> None:
        """Delete a folder, or warn that it is left.

        An error that is on its way stays as it is.
        """
        try:
            jvm = self._session._jvm  # noqa: SLF001  # Spark Connect has none, and no other way to delete files
            path = jvm.org.apache.hadoop.fs.Path(folder)
            path.getFileSystem(self._session._jsc.hadoopConfiguration()).delete(path, True)  # noqa: SLF001
        except Exception as error:  # noqa: BLE001  # of Java, or of a session that died
            msg = f"the copy of the coordinates in {folder} could not be removed ({type(error).__name__}). Remove it."
            warnings.warn(msg, stacklevel=2)
