"""Points in a Parquet file, row group by row group, in memory that does not grow with the file."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import pyarrow.parquet as pq

from hushgrid.counting.arrow import PointColumns, point_columns
from hushgrid.counting.parquet_batches import bounded_batches, enough_memory
from hushgrid.counting.snapshot import Snapshot, files_state, reading
from hushgrid.counting.source import Block
from hushgrid.counting.users import UserColumn, user_column
from hushgrid.geometry.domain import Domain

KIND = "Parquet"


class ParquetPoints:
    """A Parquet or GeoParquet file.

    Privacy
    -------
    Reads the schema, the number of rows, the coordinate columns and that of the users. Statistics, boxes and other
    columns are not looked at.
    """

    def __init__(
        self,
        path: Path,
        *,
        domain: Domain,
        lon: str | None = None,
        lat: str | None = None,
        geometry: str | None = None,
        user: str | None = None,
    ) -> None:
        self._path = path
        self.snapshot = Snapshot.of(path)
        with reading(path, KIND), pq.ParquetFile(path, pre_buffer=False) as file:
            self._metadata = file.metadata
            self._columns = point_columns(
                file.schema_arrow, domain=domain, lon=lon, lat=lat, geometry=geometry, where=str(path)
            )
            self._user = None
            if user is not None:
                self._user = user_column(file.schema_arrow, user, coordinates=self._columns.names, where=str(path))

    @property
    def columns(self) -> list[str]:
        """Names of the columns that hold the points."""
        return self._columns.names

    def rows(self) -> int:
        """Number of rows, from the footer."""
        return int(self._metadata.num_rows)

    def parts(self) -> Sequence["RowGroup"]:
        """The row groups."""
        return [
            RowGroup(self._path, self._metadata, index, self._columns, self._user)
            for index in range(self._metadata.num_row_groups)
        ]

    def check_unchanged(self) -> None:
        """Refuse a file that has changed since it was opened."""
        self.snapshot.check()

    def state(self) -> bytes:
        """What tells the file from another, or from itself after a change."""
        return files_state({"": self.snapshot})


@dataclass(frozen=True, repr=False)
class RowGroup:
    """One row group, read in small batches on the thread that asks for them."""

    path: Path
    metadata: pq.FileMetaData
    index: int
    columns: PointColumns
    user: UserColumn | None

    def __iter__(self) -> Iterator[Block]:
        share_of_row = 1 / max(1, self.metadata.num_rows)
        names = self.columns.leaves if self.user is None else [*self.columns.leaves, self.user.name]
        with reading(self.path, KIND), enough_memory(self.path):
            for batch in bounded_batches(self.path, self.metadata, self.index, names):
                users = None if self.user is None else self.user.ids(batch)
                yield Block.of(*self.columns.points(batch), share_of_row * batch.num_rows, users)
