"""Data frames of Spark."""

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from tempfile import TemporaryDirectory
from typing import Any, ClassVar
from uuid import uuid4

import narwhals as nw
import pyarrow as pa

from hushgrid.counting.engine.engine import Columns, Frame, as_doubles, lazy
from hushgrid.errors import ArgumentError

SCRATCH = "spark.hushgrid.scratch"
PREFIX = "hushgrid-"


class SparkEngine:
    """Data frames of one Spark session.

    The snapshot is Parquet that Spark writes once, because neither `persist` nor `localCheckpoint` is a guarantee: what
    an executor takes with it when it dies is computed again, from data that may have changed.
    """

    name: ClassVar[str] = "Spark"
    doubles = staticmethod(as_doubles)

    def __init__(self, session: Any) -> None:
        self._session = session
        self._shared = session.conf.get(SCRATCH, None)
        is_local = (session.conf.get("spark.master", None) or "").startswith("local")
        if self._shared is None and not is_local:
            msg = (
                f"Spark needs a place for a copy of the coordinates that all executors can reach: set {SCRATCH}, such "
            )
            msg += f"as --spark-conf {SCRATCH}=s3a://bucket/private, to a folder that may hold private data."
            raise ArgumentError(msg)

    def number(self, value: float) -> nw.Expr:
        """The number itself, which Spark takes as a double."""
        return nw.lit(value)

    def table(self, columns: Columns) -> Frame:
        """A data frame that every executor gets a copy of, so that no point moves to be joined."""
        from pyspark.sql.functions import broadcast

        return lazy(broadcast(self._session.createDataFrame(pa.table(dict(columns)))))

    def check_users(self, _frame: Frame, /) -> None:
        """Nothing is missing."""

    def with_sha256(self, frame: Frame, text: str, digest: str, /) -> Frame:
        """By Spark's own function."""
        from pyspark.sql.functions import sha2

        native: Any = frame.to_native()
        return lazy(native.withColumn(digest, sha2(text, 256)))

    @contextmanager
    def snapshot(self, frame: Frame) -> Iterator[Frame]:
        """A copy in the folder that the setting `spark.hushgrid.scratch` names; a local session needs none."""
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
        """Delete a folder; where that fails, say so, and leave an error that is on its way as it is."""
        try:
            jvm = self._session._jvm  # noqa: SLF001  # Spark Connect has none, and no other way to delete files
            path = jvm.org.apache.hadoop.fs.Path(folder)
            path.getFileSystem(self._session._jsc.hadoopConfiguration()).delete(path, True)  # noqa: SLF001
        except Exception as error:  # noqa: BLE001  # of Java, or of a session that died
            msg = f"the copy of the coordinates in {folder} could not be removed ({type(error).__name__}). Remove it."
            warnings.warn(msg, stacklevel=2)
