"""Points in Parquet files and folders.

A small file can say a great deal: one long value in a dictionary, and a number for each of a million rows that have it;
or pages of zeros, compressed ten thousand times. So long values stay in their dictionary, and the longer rows are, the
fewer of them are read at once. docs/decisions/0005-user-bounding.md says what is not covered.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from hushgrid.counting.arrow import PointColumns, arrow_schema, point_columns
from hushgrid.counting.by_slice.slicing import SliceColumns, slice_columns
from hushgrid.counting.columns import PointSchema
from hushgrid.counting.source import Block, FilePart, Snapshot, files_state, parquet_files, reading
from hushgrid.counting.users import UserColumn, user_column
from hushgrid.errors import InputError
from hushgrid.files.paths import irregularity
from hushgrid.slices.by import By

BATCH_ROWS = 2**17
BATCH_BYTES = 2**25  # of values that are decoded at once
BUFFER_BYTES = 2**16  # read ahead in a column; without a buffer, all of it in a row group is read at once


def bounded_batches(
    path: Path, metadata: pq.FileMetaData, group: int, columns: Sequence[str]
) -> Iterator[pa.RecordBatch]:
    """Batches of a row group, bounded in memory.

    A column whose dictionary holds long values comes as indices into it.

    Privacy
    -------
    Sizes decide how rows are read, and never which, nor what is said of them.
    """
    leaves = [leaf for leaf in range(metadata.num_columns) if _is_within(metadata.schema.column(leaf).path, columns)]
    texts = [metadata.schema.column(leaf) for leaf in leaves]
    texts = [text.path for text in texts if text.physical_type == "BYTE_ARRAY"]
    kept = [name for name in texts if _has_long_values(path, metadata, group, name)]
    rows = _rows_at_once(metadata, group, leaves)
    with _opened(path, metadata, kept) as file:
        yield from file.iter_batches(rows, row_groups=[group], columns=list(columns), use_threads=False)


@contextmanager
def enough_memory(path: Path) -> Iterator[None]:
    """Explain a lack of memory by the file.

    Nothing is said of its rows.
    """
    try:
        yield
    except MemoryError:
        msg = f"{path} needs more memory than there is: its pages or values are very long. Write it anew with small "
        msg += "pages, and only the columns of coordinates, users and slices, or give the process more memory."
        raise InputError(msg) from None


def _opened(path: Path, metadata: pq.FileMetaData, kept: list[str]) -> pq.ParquetFile:
    return pq.ParquetFile(path, metadata=metadata, read_dictionary=kept, pre_buffer=False, buffer_size=BUFFER_BYTES)


def _is_within(leaf: str, columns: Sequence[str]) -> bool:
    return any(leaf == name or leaf.startswith(name + ".") for name in columns)


def _has_long_values(path: Path, metadata: pq.FileMetaData, group: int, name: str) -> bool:
    """Whether a column's dictionary holds long values.

    Long is what a batch could not repeat in every row.
    """
    with _opened(path, metadata, [name]) as file:
        first = next(file.iter_batches(1, row_groups=[group], columns=[name], use_threads=False), None)
    if first is None or not isinstance(values := first.column(name), pa.DictionaryArray):
        return False
    longest = pc.max(pc.binary_length(values.dictionary)).as_py() or 0
    return bool(longest > BATCH_BYTES // BATCH_ROWS)


def _rows_at_once(metadata: pq.FileMetaData, group: int, leaves: Sequence[int]) -> int:
    """Number of rows whose values fill a batch.

    By the mean size of a whole row, or the declared width.
    """
    row_group = metadata.row_group(group)
    # The sizes of single columns would be closer, but Arrow aborts the process where a damaged footer has none.
    size = row_group.total_byte_size // max(1, row_group.num_rows)
    width = sum(max(0, metadata.schema.column(leaf).length or 0) for leaf in leaves)
    return int(np.clip(BATCH_BYTES // max(1, size, width), 1, BATCH_ROWS))


KIND = "Parquet"


class ParquetPoints:
    """A Parquet or GeoParquet file.

    Privacy
    -------
    Reads the schema, the number of rows, the coordinate columns and those of users and slices. Statistics, boxes and
    other columns are not looked at.
    """

    def __init__(
        self,
        path: Path,
        *,
        crs: str,
        lon: str | None = None,
        lat: str | None = None,
        geometry: str | None = None,
        user: str | None = None,
        by: By | None = None,
    ) -> None:
        self._path = path
        self.snapshot = Snapshot.of(path)
        with reading(path, KIND), pq.ParquetFile(path, pre_buffer=False) as file:
            self._metadata = file.metadata
            self._columns = point_columns(
                file.schema_arrow, crs=crs, lon=lon, lat=lat, geometry=geometry, where=str(path)
            )
            self._user = None
            if user is not None:
                self._user = user_column(file.schema_arrow, user, coordinates=self._columns.names, where=str(path))
            self._slices = slice_columns(
                file.schema_arrow, by, coordinates=self._columns.names, user=user, where=str(path)
            )
            self.schema = arrow_schema(
                "a Parquet file", file.schema_arrow, self._columns, user=user, sliced=() if by is None else by.columns
            )

    @property
    def columns(self) -> list[str]:
        """Names of the columns that hold the points."""
        return self._columns.names

    def rows(self) -> int:
        """Number of rows, from the footer."""
        return int(self._metadata.num_rows)

    def parts(self) -> Sequence["RowGroup"]:
        """Row groups of the file."""
        return [
            RowGroup(self._path, self._metadata, index, self._columns, self._user, self._slices)
            for index in range(self._metadata.num_row_groups)
        ]

    def check_unchanged(self) -> None:
        """Refuse a file that changed since it was opened."""
        self.snapshot.check()

    def state(self) -> bytes:
        """Digest that changes whenever the file does."""
        return files_state({"": self.snapshot})


@dataclass(frozen=True, repr=False)
class RowGroup:
    """One row group, read in small batches."""

    path: Path
    metadata: pq.FileMetaData
    index: int
    columns: PointColumns
    user: UserColumn | None
    slices: SliceColumns | None

    def __iter__(self) -> Iterator[Block]:
        share_of_row = 1 / max(1, self.metadata.num_rows)
        ids = [] if self.user is None else [self.user.name]
        names = [*self.columns.leaves, *ids, *(() if self.slices is None else self.slices.names)]
        with reading(self.path, KIND), enough_memory(self.path):
            for batch in bounded_batches(self.path, self.metadata, self.index, names):
                users = None if self.user is None else self.user.ids(batch)
                slices = None if self.slices is None else self.slices.numbers(batch)
                yield Block.of(*self.columns.points(batch), share_of_row * batch.num_rows, users, slices)


class ParquetFiles:
    """Several Parquet files as one table.

    All have their points in the same columns, as Spark and others write them.

    Privacy
    -------
    Reads of each file what `ParquetPoints` does. A file that is changed between passes is an error, so that all of them
    read one snapshot.
    """

    form: ClassVar[str] = "Parquet files as one table"

    def __init__(
        self,
        paths: Sequence[Path],
        *,
        crs: str,
        lon: str | None = None,
        lat: str | None = None,
        geometry: str | None = None,
        user: str | None = None,
        by: By | None = None,
    ) -> None:
        self._paths = paths
        for path in paths:
            complaint = irregularity(path)
            if complaint is not None:
                msg = f"{path} {complaint}. Remove it from the folder, or mend it."
                raise InputError(msg)
        self._files = [
            ParquetPoints(path, crs=crs, lon=lon, lat=lat, geometry=geometry, user=user, by=by) for path in self._paths
        ]
        self._check_columns()

    @property
    def schema(self) -> PointSchema:
        """Columns of the first file; all have the same."""
        return replace(self._files[0].schema, form=self.form)

    def rows(self) -> int:
        """Number of rows, from the footers."""
        return sum(file.rows() for file in self._files)

    def parts(self) -> Sequence[FilePart]:
        """Row groups of all files."""
        rows = max(1, self.rows())
        return [FilePart(part, file.rows() / rows) for file in self._files for part in file.parts()]

    def check_unchanged(self) -> None:
        """Refuse files that changed since they were opened."""
        for file in self._files:
            file.check_unchanged()

    def state(self) -> bytes:
        """Digest that changes with any file or their list."""
        names = map(self._name, self._paths)
        return files_state({name: file.snapshot for name, file in zip(names, self._files, strict=True)})

    def _name(self, path: Path) -> str:
        return str(path)

    def _check_columns(self) -> None:
        first = self._files[0].columns
        for path, file in zip(self._paths, self._files, strict=True):
            if file.columns != first:
                msg = f"{path} has its points in {_listed(file.columns)}, and {self._paths[0]} in {_listed(first)}. "
                msg += "The files of a folder are one table: write them with the same columns, or name some that all "
                msg += "have: lon=, lat=, or geometry=."
                raise InputError(msg)


class ParquetFolder(ParquetFiles):
    """A folder of Parquet files as one table.

    Privacy
    -------
    A file that is added or removed between passes is an error, too.
    """

    form: ClassVar[str] = "a folder of Parquet files"

    def __init__(self, folder: Path, **options: Any) -> None:
        self._folder = folder
        super().__init__(parquet_files(folder), **options)

    def check_unchanged(self) -> None:
        """Refuse a folder that changed since it was opened.

        No file may change, come or go.
        """
        super().check_unchanged()
        if parquet_files(self._folder) != self._paths:
            msg = f"{self._folder} changed while it was being published. Publish a copy that nothing writes to."
            raise InputError(msg)

    def _name(self, path: Path) -> str:
        return str(path.relative_to(self._folder))


def _listed(columns: Sequence[str]) -> str:
    return " and ".join(map(repr, columns))
