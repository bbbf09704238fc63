"""The release file: GeoParquet, a row for each leaf.

The format is described in docs/file-format.md.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from hushgrid.errors import ArgumentError, SynopsisFileError
from hushgrid.files.footer import HOW_TO_PUBLISH, Footer, footer_metadata, parse_footer
from hushgrid.files.paths import MISSING, irregularity, near_file, new_file
from hushgrid.files.tables import measured_columns, measured_from
from hushgrid.geometry.partition import Structure
from hushgrid.inference.evidence import Evidence
from hushgrid.inference.inferences import check_premises
from hushgrid.inference.measurements import Measurements
from hushgrid.synopsis.cells import names, places, shapes
from hushgrid.synopsis.synopsis import Synopsis

ROWS_PER_GROUP = 2**16
MAGIC = b"PAR1"
OF_AREAS = {".geojson": "GeoJSON file", ".json": "JSON file", ".gpkg": "GeoPackage", ".shp": "shapefile"}
BYTES_PER_ROW = 640  # more than a polygon takes, or the longest rate
BYTES_BESIDE_ROWS = 2**24  # for dictionaries of rates
HIGHEST_COUNT = 1e100  # of a cell, and squares of sums of such counts are still doubles
HIGHEST_VARIANCE = 1e300  # of all cells together
COLUMNS = pa.schema(
    [
        *(pa.field(name, pa.float64(), nullable=False) for name in ("west", "south", "east", "north")),
        pa.field("geometry", pa.binary(), nullable=False),
        pa.field("count", pa.float64(), nullable=False),
        pa.field("std_error", pa.float64(), nullable=False),
        pa.field("measured", pa.int64()),
        pa.field("rate", pa.string()),
    ]
)
NAME = pa.field("name", pa.string(), nullable=False)  # of an area
NOT_GEOMETRY = [name for name in COLUMNS.names if name != "geometry"]


def write(synopsis: Synopsis, path: Path, *, overwrite: bool = False, allow_simulation: bool = False) -> None:
    """Write a synopsis to a file; see `Synopsis.save`."""
    if synopsis.simulation and not allow_simulation:
        msg = "a simulated synopsis is not a release; pass allow_simulation=True to write it for an experiment."
        raise ArgumentError(msg)
    with new_file(path, overwrite=overwrite) as out:
        write_to(synopsis, out)


def write_to(synopsis: Synopsis, out: IO[bytes]) -> None:
    """Write the bytes of a release file."""
    complaint = check_premises(synopsis.inference, synopsis.evidence)
    if complaint is not None:
        msg = f"the synopsis cannot be written: {complaint}"
        raise ArgumentError(msg)
    metadata = footer_metadata(synopsis)
    cells = synopsis.partition.cells
    with pq.ParquetWriter(
        out,
        columns_of(synopsis.partition),
        compression="zstd",
        use_dictionary=NOT_GEOMETRY,
        write_statistics=NOT_GEOMETRY,
        write_page_checksum=True,
        store_schema=False,  # it would hold the whole footer once more
    ) as writer:
        for first in range(0, cells, ROWS_PER_GROUP):
            writer.write_batch(_rows(synopsis, first, min(first + ROWS_PER_GROUP, cells)))
        writer.add_key_value_metadata(metadata)


def columns_of(partition: Structure) -> pa.Schema:
    """The columns of a release; areas have names first, and H3 cells their indexes."""
    return pa.schema([*map(NAME.with_name, names(partition)), *COLUMNS])


class ReleaseFile:
    """An open release file, its footer and columns checked.

    Arrow's own threads stay out of it. One of them may be the last to let go of the bytes that are read, a moment after
    the reader is done; if Python is ending just then, the process aborts.
    """

    def __init__(self, source: pa.NativeFile) -> None:
        parquet = pq.read_metadata(source)
        self.metadata: dict[bytes, bytes] = parquet.metadata or {}
        self.footer: Footer = parse_footer(self.metadata, rows=parquet.num_rows)
        self._group_sizes = [parquet.row_group(group).num_rows for group in range(parquet.num_row_groups)]
        if min(self._group_sizes, default=0) < 0 or sum(self._group_sizes) != parquet.num_rows:
            msg = f"its row groups do not add up to its {parquet.num_rows:,} rows."
            raise SynopsisFileError(msg)
        columns = columns_of(self.footer.partition)
        if not parquet.schema.to_arrow_schema().remove_metadata().equals(columns):
            msg = f"its columns are not {', '.join(columns.names)}, or not of the right types."
            raise SynopsisFileError(msg)
        _check_sizes(parquet)
        self._parquet = pq.ParquetFile(
            source,
            metadata=parquet,
            # As dictionaries, because one long value, repeated, would expand past any memory.
            read_dictionary=["geometry", "rate"],
            pre_buffer=False,
            page_checksum_verification=True,
        )

    def synopsis(self) -> Synopsis:
        """The synopsis; polygons and bounds are not read."""
        footer = self.footer
        columns = self._parquet.read(["count", "measured", "rate"], use_threads=False)
        leaves = self._checked(columns, footer.partition.cells)
        counts = leaves["count"].to_numpy().copy()
        if not (np.abs(counts) <= HIGHEST_COUNT).all():  # false for NaN too
            msg = "a count is not a finite number of reasonable size."
            raise SynopsisFileError(msg)
        measurements = Measurements(
            leaves=measured_from(leaves["measured"].combine_chunks(), leaves["rate"].combine_chunks()),
            regions=footer.regions,
            region_values=footer.region_values,
            wavelet=footer.wavelet,
        )
        evidence = Evidence(footer.partition, measurements)
        complaint = check_premises(footer.inference, evidence)
        if complaint is not None:
            raise SynopsisFileError(complaint)
        synopsis = Synopsis(
            partition=footer.partition,
            measurements=measurements,
            inference=footer.inference,
            counts=counts,
            claim=footer.claim,
            method=footer.method,
            calibration=footer.calibration,
            scale=footer.scale,
            ledger=footer.ledger,
            solved=evidence,
        )
        with np.errstate(over="ignore"):
            if not synopsis.variances.sum() <= HIGHEST_VARIANCE:  # false for NaN too
                msg = "its noise is not of reasonable size."
                raise SynopsisFileError(msg)
        return synopsis

    def row_groups(self) -> Iterator[pa.Table]:
        """All columns of the leaves, part by part."""
        for group, size in enumerate(self._group_sizes):
            yield self._checked(self._parquet.read_row_group(group, use_threads=False), size)

    @staticmethod
    def _checked(table: pa.Table, rows: int) -> pa.Table:
        # Arrow trusts what it decodes; a hostile file may hold indices of rates that are not there.
        table.validate(full=True)
        if table.num_rows != rows:
            msg = f"it has {table.num_rows:,} rows where {rows:,} are declared."
            raise SynopsisFileError(msg)
        return table.unify_dictionaries()


def _check_sizes(parquet: pq.FileMetaData) -> None:
    """Refuse columns that would expand past their rows."""
    for group in map(parquet.row_group, range(parquet.num_row_groups)):
        for chunk in map(group.column, range(group.num_columns)):
            if chunk.total_uncompressed_size > group.num_rows * BYTES_PER_ROW + BYTES_BESIDE_ROWS:
                msg = f"its column {chunk.path_in_schema} takes more room than its rows can."
                raise SynopsisFileError(msg)


@contextmanager
def open_release(path: Path) -> Iterator[ReleaseFile]:
    """An open release file; errors name it."""
    _check_source(path)
    with _clear_errors(str(path)), pa.OSFile(str(path)) as source:
        yield ReleaseFile(source)


def parse_release(content: bytes, *, name: str) -> Synopsis:
    """The synopsis in the bytes of a release file.

    Errors call them by the name given.
    """
    with _clear_errors(name), pa.BufferReader(content) as source:
        return ReleaseFile(source).synopsis()


@contextmanager
def _clear_errors(name: str) -> Iterator[None]:
    try:
        yield
    except SynopsisFileError as error:
        msg = f"{name} cannot be read: {error}"
        raise SynopsisFileError(msg) from error
    except (pa.ArrowException, OSError, UnicodeDecodeError) as error:
        msg = f"{name} is damaged or cut short."
        raise SynopsisFileError(msg) from error
    except MemoryError as error:
        msg = f"{name} does not fit in memory, or is damaged."
        raise SynopsisFileError(msg) from error


def _check_source(path: Path) -> None:
    complaint = irregularity(path)
    if complaint is not None:
        near = near_file(path) if complaint == MISSING else None
        msg = f"{path} {complaint}."
        raise SynopsisFileError(msg, instead={"path": near} if near else None)
    try:
        with path.open("rb") as file:
            start = file.read(len(MAGIC))
    except OSError as error:
        msg = f"{path} cannot be read: {error.strerror}."
        raise SynopsisFileError(msg) from error
    if start != MAGIC:
        what, way = "not a Parquet file", HOW_TO_PUBLISH
        if path.suffix.lower() in OF_AREAS:
            what = f"a {OF_AREAS[path.suffix.lower()]} and not a Parquet file"
            way = f"A release counts its areas by: hushgrid query RELEASE.dp.parquet --polygons {path}"
        msg = f"{path} is {what}, so it cannot be a release. {way}"
        raise SynopsisFileError(msg)


def _rows(synopsis: Synopsis, first: int, stop: int) -> pa.RecordBatch:
    measured, rate = measured_columns(synopsis.measurements.leaves, first, stop)
    columns = [
        *places(synopsis.partition, first, stop).values(),
        shapes(synopsis.partition, first, stop),
        pa.array(synopsis.counts[first:stop]),
        pa.array(np.sqrt(synopsis.variances[first:stop])),
        measured,
        rate.dictionary_decode(),
    ]
    return pa.record_batch(columns, schema=columns_of(synopsis.partition))
