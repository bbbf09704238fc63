"""The features of a GeoPackage, or of any other file that GDAL reads."""

import math
import os
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from hushgrid.cli.features import Features
from hushgrid.cli.notes import warn
from hushgrid.errors import ArgumentError
from hushgrid.geometry.domain import LONGITUDE_LATITUDE

POLYGONAL = ("Polygon", "Surface", "Unknown", "GeometryCollection")  # in the names of the types that may hold polygons

LONGEST_WARNING = 200  # characters
# Formats whose files name other files, programs or addresses, which GDAL would go and open.
REFERRING = (
    *("OGR_VRT", "GDALG", "WFS", "OAPIF", "OGCAPI", "CSW", "HTTP", "PDS4", "OGR_PDS", "VICAR", "EDIGEO", "GPSBabel"),
    *("ADBC", "AmigoCloud", "Carto", "EEDA", "Elasticsearch", "NGW", "PLSCENES"),
)


def gdal_features(path: Path) -> Features:
    """Features of the one layer of polygons of a file; what is wrong with it is an ArgumentError."""
    _forget_formats()
    import numpy as np
    import pyogrio
    import shapely

    with path.open("rb"):  # names of files only: GDAL would open addresses, too
        pass
    try:
        with _warnings_in_words():
            layer = _layer(pyogrio.list_layers(path))
            meta, numbers, wkb, columns = pyogrio.raw.read(path, layer=layer, return_fids=True, datetime_as_string=True)
        with np.errstate(invalid="ignore"):  # what is no number is refused by its place, later
            geometry = shapely.from_wkb(wkb)
    except (RuntimeError, shapely.errors.ShapelyError):
        msg = "GDAL knows no such format, or the file is damaged."
        raise ArgumentError(msg) from None
    if meta["crs"] is None:
        msg = "it does not say its coordinate reference system; assign one, for instance by ogr2ogr -a_srs EPSG:4326."
        raise ArgumentError(msg)
    rows = zip(*(map(_plain, column.tolist()) for column in columns), strict=True) if columns else ()
    properties = [dict(zip(meta["fields"].tolist(), row, strict=True)) for row in rows] or [{} for _ in numbers]
    features = [
        {"type": "Feature", "id": number, "properties": values}
        for number, values in zip(numbers.tolist(), properties, strict=True)
    ]
    crs = LONGITUDE_LATITUDE if meta["crs"] == "EPSG:4326" else meta["crs"]
    return Features(geometry=geometry, crs=crs, features=features)


def _forget_formats() -> None:
    # GDAL reads both when it is loaded. It would warn of every format that it was built without.
    os.environ["OGR_SKIP"] = ",".join(REFERRING)
    os.environ.setdefault("CPL_LOG", os.devnull)


@contextmanager
def _warnings_in_words() -> Iterator[None]:
    """What GDAL warns of, as our own warnings, each once."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        yield
    for text in dict.fromkeys(str(warning.message) for warning in caught):
        warn("".join(letter if letter.isprintable() else " " for letter in text[:LONGEST_WARNING]))


def _layer(layers: Any) -> str:
    """Name of the one layer that may hold polygons."""
    names = [name for name, kind in layers if kind is not None and any(part in kind for part in POLYGONAL)]
    if len(names) == 1:
        return str(names[0])
    if not names:
        msg = f"it has no layer of polygons; its layers are {', '.join(f'{name} ({kind})' for name, kind in layers)}."
        raise ArgumentError(msg)
    msg = f"it has several layers of polygons, {', '.join(names)}; copy one to a file of its own, as ogr2ogr does."
    raise ArgumentError(msg)


def _plain(value: Any) -> Any:
    """A value that JSON has."""
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    return value if isinstance(value, str | int | bool | None) else str(value)
