"""Rows of an engine, copied to this machine to be divided by slice.

One query writes the columns that are needed to a private folder; everything else is done as with a file, so that a
record has the same slice whichever engine it comes from. An engine is asked once, however many slices there are.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import narwhals as nw
import pyarrow as pa
import pyarrow.parquet as pq

from hushgrid.counting.by_slice.slicing import check_slice_names, check_slice_type, not_sliceable, slice_texts
from hushgrid.counting.engine.engine import TABLE, Engine, Frame, working
from hushgrid.counting.engine.local import POINTS, private_folder
from hushgrid.counting.parquet import ParquetFolder, ParquetPoints
from hushgrid.counting.users import LONGEST_ID, id_texts
from hushgrid.geometry.domain import LONGITUDE_LATITUDE
from hushgrid.slices.by import By

# Of a longer text only the beginning is copied. It is no id, no listed value and no time then, as the whole is not.
LONGEST_COPIED = LONGEST_ID + 1  # characters
GROUP_ROWS, GROUP_BYTES = 2**18, 2**25  # of a row group that is streamed: whichever is reached first


@dataclass(frozen=True, kw_only=True, eq=False)
class RowsToCopy:
    """What is copied out of an engine: coordinates, ids and what tells slices.

    Parameters
    ----------
    engine : Engine
    rows : LazyFrame
        These columns and no others.
    coordinates : tuple of str
        Longitude and latitude.
    user : str, optional
        Column of user ids.
    by : By
        The slices.
    """

    engine: Engine
    rows: Frame
    coordinates: tuple[str, ...]
    user: str | None
    by: By

    @classmethod
    def of(
        cls,
        engine: Engine,
        frame: Frame,
        schema: Mapping[str, Any],
        *,
        coordinates: tuple[str, ...],
        user: str | None,
        by: By,
    ) -> "RowsToCopy":
        """Choose the columns, by the engine's schema alone."""
        check_slices(by, schema, coordinates=coordinates, user=user)
        users = [] if user is None else [user]
        with working(engine.name):
            rows = engine.objects_as_text(engine.doubles(frame, coordinates), by.columns, slice_texts)
            rows = engine.objects_as_text(rows, users, id_texts)
            rows = rows.select(*coordinates, *_columns([*users, *by.columns], schema))
        return cls(engine=engine, rows=rows, coordinates=coordinates, user=user, by=by)

    @contextmanager
    def copied(self) -> Iterator[ParquetPoints | ParquetFolder]:
        """The rows as a file of this machine, while the context lasts."""
        with ExitStack() as stack:
            with working(self.engine.name):
                path = stack.enter_context(self.engine.parquet(self.rows))
            opened = ParquetFolder if path.is_dir() else ParquetPoints
            lon, lat = self.coordinates
            yield opened(path, crs=LONGITUDE_LATITUDE, lon=lon, lat=lat, user=self.user, by=self.by)


def _columns(names: Sequence[str], schema: Mapping[str, Any]) -> list[nw.Expr]:
    """Columns as they are copied.

    Of long texts it is the beginning. Whole numbers that Parquet does not have become text.
    """
    columns = {name: nw.col(name) for name in names}
    for name, column in columns.items():
        if schema[name] == nw.String:
            columns[name] = column.str.slice(0, LONGEST_COPIED)
        elif schema[name] in (nw.Int128, nw.UInt128):
            columns[name] = column.cast(nw.String)
    return list(columns.values())


@contextmanager
def streamed_copy(batches: Iterable[pa.RecordBatch], schema: pa.Schema) -> Iterator[Path]:
    """Rows that come in batches, as a file in a private folder.

    No more than a row group of them is in memory.

    Parameters
    ----------
    schema : Schema
        That of the batches.
    """
    with private_folder() as folder:
        path = Path(folder, POINTS)
        with pq.ParquetWriter(path, schema) as writer:
            for group in _groups(batches):
                writer.write_table(pa.Table.from_batches(group, schema))
        yield path


def _groups(batches: Iterable[pa.RecordBatch]) -> Iterator[list[pa.RecordBatch]]:
    """Batches, as many together as make a row group."""
    group: list[pa.RecordBatch] = []
    rows = size = 0
    for batch in batches:
        group.append(batch)
        rows, size = rows + batch.num_rows, size + batch.nbytes
        if rows >= GROUP_ROWS or size >= GROUP_BYTES:
            yield group
            group, rows, size = [], 0, 0
    if group:
        yield group


def check_slices(by: By, schema: Mapping[str, Any], *, coordinates: tuple[str, ...], user: str | None) -> None:
    """Refuse columns that cannot tell slices, by the engine's schema alone."""
    check_slice_names(by, list(schema), coordinates=coordinates, user=user, where=TABLE)
    for axis in by.axes:
        kind = _arrow_type(schema[axis.column])
        if kind is None:
            raise not_sliceable(axis, schema[axis.column], TABLE)
        check_slice_type(axis, kind, TABLE)


def _arrow_type(kind: Any) -> pa.DataType | None:
    """The Arrow type of a column in a file, if it may tell slices."""
    if kind in (nw.String, nw.Categorical, nw.Enum):
        return pa.string()
    if kind.is_integer():
        return pa.int64()
    if kind == nw.Datetime:
        return pa.timestamp("us", tz=kind.time_zone)
    return {nw.Boolean: pa.bool_(), nw.Date: pa.date32()}.get(type(kind))
