"""Slices in one file: the rows of all, and one footer.

The format is described in docs/file-format.md.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import IO, Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from hushgrid.errors import ArgumentError, SynopsisFileError
from hushgrid.files.footer import (
    MEASUREMENTS,
    RELEASE,
    RELEASE_KEYS,
    SCHEMA_VERSION,
    STRUCTURE,
    Footer,
    json_text,
    opened_json,
    parse_domain,
    parse_release_json,
    release_json,
)
from hushgrid.files.geo import GEO, geo_metadata
from hushgrid.files.groups import groups_by_place
from hushgrid.files.paths import new_file
from hushgrid.files.release import (
    PRIOR,
    CheckedRows,
    ReleaseFile,
    check_writable,
    clear_errors,
    columns_of,
    leaf_rows,
    open_source,
    release_writer,
    synopsis_of,
    wanted_of,
)
from hushgrid.files.strict_json import JsonObject
from hushgrid.files.structure import parse_structure, structure_json, structure_table
from hushgrid.files.tables import measurement_table, pack
from hushgrid.geometry.partition import Structure
from hushgrid.slices.by import By
from hushgrid.slices.slices import Slices
from hushgrid.synopsis.cells import shape_type
from hushgrid.synopsis.synopsis import Synopsis
from hushgrid.version import __version__

SLICE = pa.field("slice", pa.string())  # null in the rows of the total, as in a ROLLUP of SQL
UNKNOWN = -1  # in place of the number of a slice


def write_slices(slices: Slices, path: Path, *, overwrite: bool = False, allow_simulation: bool = False) -> None:
    """Write slices to a file; see `Slices.save`."""
    if slices.simulation and not allow_simulation:
        msg = "simulated slices are not a release; pass allow_simulation=True to write them for an experiment."
        raise ArgumentError(msg)
    with new_file(path, overwrite=overwrite) as out:
        write_slices_to(slices, out)


def write_slices_to(slices: Slices, out: IO[bytes]) -> None:
    """Write the bytes of a file of slices."""
    # By name, as statistics of groups compare them, so that a group's first and last name have no others between them.
    parts = sorted(slices.all_parts(), key=lambda part: (part[0] is None, (part[0] or "").encode()))
    for _, synopsis in parts:
        check_writable(synopsis)
    with_prior = any(synopsis.evidence.prior is not None for _, synopsis in parts)
    columns = sliced_columns(parts[0][1].partition, with_prior=with_prior)
    with release_writer(out, columns) as writer:
        for group in groups_by_place([synopsis.partition for _, synopsis in parts]):
            batches = [_sliced_rows(columns, *parts[run.number], run.first, run.stop) for run in group]
            writer.write_table(pa.Table.from_batches(batches, columns))
        writer.add_key_value_metadata(sliced_metadata(slices))


def sliced_columns(partition: Structure, *, with_prior: bool) -> pa.Schema:
    """The slice, and the columns of one release.

    Evidence of a prior is null in the rows of slices that have none.
    """
    last = [PRIOR.with_nullable(True)] if with_prior else []
    return pa.schema([SLICE, *columns_of(partition, ""), *last])


def _sliced_rows(columns: pa.Schema, name: str | None, synopsis: Synopsis, first: int, stop: int) -> pa.RecordBatch:
    """Rows of some leaves of a slice."""
    rows = leaf_rows(synopsis, first, stop)
    arrays = {each: rows.column(each) for each in rows.schema.names}
    arrays[SLICE.name] = pa.repeat(pa.scalar(name, pa.string()), stop - first)
    missing = pa.nulls(stop - first, PRIOR.type)
    return pa.record_batch([arrays.get(each, missing) for each in columns.names], schema=columns)


def sliced_metadata(slices: Slices) -> dict[bytes, bytes]:
    """Keys and values of the footer.

    A structure that several slices share is kept once.
    """
    structures: list[Structure] = []
    tables: dict[bytes, bytes] = {}
    parts = []
    for number, (_, synopsis) in enumerate(slices.all_parts()):
        if not structures or synopsis.partition != structures[-1]:  # equal ones follow each other
            structures.append(synopsis.partition)
            layout = structure_table(synopsis.partition)
            if layout is not None:
                tables[numbered(STRUCTURE, len(structures) - 1)] = pack(layout)
        measurements = measurement_table(synopsis.measurements)
        if measurements.num_rows:
            tables[numbered(MEASUREMENTS, number)] = pack(measurements)
        parts.append({"structure": len(structures) - 1, **release_json(synopsis)})
    release: dict[str, Any] = {
        "schema": SCHEMA_VERSION,
        "library": __version__,
        "domain": vars(slices.domain),
        "by": slices.by.to_dict(),
        "structures": [structure_json(each) for each in structures],
        "slices": parts[: len(slices)],
        **({} if slices.total is None else {"total": parts[-1]}),
    }
    geo = geo_metadata(slices.domain, shape_type(structures[0]), covered=True)
    return {GEO: json_text(geo), RELEASE: json_text(release), **tables}


def numbered(key: bytes, number: int) -> bytes:
    """The key of one table of several.

    Examples
    --------
    >>> numbered(STRUCTURE, 3)
    b'hushgrid:structure:3'
    """
    return key + b":%d" % number


@dataclass(frozen=True, kw_only=True, eq=False)
class SlicedFooter:
    """All of a file of slices but its rows.

    The total, where there is one, comes last.
    """

    library: str
    by: By
    names: tuple[str | None, ...]
    parts: tuple[Footer, ...]


def parse_sliced_footer(metadata: Mapping[bytes, bytes], *, rows: int) -> SlicedFooter:
    """The footer of a file of slices with that many rows.

    Each part is checked before it is built.
    """
    release = opened_json(metadata)
    release.whole("schema", low=SCHEMA_VERSION)  # the first had no slices
    release.only("schema", "library", "domain", "by", "structures", "slices", "total")
    try:
        by = By.from_dict(release.raw("by"))
    except ArgumentError as error:
        msg = f"its slices cannot be told: {error.complaint}"
        raise SynopsisFileError(msg) from error
    given = release.children("slices")
    if len(given) != len(by.names):
        msg = f"it has {len(given):,} slices where {len(by.names):,} are declared."
        raise SynopsisFileError(msg)
    names: tuple[str | None, ...] = by.names
    if release.has("total"):
        given, names = [*given, release.child("total")], (*names, None)
    library, partitions = release.text("library"), _parse_partitions(release, given, metadata, rows)
    parts = []
    for number, (fields, partition) in enumerate(zip(given, partitions, strict=True)):
        fields.only("structure", *RELEASE_KEYS)
        packed = metadata.get(numbered(MEASUREMENTS, number))
        parts.append(
            parse_release_json(fields, schema=SCHEMA_VERSION, library=library, partition=partition, packed=packed)
        )
    return SlicedFooter(library=library, by=by, names=names, parts=tuple(parts))


def _parse_partitions(
    release: JsonObject, given: list[JsonObject], metadata: Mapping[bytes, bytes], rows: int
) -> list[Structure]:
    """The partition of each part.

    All are in use, so that together they have no more cells than the file has rows.
    """
    structures = release.children("structures")
    used = [fields.whole("structure", low=0, high=len(structures) - 1) for fields in given]
    if sorted(set(used)) != list(range(len(structures))):
        msg = "it has a structure that no slice was counted on."
        raise SynopsisFileError(msg)
    sizes = [fields.whole("cells", low=1, high=rows) for fields in structures]
    declared = sum(sizes[number] for number in used)
    if declared != rows:
        msg = f"its slices have {declared:,} cells, the file {rows:,} rows."
        raise SynopsisFileError(msg)
    domain = parse_domain(release.child("domain"))
    partitions = [
        parse_structure(fields, domain=domain, packed=metadata.get(numbered(STRUCTURE, number)), rows=size)
        for number, (fields, size) in enumerate(zip(structures, sizes, strict=True))
    ]
    return [partitions[number] for number in used]


class SlicedFile:
    """An open file of slices, its footer and columns checked."""

    def __init__(self, source: pa.NativeFile) -> None:
        parquet = pq.read_metadata(source)
        self.metadata: dict[bytes, bytes] = parquet.metadata or {}
        self.footer = parse_sliced_footer(self.metadata, rows=parquet.num_rows)
        first = self.footer.parts[0]
        with_prior = PRIOR.name in parquet.schema.to_arrow_schema().names
        self.columns = sliced_columns(first.partition, with_prior=with_prior)
        kinds = {tuple(columns_of(part.partition, "").names) for part in self.footer.parts}
        if len(kinds) > 1 or len({part.partition.tiles for part in self.footer.parts}) > 1:
            msg = "some of its slices are on areas, and others are not."
            raise SynopsisFileError(msg)
        self._rows = CheckedRows(source, parquet, self.columns)
        self._sizes = [part.partition.cells for part in self.footer.parts]

    def slices(self) -> Slices:
        """All slices; polygons and bounds are not read."""
        tables = self._by_slice(self._rows.read([SLICE.name, *wanted_of(self.columns)]))
        for number, (name, size) in enumerate(zip(self.footer.names, self._sizes, strict=True)):
            rows = tables[number].num_rows if number in tables else 0
            if rows != size:
                msg = f"{_called(name)} has {rows:,} rows where {size:,} are declared."
                raise SynopsisFileError(msg)
        parts = [
            _part(name, footer, tables[number])
            for number, (name, footer) in enumerate(zip(self.footer.names, self.footer.parts, strict=True))
        ]
        try:
            return Slices(
                by=self.footer.by,
                parts=dict(zip(self.footer.by.names, parts, strict=False)),
                total=parts[-1] if self.footer.names[-1] is None else None,
            )
        except ArgumentError as error:
            raise SynopsisFileError(error.complaint) from error

    def tables(self) -> Iterator[tuple[int, list[pa.Table]]]:
        """All columns of each slice in pieces, with its number.

        A slice comes once all of its rows are read.
        """
        read: dict[int, list[pa.Table]] = {}
        for group in self._rows.groups():
            for number, piece in self._by_slice(group).items():
                pieces = read.setdefault(number, [])
                pieces.append(piece)
                if sum(each.num_rows for each in pieces) == self._sizes[number]:
                    yield number, read.pop(number)

    def _by_slice(self, rows: pa.Table) -> dict[int, pa.Table]:
        """Rows of each slice that has any, in the order they came in."""
        names = rows[SLICE.name].combine_chunks()
        known = {name: number for number, name in enumerate(self.footer.names)}
        numbers = [known.get(name, UNKNOWN) for name in names.dictionary.to_pylist()]
        of_null = known.get(None, UNKNOWN)
        found = np.append(numbers, of_null)[names.indices.fill_null(len(numbers)).to_numpy()]
        if (found == UNKNOWN).any():
            msg = "it has rows of a slice that it does not declare."
            raise SynopsisFileError(msg)
        order = np.argsort(found, kind="stable")
        present, firsts = np.unique(found[order], return_index=True)
        edges = [*firsts.tolist(), len(order)]
        return {
            int(number): rows.take(order[first:stop])
            for number, (first, stop) in zip(present, pairwise(edges), strict=True)
        }


def _called(name: str | None) -> str:
    return "its total" if name is None else f"its slice {name[:40]!r}"


def _part(name: str | None, footer: Footer, rows: pa.Table) -> Synopsis:
    """The release of one slice, from its rows."""
    called = _called(name)
    if PRIOR.name in rows.column_names:
        evidence = rows[PRIOR.name]
        with_prior = PRIOR.name in columns_of(footer.partition, footer.inference).names
        if evidence.null_count != (0 if with_prior else len(evidence)):
            msg = f"rows of {called} have evidence of a prior where there is none, or none where there is."
            raise SynopsisFileError(msg)
    elif PRIOR.name in columns_of(footer.partition, footer.inference).names:
        msg = f"{called} lacks the evidence of its prior."
        raise SynopsisFileError(msg)
    try:
        return synopsis_of(footer, rows.unify_dictionaries())
    except SynopsisFileError as error:
        msg = f"of {called}: {error.complaint}"
        raise SynopsisFileError(msg) from error


@contextmanager
def open_saved(path: Path) -> Iterator[ReleaseFile | SlicedFile]:
    """An open file of one release or of slices; errors name it."""
    with open_source(path) as source:
        yield _opened(source)


def _opened(source: pa.NativeFile) -> ReleaseFile | SlicedFile:
    metadata = pq.read_metadata(source).metadata or {}
    in_slices = opened_json(metadata).has("slices")
    source.seek(0)
    return SlicedFile(source) if in_slices else ReleaseFile(source)


def parse_slices(content: bytes, *, name: str) -> Slices:
    """The slices in the bytes of a file.

    Errors call them by the name given.
    """
    with clear_errors(name), pa.BufferReader(content) as source:
        return SlicedFile(source).slices()
