"""Partitions in a release file: a kind and sizes as JSON, and the arrays the kind needs."""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from hushgrid.errors import ArgumentError, SynopsisFileError
from hushgrid.geometry.domain import Domain
from hushgrid.geometry.grid import CELL_LIMIT, Grid
from hushgrid.geometry.grouped import GroupedGrid
from hushgrid.geometry.nested import NestedGrid
from hushgrid.geometry.partition import Partition
from hushgrid.geometry.tree import LATTICE_LIMIT, Lattice, Tree
from hushgrid.synopsis.packed_table import unpack
from hushgrid.synopsis.strict_json import JsonObject

GRID, NESTED_GRID, GROUPED_GRID, TREE = "grid", "nested-grid", "grouped-grid", "tree"


def _whole_numbers(*names: str) -> pa.Schema:
    return pa.schema([pa.field(name, pa.int64(), nullable=False) for name in names])


NESTED_SCHEMA = _whole_numbers("side")
GROUPED_SCHEMA = _whole_numbers("side", "group")
TREE_SCHEMA = _whole_numbers("left", "bottom", "right", "top", "columns", "rows")


def structure_json(partition: Partition) -> dict[str, Any]:
    """Kind and sizes of a partition."""
    match partition:
        case Grid():
            kind, shape = GRID, partition
        case NestedGrid():
            kind, shape = NESTED_GRID, partition.grid
        case GroupedGrid():
            kind, shape = GROUPED_GRID, partition.nested.grid
        case Tree():
            sizes = {"rows": partition.lattice.rows, "columns": partition.lattice.columns, "nodes": partition.nodes}
            return {"kind": TREE, **sizes, "cells": partition.cells}
        case _:
            msg = f"a {type(partition).__name__} has no form in a release file."
            raise ArgumentError(msg)
    return {"kind": kind, "rows": shape.rows, "columns": shape.columns, "cells": partition.cells}


def structure_table(partition: Partition) -> pa.Table | None:
    """What a partition needs beside its sizes, or None."""
    match partition:
        case NestedGrid():
            return pa.table([partition.sides], schema=NESTED_SCHEMA)
        case GroupedGrid():
            return pa.table([partition.nested.sides, partition.groups], schema=GROUPED_SCHEMA)
        case Tree():
            return pa.table([*partition.boxes.T, *partition.splits.T], schema=TREE_SCHEMA)
        case _:
            return None


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
    grid = _blocks(fields, domain)
    return NestedGrid(grid=grid, sides=_arrays(packed, NESTED_SCHEMA, grid.cells)["side"])


def _parse_grouped_grid(fields: JsonObject, domain: Domain, packed: bytes | None) -> GroupedGrid:
    grid = _blocks(fields, domain)
    arrays = _arrays(packed, GROUPED_SCHEMA, grid.cells)
    return GroupedGrid(nested=NestedGrid(grid=grid, sides=arrays["side"]), groups=arrays["group"])


def _parse_tree(fields: JsonObject, domain: Domain, packed: bytes | None) -> Tree:
    fields.only("kind", "rows", "columns", "nodes", "cells")
    rows, columns = (fields.whole(name, low=1, high=LATTICE_LIMIT) for name in ("rows", "columns"))
    most = 2 * fields.whole("cells") - 1  # an inner node has at least two children
    arrays = _arrays(packed, TREE_SCHEMA, fields.whole("nodes", low=1, high=min(most, CELL_LIMIT)))
    boxes = np.stack([arrays[name] for name in ("left", "bottom", "right", "top")], axis=1)
    splits = np.stack([arrays[name] for name in ("columns", "rows")], axis=1)
    return Tree(lattice=Lattice(domain=domain, rows=rows, columns=columns), boxes=boxes, splits=splits)


def _arrays(packed: bytes | None, schema: pa.Schema, rows: int) -> dict[str, NDArray[np.int64]]:
    if packed is None:
        msg = f"the {', '.join(schema.names)} of its structure are missing."
        raise SynopsisFileError(msg)
    table = unpack(packed, schema=schema, rows=rows, name="structure")
    return {name: np.array(table[name]) for name in schema.names}


def _blocks(fields: JsonObject, domain: Domain) -> Grid:
    """A grid whose cells are divided; each holds a leaf at least, or a small file could claim huge arrays."""
    grid = _grid(fields, domain)
    if grid.cells > fields.whole("cells"):
        msg = f"its grid of {grid.rows:,} by {grid.columns:,} has more cells than there are leaves."
        raise SynopsisFileError(msg)
    return grid


def _grid(fields: JsonObject, domain: Domain) -> Grid:
    fields.only("kind", "rows", "columns", "cells")
    rows, columns = (fields.whole(name, low=1, high=CELL_LIMIT) for name in ("rows", "columns"))
    return Grid(domain=domain, rows=rows, columns=columns)


PARSERS: Mapping[str, Callable[[JsonObject, Domain, bytes | None], Partition]] = MappingProxyType(
    {
        GRID: _parse_grid,
        NESTED_GRID: _parse_nested_grid,
        GROUPED_GRID: _parse_grouped_grid,
        TREE: _parse_tree,
    }
)
