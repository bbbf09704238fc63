"""The release file: GeoParquet, a row for each leaf.

The format is described in docs/file-format.md.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import IO

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from hushgrid.errors import ArgumentError, SynopsisFileError
from hushgrid.files.footer import (
    FIRST_SCHEMA_VERSION,
    HOW_TO_PUBLISH,
    SCHEMA_VERSION,
    Footer,
    footer_metadata,
    parse_footer,
)
from hushgrid.files.geo import CORNERS
from hushgrid.files.groups import groups_by_place
from hushgrid.files.paths import FOLDER, MISSING, irregularity, near_file, new_file
from hushgrid.files.tables import measured_columns, measured_from
from hushgrid.geometry.domain import BOUNDS
from hushgrid.geometry.partition import Structure
from hushgrid.inference.evidence import Evidence
from hushgrid.inference.inferences import INFERENCES, check_premises
from hushgrid.inference.measurements import Measurements
from hushgrid.synopsis.cells import names, places, shapes
from hushgrid.synopsis.claim import OF_SLICES
from hushgrid.synopsis.synopsis import Synopsis

COMPRESSION_LEVEL = 3  # of zstd: higher ones make files smaller by up to a twentieth, and saving slower by more
MAGIC = b"PAR1"
OF_AREAS = {".geojson": "GeoJSON file", ".json": "JSON file", ".gpkg": "GeoPackage", ".shp": "shapefile"}
BYTES_PER_ROW = 1280  # more than a polygon, the longest rate and the rest take
BYTES_BESIDE_ROWS = 2**24  # for dictionaries of rates
HIGHEST_COUNT = 1e100  # of a cell, and squares of sums of such counts are still doubles
HIGHEST_VARIANCE = 1e300  # of all cells together
BBOX = pa.field("bbox", pa.struct([pa.field(name, pa.float64(), nullable=False) for name in CORNERS]), nullable=False)
COLUMNS = pa.schema(
    [
        *(pa.field(name, pa.float64(), nullable=False) for name in BOUNDS),
        pa.field("geometry", pa.binary(), nullable=False),
        pa.field("count", pa.float64(), nullable=False),
        pa.field("std_error", pa.float64(), nullable=False),
        pa.field("measured", pa.int64()),
        pa.field("rate", pa.string()),
        BBOX,
    ]
)
NAME = pa.field("name", pa.string(), nullable=False)  # of an area
PRIOR = pa.field("prior", pa.int64(), nullable=False)  # evidence of a public prior
REPEATED = ("slice", "geometry", "rate")  # columns that are read as dictionaries
WITH_STATISTICS = [  # columns that have them, and dictionaries
    *(name for name in ("slice", *COLUMNS.names, PRIOR.name) if name not in ("geometry", BBOX.name)),
    *(f"{BBOX.name}.{name}" for name in CORNERS),
]


def write(synopsis: Synopsis, path: Path, *, overwrite: bool = False, allow_simulation: bool = False) -> None:
    """Write a synopsis to a file; see `Synopsis.save`."""
    if synopsis.simulation and not allow_simulation:
        msg = "a simulated synopsis is not a release; pass allow_simulation=True to write it for an experiment."
        raise ArgumentError(msg)
    if _claims_too_little(synopsis):
        msg = "this slice was sharpened by the total and all other slices, so that its own claim says less than its "
        msg += "counts cost. Save it under the guarantee of all: slices.shown(NAME).save(...)."
        raise ArgumentError(msg)
    with new_file(path, overwrite=overwrite) as out:
        write_to(synopsis, out)


def _claims_too_little(synopsis: Synopsis) -> bool:
    """Whether it is a slice that others sharpened, with the account of its own measurements."""
    prior = synopsis.prior
    return prior is not None and prior.used and prior.kind == OF_SLICES and synopsis.claim.alone == synopsis.claim


def write_to(synopsis: Synopsis, out: IO[bytes]) -> None:
    """Write the bytes of a release file."""
    check_writable(synopsis)
    metadata = footer_metadata(synopsis)
    with release_writer(out, columns_of(synopsis.partition, synopsis.inference)) as writer:
        for (run,) in groups_by_place([synopsis.partition]):
            writer.write_batch(leaf_rows(synopsis, run.first, run.stop))
        writer.add_key_value_metadata(metadata)


def check_writable(synopsis: Synopsis) -> None:
    """Refuse a synopsis whose counts could not follow from its measurements."""
    complaint = check_premises(synopsis.inference, synopsis.evidence)
    if complaint is not None:
        msg = f"the synopsis cannot be written: {complaint}"
        raise ArgumentError(msg)


def release_writer(out: IO[bytes], columns: pa.Schema) -> pq.ParquetWriter:
    """A writer of release files."""
    return pq.ParquetWriter(
        out,
        columns,
        compression="zstd",
        compression_level=COMPRESSION_LEVEL,
        use_dictionary=WITH_STATISTICS,
        write_statistics=WITH_STATISTICS,
        write_page_checksum=True,
        store_schema=False,  # it would hold the whole footer once more
    )


def columns_of(partition: Structure, inference: str, *, schema: int = SCHEMA_VERSION) -> pa.Schema:
    """The columns of a release.

    Areas have names first, and H3 cells their indexes. The evidence of a public prior comes last.
    """
    always = [field for field in COLUMNS if field.name != BBOX.name or schema > FIRST_SCHEMA_VERSION]
    last = [PRIOR] if inference in INFERENCES and INFERENCES[inference].with_prior else []
    return pa.schema([*map(NAME.with_name, names(partition)), *always, *last])


class ReleaseFile:
    """An open release file, its footer and columns checked."""

    def __init__(self, source: pa.NativeFile) -> None:
        parquet = pq.read_metadata(source)
        self.metadata: dict[bytes, bytes] = parquet.metadata or {}
        self.footer: Footer = parse_footer(self.metadata, rows=parquet.num_rows)
        self.columns = columns_of(self.footer.partition, self.footer.inference, schema=self.footer.schema)
        self._rows = CheckedRows(source, parquet, self.columns)

    def synopsis(self) -> Synopsis:
        """The synopsis; polygons and bounds are not read."""
        return synopsis_of(self.footer, self._rows.read(wanted_of(self.columns)))

    def row_groups(self) -> Iterator[pa.Table]:
        """All columns of the leaves, part by part."""
        return self._rows.groups()


class CheckedRows:
    """Rows of an open Parquet file that has the columns it should have.

    Arrow's own threads stay out of it. One of them may be the last to let go of the bytes that are read, a moment after
    the reader is done; if Python is ending just then, the process aborts.

    Parameters
    ----------
    source : pyarrow.NativeFile
    parquet : pyarrow.parquet.FileMetaData
    columns : pyarrow.Schema
        What it should have.
    """

    def __init__(self, source: pa.NativeFile, parquet: pq.FileMetaData, columns: pa.Schema) -> None:
        self._size = parquet.num_rows
        self._group_sizes = [parquet.row_group(group).num_rows for group in range(parquet.num_row_groups)]
        if min(self._group_sizes, default=0) < 0 or sum(self._group_sizes) != parquet.num_rows:
            msg = f"its row groups do not add up to its {parquet.num_rows:,} rows."
            raise SynopsisFileError(msg)
        if not parquet.schema.to_arrow_schema().remove_metadata().equals(columns):
            msg = f"its columns are not {', '.join(columns.names)}, or not of the right types."
            raise SynopsisFileError(msg)
        _check_sizes(parquet)
        self._parquet = pq.ParquetFile(
            source,
            metadata=parquet,
            # As dictionaries, because one long value, repeated, would expand past any memory.
            read_dictionary=[name for name in REPEATED if name in columns.names],
            pre_buffer=False,
            page_checksum_verification=True,
        )

    def read(self, names: list[str]) -> pa.Table:
        """Some columns of all rows."""
        return self._checked(self._parquet.read(names, use_threads=False), self._size)

    def groups(self) -> Iterator[pa.Table]:
        """All columns, group by group."""
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


def wanted_of(columns: pa.Schema) -> list[str]:
    """The columns that a synopsis is made of."""
    return ["count", "measured", "rate", *([PRIOR.name] if PRIOR.name in columns.names else [])]


def synopsis_of(footer: Footer, leaves: pa.Table) -> Synopsis:
    """A synopsis of what its footer and the rows of its leaves hold.

    Parameters
    ----------
    leaves : pyarrow.Table
        Columns `wanted_of` a release, a row for each leaf.
    """
    with_prior = INFERENCES[footer.inference].with_prior if footer.inference in INFERENCES else False
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
    prior = footer.prior
    if with_prior:
        if prior is None:
            msg = "its cells hold a prior that its footer does not name."
            raise SynopsisFileError(msg)
        prior = replace(prior, leaves=leaves[PRIOR.name].to_numpy().copy())
    evidence = Evidence(footer.partition, measurements, None if prior is None else prior.leaves)
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
        prior=prior,
        period=footer.period,
        places=footer.places,
        solved=evidence,
    )
    with np.errstate(over="ignore"):
        if not synopsis.variances.sum() <= HIGHEST_VARIANCE:  # false for NaN too
            msg = "its noise is not of reasonable size."
            raise SynopsisFileError(msg)
    return synopsis


def _check_sizes(parquet: pq.FileMetaData) -> None:
    """Refuse groups that would expand past their rows.

    Not column by column: pyarrow ends the process where what a column says of itself is damaged.
    """
    for group in map(parquet.row_group, range(parquet.num_row_groups)):
        if group.total_byte_size > group.num_rows * BYTES_PER_ROW + BYTES_BESIDE_ROWS:
            msg = "its columns take more room than its rows can."
            raise SynopsisFileError(msg)


@contextmanager
def open_release(path: Path) -> Iterator[ReleaseFile]:
    """An open release file; errors name it."""
    with open_source(path) as source:
        yield ReleaseFile(source)


@contextmanager
def open_source(path: Path) -> Iterator[pa.NativeFile]:
    """An open file that may be a release; errors name it."""
    _check_source(path)
    with clear_errors(str(path)), pa.OSFile(os.fsencode(path)) as source:  # names need not be Unicode
        yield source


def parse_release(content: bytes, *, name: str) -> Synopsis:
    """The synopsis in the bytes of a release file.

    Errors call them by the name given.
    """
    with clear_errors(name), pa.BufferReader(content) as source:
        return ReleaseFile(source).synopsis()


@contextmanager
def clear_errors(name: str) -> Iterator[None]:
    """Errors about a file that call it by its name."""
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
        way = " Name one release in it." if complaint == FOLDER else ""
        msg = f"{path} {complaint}.{way}"
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


def leaf_rows(synopsis: Synopsis, first: int, stop: int) -> pa.RecordBatch:
    """Rows of the leaves `first` to `stop`."""
    measured, rate = measured_columns(synopsis.measurements.leaves, first, stop)
    placed = places(synopsis.partition, first, stop)
    columns = [
        *placed.values(),
        shapes(synopsis.partition, first, stop),
        pa.array(synopsis.counts[first:stop]),
        pa.array(np.sqrt(synopsis.variances[first:stop])),
        measured,
        rate.dictionary_decode(),
        pa.StructArray.from_arrays([placed[name] for name in BOUNDS], fields=list(BBOX.type)),
    ]
    if synopsis.evidence.prior is not None:
        columns.append(pa.array(synopsis.evidence.prior[first:stop]))
    return pa.record_batch(columns, schema=columns_of(synopsis.partition, synopsis.inference))
