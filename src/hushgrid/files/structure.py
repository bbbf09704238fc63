"""Partitions in a release file.

Their kind and shape are JSON, and their layout is a table.
"""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

import numpy as np
import pyarrow as pa

from hushgrid.answering.areas import check_areas
from hushgrid.errors import ArgumentError, SynopsisFileError
from hushgrid.files.strict_json import JsonObject
from hushgrid.files.tables import unpack
from hushgrid.geometry.areas import SHORTEST_RING, VERTEX_LIMIT, AreaPartition
from hushgrid.geometry.domain import Domain
from hushgrid.geometry.grid import CELL_LIMIT, Grid, GroupedGrid, NestedGrid
from hushgrid.geometry.partition import Layout, Structure
from hushgrid.geometry.tree import LATTICE_LIMIT, Tree

KINDS: Mapping[str, type[Structure]] = MappingProxyType(
    {kind.kind: kind for kind in (Grid, NestedGrid, GroupedGrid, Tree, AreaPartition)}
)


def structure_json(partition: Structure) -> dict[str, Any]:
    """Kind and shape of a partition."""
    return {"kind": partition.kind, **partition.shape}


def structure_table(partition: Structure) -> pa.Table | None:
    """The layout of a partition, or None if it needs none."""
    schema = layout_schema(type(partition))
    return pa.table(list(partition.layout.values()), schema=schema) if schema.names else None


def layout_schema(kind: type[Structure]) -> pa.Schema:
    """The columns of a layout.

    Examples
    --------
    >>> layout_schema(NestedGrid)
    side: int64 not null
    """
    types = kind.layout_types.items()
    return pa.schema([pa.field(name, pa.from_numpy_dtype(dtype), nullable=False) for name, dtype in types])


def parse_structure(fields: JsonObject, *, domain: Domain, packed: bytes | None, rows: int) -> Structure:
    """The partition of a file with this many rows.

    Sizes are checked before anything is built.
    """
    name = fields.text("kind", among=tuple(KINDS))
    cells = fields.whole("cells", low=1, high=CELL_LIMIT)
    if cells != rows:
        msg = f"its structure has {cells:,} cells, the file {rows:,} rows."
        raise SynopsisFileError(msg)
    shape, length = SHAPES[name](fields)
    layout = _layout(packed, layout_schema(KINDS[name]), length)
    try:
        partition = KINDS[name].from_layout(domain, shape, layout)
        if isinstance(partition, AreaPartition):
            check_areas(partition)
    except ArgumentError as error:
        raise SynopsisFileError(str(error)) from error
    if partition.cells != cells:
        msg = f"its structure has {partition.cells:,} cells where {cells:,} are declared."
        raise SynopsisFileError(msg)
    return partition


def _layout(packed: bytes | None, schema: pa.Schema, rows: int) -> Layout:
    if not schema.names and packed is not None:
        msg = "a grid needs no arrays, but there are some."
        raise SynopsisFileError(msg)
    if schema.names and packed is None:
        msg = f"the {', '.join(schema.names)} of its structure are missing."
        raise SynopsisFileError(msg)
    if packed is None:
        return {}
    table = unpack(packed, schema=schema, rows=rows, name="structure")
    return {name: np.array(table[name]) for name in schema.names}


def _grid_shape(fields: JsonObject) -> tuple[dict[str, int], int]:
    fields.only("kind", "rows", "columns", "cells")
    rows, columns = (fields.whole(name, low=1, high=CELL_LIMIT) for name in ("rows", "columns"))
    return {"rows": rows, "columns": columns}, rows * columns


def _first_level_shape(fields: JsonObject) -> tuple[dict[str, int], int]:
    """Rows and columns of the first level.

    Each cell holds at least one leaf, or a small file could claim huge arrays.
    """
    shape, cells = _grid_shape(fields)
    if cells > fields.whole("cells"):
        msg = f"its grid of {shape['rows']:,} by {shape['columns']:,} has more cells than there are leaves."
        raise SynopsisFileError(msg)
    return shape, cells


def _tree_shape(fields: JsonObject) -> tuple[dict[str, int], int]:
    fields.only("kind", "rows", "columns", "nodes", "cells")
    rows, columns = (fields.whole(name, low=1, high=LATTICE_LIMIT) for name in ("rows", "columns"))
    most = 2 * fields.whole("cells") - 1  # an inner node has at least two children
    return {"rows": rows, "columns": columns}, fields.whole("nodes", low=1, high=min(most, CELL_LIMIT))


def _areas_shape(fields: JsonObject) -> tuple[dict[str, Any], int]:
    flat = ("kind", "vertices", "cells", "names")
    fields.only(*flat, *(("level", "levels", "places") if fields.has("levels") else ()))
    cells = fields.whole("cells")
    shape: dict[str, Any] = {"names": fields.texts("names")}
    if fields.has("levels"):
        shape |= {
            "level": fields.text("level"),
            "levels": [_level_shape(level, cells) for level in fields.children("levels")],
            "places": fields.wholes("places", low=0, high=cells - 1),
        }
    return shape, fields.whole("vertices", low=SHORTEST_RING * cells, high=VERTEX_LIMIT)


def _level_shape(fields: JsonObject, cells: int) -> dict[str, Any]:
    fields.only("name", "names", "parts")
    parts = fields.wholes("parts", low=1, high=cells)
    return {"name": fields.text("name"), "names": fields.texts("names"), "parts": parts}


# The shape of each kind, checked, and the length of its layout.
SHAPES: Mapping[str, Callable[[JsonObject], tuple[dict[str, Any], int]]] = MappingProxyType(
    {
        Grid.kind: _grid_shape,
        NestedGrid.kind: _first_level_shape,
        GroupedGrid.kind: _first_level_shape,
        Tree.kind: _tree_shape,
        AreaPartition.kind: _areas_shape,
    }
)
