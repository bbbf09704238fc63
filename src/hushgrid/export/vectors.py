"""Cells and points as CSV, GeoJSON, GeoPackage, Parquet."""

import io
import json
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import repeat
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
from numpy.typing import NDArray

from hushgrid.answering.outlines import import_shapely
from hushgrid.arrays import Floats
from hushgrid.errors import ArgumentError, MissingExtraError
from hushgrid.export.systems import areas_in_degrees, gdal_name, in_degrees, rings_in_degrees
from hushgrid.files.paths import check_target, new_file
from hushgrid.geometry.areas import AreaPartition
from hushgrid.synopsis.cells import RING, names, shape_type, shapes
from hushgrid.synopsis.facts import Facts
from hushgrid.synopsis.synopsis import Synopsis

FORMULA = ("=", "+", "-", "@")  # how a formula in a spreadsheet begins (OWASP)
APOSTROPHE = "'"
MARKED = ("count", "std_error", "estimate", "low", "high")


def write_csv(synopsis: Synopsis, out: BinaryIO) -> None:
    """Write every leaf as a row of CSV.

    A row has the bounds, count and standard error of a leaf, and the name of an area.

    No spreadsheet finds a formula in it: all but names are numbers, and a name that looks like one gets an apostrophe.
    So does a name that begins with one: whoever takes one away has the names of the release.
    A table has no place for a mark but the names of its columns: those of a simulation say so.
    """
    write_csv_table(synopsis.cells(), out, simulation=synopsis.simulation)


def write_csv_table(table: pa.Table, out: BinaryIO, *, simulation: bool) -> None:
    """Write a table as CSV, its texts so that none is a formula."""
    table = _without_formulas(table)
    if simulation:
        table = table.rename_columns([f"simulated_{name}" if name in MARKED else name for name in table.column_names])
    out.write((",".join(table.column_names) + "\n").encode())
    pyarrow.csv.write_csv(table, out, pyarrow.csv.WriteOptions(include_header=False))


def _without_formulas(table: pa.Table) -> pa.Table:
    """A table whose texts are taken for formulas by no spreadsheet."""
    for place, field in enumerate(table.schema):
        if field.type in (pa.string(), pa.dictionary(pa.int32(), pa.string())):
            texts = pa.array(map(as_text, table[place].to_pylist()), pa.string())
            table = table.set_column(place, field.name, texts)
    return table


def as_text(name: str) -> str:
    r"""A name that no spreadsheet takes for a formula.

    An apostrophe is put before what may be taken for one.

    They pass over white space at the start, and some take full-width signs for plain ones.

    Examples
    --------
    >>> as_text("Kreuzberg"), as_text("\n=1+1"), as_text("'t Gooi")
    ('Kreuzberg', "'\n=1+1", "''t Gooi")
    """
    start = unicodedata.normalize("NFKC", name).lstrip()
    is_risky = start.startswith((*FORMULA, APOSTROPHE)) or name.startswith(("\t", "\r", "\n"))
    return APOSTROPHE + name if is_risky else name


CELLS_AT_ONCE = 2**14
COORDINATES = "longitude, latitude (RFC 7946)"


def write_geojson(synopsis: Synopsis, out: BinaryIO) -> None:
    """Write every leaf as a GeoJSON polygon, in degrees.

    It has its count and standard error, and an area its name.

    A member ``hushgrid`` of the collection says what the file is.
    """
    cells = synopsis.partition.cells
    if isinstance(synopsis.partition, AreaPartition):
        write_features(Facts.of(synopsis).labelled(), _areas(synopsis, synopsis.partition), out)
        return
    parts = (_cells(synopsis, first, min(first + CELLS_AT_ONCE, cells)) for first in range(0, cells, CELLS_AT_ONCE))
    write_features(Facts.of(synopsis).labelled(), (feature for part in parts for feature in part), out)


def write_points_geojson(synopsis: Synopsis, table: pa.Table, about: dict[str, str], out: BinaryIO) -> None:
    """Points in longitude and latitude; their slice is the one property."""
    points = np.stack([table[name].to_numpy() for name in synopsis.domain.axes], axis=1)
    parts = (points[first : first + CELLS_AT_ONCE] for first in range(0, len(points), CELLS_AT_ONCE))
    places = (place for part in parts for place in in_degrees(part, synopsis.domain).tolist())
    labels = (
        (f'"slice":{json.dumps(name, ensure_ascii=False)}' for name in table["slice"].to_pylist())
        if "slice" in table.column_names
        else repeat("")
    )
    features = (feature_text(_geometry("Point", place), label) for place, label in zip(places, labels, strict=False))
    write_features(about, features, out)


def _cells(synopsis: Synopsis, first: int, stop: int) -> Iterator[str]:
    rings = rings_in_degrees(synopsis.partition.bounds(first, stop)[:, RING], synopsis.domain)
    counts, errors = synopsis.counts[first:stop], np.sqrt(synopsis.variances[first:stop])
    for ring, count, error in zip(rings.tolist(), counts.tolist(), errors.tolist(), strict=True):
        yield feature_text(_geometry("Polygon", [ring]), f'"count":{count},"std_error":{error}')


def _areas(synopsis: Synopsis, areas: AreaPartition) -> Iterator[str]:
    shapes = import_shapely().to_geojson(areas_in_degrees(areas)).tolist()
    counts, errors = synopsis.counts.tolist(), np.sqrt(synopsis.variances).tolist()
    labels = list(names(areas))
    for shape, name, count, error in zip(shapes, areas.names, counts, errors, strict=True):
        called = json.dumps(name, ensure_ascii=False)
        named = "".join(f'"{label}":{called},' for label in labels)
        yield feature_text(shape, f'{named}"count":{count},"std_error":{error}')


