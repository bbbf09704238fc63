"""Partitions in a release file: a kind and sizes as JSON, and the arrays the kind needs."""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from hushgrid.answering.patches import check_patches
from hushgrid.errors import ArgumentError, SynopsisFileError
from hushgrid.files.strict_json import JsonObject
from hushgrid.files.tables import unpack
from hushgrid.geometry.areas import SHORTEST_RING, VERTEX_LIMIT, Patchwork
from hushgrid.geometry.domain import Domain
from hushgrid.geometry.grid import CELL_LIMIT, Grid, GroupedGrid, NestedGrid
from hushgrid.geometry.partition import Partition
from hushgrid.geometry.tree import LATTICE_LIMIT, Lattice, Tree

GRID, NESTED_GRID, GROUPED_GRID, TREE, AREAS = "grid", "nested-grid", "grouped-grid", "tree", "areas"


def _whole_numbers(*names: str) -> pa.Schema:
    return pa.schema([pa.field(name, pa.int64(), nullable=False) for name in names])


NESTED_SCHEMA = _whole_numbers("side")
GROUPED_SCHEMA = _whole_numbers("side", "group")
TREE_SCHEMA = _whole_numbers("left", "bottom", "right", "top", "columns", "rows")
AREAS_SCHEMA = pa.schema(
    [
        *(pa.field(name, pa.float64(), nullable=False) for name in ("x", "y")),
        *_whole_numbers("ring", "polygon", "area"),
    ]
)


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
        case Patchwork():
            sizes = {"vertices": len(partition.vertices), "cells": partition.cells}
            return {"kind": AREAS, **sizes, "names": list(partition.names)}
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
        case Patchwork():
            return pa.table([*partition.vertices.T, *_nesting(partition)], schema=AREAS_SCHEMA)
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


def _parse_areas(fields: JsonObject, domain: Domain, packed: bytes | None) -> Patchwork:
    fields.only("kind", "vertices", "cells", "names")
    least = SHORTEST_RING * fields.whole("cells")
    arrays = _arrays(packed, AREAS_SCHEMA, fields.whole("vertices", low=least, high=VERTEX_LIMIT))
    numbers = [arrays[name] for name in ("ring", "polygon", "area")]
    if any(column[0] != 0 or not np.isin(np.diff(column), (0, 1)).all() for column in numbers):
        msg = "its rings, polygons and areas are not numbered in order."
        raise SynopsisFileError(msg)
    first_vertices = [np.flatnonzero(np.diff(column, prepend=-1)) for column in numbers]
    ring, polygon, _ = numbers
    areas = Patchwork(
        domain=domain,
        names=fields.texts("names"),
        vertices=np.stack([arrays["x"], arrays["y"]], axis=1),
        ring_starts=np.append(first_vertices[0], len(ring)),
        polygon_starts=np.append(ring[first_vertices[1]], ring[-1] + 1),
        area_starts=np.append(polygon[first_vertices[2]], polygon[-1] + 1),
    )
    if not all(map(np.array_equal, _nesting(areas), numbers)):
        msg = "its rings, polygons and areas do not lie one in another."
        raise SynopsisFileError(msg)
    check_patches(areas)
    return areas


def _nesting(areas: Patchwork) -> list[NDArray[np.int64]]:
    """Ring, polygon and area of every vertex, shape (vertices,) each."""
    of_vertices = []
    members = np.arange(len(areas.vertices))
    for starts in areas.arrays[1:]:
        members = np.searchsorted(starts, members, side="right") - 1
        of_vertices.append(members)
    return of_vertices


def _arrays(packed: bytes | None, schema: pa.Schema, rows: int) -> dict[str, NDArray[Any]]:
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
        AREAS: _parse_areas,
    }
)
