"""Partitions in a release file: a kind and sizes as JSON, and the arrays the kind needs."""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

import pyarrow as pa

from hushgrid.errors import ArgumentError, SynopsisFileError
from hushgrid.geometry.domain import Domain
from hushgrid.geometry.grid import CELL_LIMIT, Grid
from hushgrid.geometry.nested import NestedGrid
from hushgrid.geometry.partition import Partition
from hushgrid.synopsis.packed_table import unpack
from hushgrid.synopsis.strict_json import JsonObject

GRID, NESTED_GRID = "grid", "nested-grid"
NESTED_SCHEMA = pa.schema([pa.field("side", pa.int64(), nullable=False)])


def structure_json(partition: Partition) -> dict[str, Any]:
    """Kind and sizes of a partition."""
    if isinstance(partition, Grid):
        return {"kind": GRID, "rows": partition.rows, "columns": partition.columns, "cells": partition.cells}
    assert isinstance(partition, NestedGrid)
    grid = partition.grid
    return {"kind": NESTED_GRID, "rows": grid.rows, "columns": grid.columns, "cells": partition.cells}


def structure_table(partition: Partition) -> pa.Table | None:
    """What a partition needs beside its sizes, or None."""
    return pa.table([partition.sides], schema=NESTED_SCHEMA) if isinstance(partition, NestedGrid) else None


def parse_structure(fields: JsonObject, *, domain: Domain, packed: bytes | None, rows: int) -> Partition:
    """The partition of a file with as many rows; sizes are checked before anything is built."""
    kind = fields.text("kind", among=tuple(PARSERS))
    cells = fields.whole("cells", low=1, high=CELL_LIMIT)
    if cells != rows:
        msg = f"its structure has {cells:,} cells, the file {rows:,} rows."
        raise SynopsisFileError(msg)
    try:
        partition = PARSERS[kind](fields, domain, packed)
    except ArgumentError as error:
        raise SynopsisFileError(str(error)) from error
    if partition.cells != cells:
        msg = f"its structure has {partition.cells:,} cells where {cells:,} are declared."
        raise SynopsisFileError(msg)
    return partition


def _parse_grid(fields: JsonObject, domain: Domain, packed: bytes | None) -> Grid:
    if packed is not None:
        msg = "a grid needs no arrays, but there are some."
        raise SynopsisFileError(msg)
    return _grid(fields, domain)


def _parse_nested_grid(fields: JsonObject, domain: Domain, packed: bytes | None) -> NestedGrid:
    if packed is None:
        msg = "the sides of the nested grid are missing."
        raise SynopsisFileError(msg)
    grid = _grid(fields, domain)
    table = unpack(packed, schema=NESTED_SCHEMA, rows=grid.cells, name="structure")
    return NestedGrid(grid=grid, sides=table["side"].to_numpy())


def _grid(fields: JsonObject, domain: Domain) -> Grid:
    fields.only("kind", "rows", "columns", "cells")
    rows, columns = (fields.whole(name, low=1, high=CELL_LIMIT) for name in ("rows", "columns"))
    return Grid(domain=domain, rows=rows, columns=columns)


PARSERS: Mapping[str, Callable[[JsonObject, Domain, bytes | None], Partition]] = MappingProxyType(
    {GRID: _parse_grid, NESTED_GRID: _parse_nested_grid}
)
