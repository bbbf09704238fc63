"""Tables of named areas as CSV, GeoJSON and GeoPackage.

They are for print and for maps: one row an area, with its interval, and whole numbers that add up where asked for.
"""

import json
from collections.abc import Iterator, Sequence
from typing import Any, BinaryIO, Literal

import numpy as np
import pyarrow as pa

from hushgrid.answering.areas import LITTLE_ENDIAN, AreaShapes
from hushgrid.answering.outlines import import_shapely
from hushgrid.errors import ArgumentError
from hushgrid.export.systems import areas_in_degrees, gdal_name
from hushgrid.export.vectors import feature_text, write_csv_table, write_features, write_layer
from hushgrid.geometry.areas import AreaPartition, are_h3_indexes
from hushgrid.geometry.nesting import AreaLevel
from hushgrid.synopsis.facts import Facts
from hushgrid.synopsis.synopsis import Synopsis

TableFormat = Literal["csv", "geojson", "gpkg"]


def write_area_table(
    synopsis: Synopsis, out: BinaryIO, *, to: TableFormat, level: str | None = None, whole: bool = False
) -> None:
    """Write the areas of a release, with their intervals.

    Parameters
    ----------
    synopsis : Synopsis
        A release on areas.
    out : file
    to : "csv", "geojson" or "gpkg"
        Shapes are in the last two; that of a coarser area is the union of its parts.
    level : str, optional
        Which level; by default all of them, the coarsest first.
    whole : bool
        Whether estimates are whole numbers that add up, as in `Synopsis.table`.
    """
    areas = synopsis.partition
    if not isinstance(areas, AreaPartition):
        msg = f"a release on {areas.words} has no named areas. Count districts with 'hushgrid query FILE --polygons "
        msg += "districts.geojson --whole -o districts.csv', or leave out --whole and --level to export the cells."
        raise ArgumentError(msg)
    levels = areas.all_levels if level is None else [areas.level_called(level)]
    table = pa.concat_tables([_rows(synopsis, areas, each, whole=whole) for each in levels])
    match to:
        case "csv":
            write_csv_table(table, out, simulation=synopsis.simulation)
        case "geojson":
            write_features(Facts.of(synopsis).labelled(), _features(table, areas, levels), out)
        case "gpkg":
            shapes = np.concatenate([AreaShapes(areas).of_level(each)[areas.file_order(each)] for each in levels])
            fields = {name: _array(table[name]) for name in table.column_names}
            wkb = import_shapely().to_wkb(shapes, output_dimension=2, byte_order=LITTLE_ENDIAN)
            write_layer(synopsis, fields, wkb, out, layer="areas", kind="MultiPolygon", crs=gdal_name(synopsis.domain))


def _rows(synopsis: Synopsis, areas: AreaPartition, level: AreaLevel, *, whole: bool) -> pa.Table:
    """The areas of a level, in the order of their file.

    With levels they say theirs, and what they lie in.
    """
    table = synopsis.table(level.name, whole=whole)
    if are_h3_indexes(level.names):
        table = table.add_column(1, "h3", table["name"])  # where tools look for it
    if not areas.levels:
        return table
    parents = areas.parents_of(level)
    in_order = [parents[number] for number in areas.file_order(level).tolist()]
    return table.add_column(0, "level", pa.array([level.name] * len(table))).add_column(
        1, "parent", pa.array(in_order, pa.string())
    )


def _features(table: pa.Table, areas: AreaPartition, levels: Sequence[AreaLevel]) -> Iterator[str]:
    shapes = (areas_in_degrees(areas, level)[areas.file_order(level)] for level in levels)
    texts = (text for part in shapes for text in import_shapely().to_geojson(part).tolist())
    for row, shape in zip(table.to_pylist(), texts, strict=True):
        yield feature_text(shape, json.dumps(row, ensure_ascii=False)[1:-1])


def _array(column: pa.ChunkedArray) -> Any:
    return np.array(column.to_pylist(), dtype=object) if column.type == pa.string() else column.to_numpy()