def _geometry(kind: str, coordinates: list[Any]) -> str:
    # Lists of finite floats are written alike in Python and in JSON, and in Python much faster.
    return f'{{"type":"{kind}","coordinates":{coordinates}}}'


def feature_text(geometry: str, properties: str) -> str:
    """A GeoJSON feature of two texts of JSON, the second without its braces."""
    return f'{{"type":"Feature","properties":{{{properties}}},"geometry":{geometry}}}'


def write_features(about: dict[str, str], features: Iterable[str], out: BinaryIO) -> None:
    """Write features as a GeoJSON collection that says what it is."""
    member = json.dumps({**about, "coordinates": COORDINATES}, ensure_ascii=False)
    out.write(f'{{"type": "FeatureCollection", "hushgrid": {member}, "features": ['.encode())
    for number, feature in enumerate(features):
        out.write((",\n" if number else "\n").encode())
        out.write(feature.encode())
    out.write(b"\n]}\n")


LAYER = "cells"
DESCRIPTION = "description"  # of a layer, which map software shows


def write_gpkg(synopsis: Synopsis, out: BinaryIO) -> None:
    """Write every leaf as a polygon of a GeoPackage.

    It has its count and standard error, and an area its name, in the domain's system.

    The guarantee and the method are in the metadata of the layer.
    """
    partition = synopsis.partition
    called = {label: np.array(column.to_pylist(), dtype=object) for label, column in names(partition).items()}
    fields = {**called, "count": synopsis.counts, "std_error": np.sqrt(synopsis.variances)}
    wkb = np.array(shapes(partition).to_pylist(), dtype=object)
    write_layer(synopsis, fields, wkb, out, layer=LAYER, kind=shape_type(partition), crs=gdal_name(synopsis.domain))


def write_layer(
    synopsis: Synopsis,
    fields: Mapping[str, NDArray[Any]],
    wkb: NDArray[np.object_],
    out: BinaryIO,
    *,
    layer: str,
    kind: str,
    crs: str,
) -> None:
    """Write shapes with fields as one layer of a GeoPackage.

    The file says what it is.
    """
    try:
        import pyogrio
    except ImportError as error:
        msg = "a GeoPackage needs pyogrio: pip install 'hushgrid[gis]'."
        raise MissingExtraError(msg) from error
    about, taken = Facts.of(synopsis).labelled(), [name.lower() for name in fields]
    if len(set(taken)) < len(taken):
        alike = next(name for name in fields if taken.count(name.lower()) > 1)
        msg = f"a GeoPackage does not tell capital from small letters in names of columns: rename {alike!r}."
        raise ArgumentError(msg)
    content = io.BytesIO()
    pyogrio.raw.write(
        content,
        geometry=wkb,
        field_data=list(fields.values()),
        fields=np.array(list(fields), dtype=object),
        driver="GPKG",
        layer=layer,
        geometry_type=kind,
        crs=crs,
        layer_metadata={name.upper(): text for name, text in about.items()},
        layer_options={
            DESCRIPTION: about.get("simulation") or about["guarantee"],
            "fid": _not_in("fid", taken),
            "geometry_name": _not_in("geom", taken),
        },
    )
    out.write(content.getbuffer())


def _not_in(name: str, taken: Sequence[str]) -> str:
    """A name that is not taken, with as many underscores as it takes."""
    while name in taken:
        name += "_"
    return name


SYNTHETIC = "Synthetic points, drawn from a release under differential privacy. None of them is a record."
KEY = "hushgrid:synthetic"
PREFIX = "synthetic_"  # of the columns of a CSV file, which has no other place to say so


def check_points_target(path: Path, *, overwrite: bool) -> None:
    """Refuse a path that points cannot be written to."""
    if path.suffix.lower() not in WRITERS:
        msg = f"{path} has an unknown extension. Points can be written as {', '.join(WRITERS)}."
        raise ArgumentError(msg)
    check_target(path, overwrite=overwrite)


def write_points(
    synopsis: Synopsis, points: Floats, path: Path, *, overwrite: bool = False, slices: pa.Array | None = None
) -> None:
    """Write synthetic points, in the format of the extension.

    Parquet, CSV or GeoJSON. Slices, where given, are a first column.
    """
    check_points_target(path, overwrite=overwrite)
    about = {"synthetic": SYNTHETIC, **Facts.of(synopsis).labelled()}
    columns = {} if slices is None else {"slice": slices}
    table = pa.table({**columns, **dict(zip(synopsis.domain.axes, points.T, strict=True))})
    with new_file(path, overwrite=overwrite) as out:
        WRITERS[path.suffix.lower()](synopsis, table, about, out)


def _write_parquet(_synopsis: Synopsis, table: pa.Table, about: dict[str, str], out: BinaryIO) -> None:
    labelled = table.replace_schema_metadata({KEY: json.dumps(about)})
    pq.write_table(labelled, out, compression="zstd", use_dictionary=["slice"] if "slice" in table.schema.names else [])


def _write_csv(_synopsis: Synopsis, table: pa.Table, _about: dict[str, str], out: BinaryIO) -> None:
    table = _without_formulas(table)
    out.write((",".join(PREFIX + name for name in table.column_names) + "\n").encode())
    pyarrow.csv.write_csv(table, out, pyarrow.csv.WriteOptions(include_header=False))


WRITERS = {".parquet": _write_parquet, ".csv": _write_csv, ".geojson": write_points_geojson}
