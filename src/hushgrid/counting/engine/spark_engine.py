"""Data frames of Spark."""

from collections.abc import Iterator
from contextlib import contextmanager
from tempfile import TemporaryDirectory
from typing import Any, ClassVar
from uuid import uuid4

import narwhals as nw
import pyarrow as pa

from hushgrid.counting.engine.engine import Columns, Frame, lazy
from hushgrid.errors import ArgumentError

SCRATCH = "spark.hushgrid.scratch"


class SparkEngine:
    """Data frames of one Spark session.

    The snapshot is Parquet that Spark writes once, because neither `persist` nor `localCheckpoint` is a guarantee: what
    an executor takes with it when it dies is computed again, from data that may have changed.
    """

    name: ClassVar[str] = "Spark"

    def __init__(self, session: Any) -> None:
        self._session = session

    def number(self, value: float) -> nw.Expr:
        """The number itself, which Spark takes as a double."""
        return nw.lit(value)

    def table(self, columns: Columns) -> Frame:
        """A data frame that every executor gets a copy of, so that no point moves to be joined."""
        from pyspark.sql.functions import broadcast

        return lazy(broadcast(self._session.createDataFrame(pa.table(dict(columns)))))

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
            try:
                yield lazy(self._session.read.schema(native.schema).parquet(place))
            finally:
                self._remove(place)

    @contextmanager
    def _scratch(self) -> Iterator[str]:
        given = self._session.conf.get(SCRATCH, None)
        if given is not None:
            yield f"{given.rstrip('/')}/hushgrid-{uuid4().hex}"
            return
        if not (self._session.conf.get("spark.master", None) or "").startswith("local"):
            msg = (
                f"Spark needs a place for a copy of the coordinates that all executors can reach: set {SCRATCH}, such "
            )
            msg += f"as --spark-conf {SCRATCH}=s3a://bucket/private, to a folder that may hold private data."
            raise ArgumentError(msg)
        with TemporaryDirectory(prefix="hushgrid-") as folder:
            yield f"file://{folder}"

    def _remove(self, place: str) -> None:
        jvm = getattr(self._session, "_jvm", None)
        if jvm is None:  # Spark Connect cannot delete files: docs/decisions/0007 says who does
            return
        path = jvm.org.apache.hadoop.fs.Path(place).getParent()
        path.getFileSystem(self._session._jsc.hadoopConfiguration()).delete(path, True)  # noqa: SLF001
