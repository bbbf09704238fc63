"""Files of polygons: GeoJSON and whatever GDAL reads."""

import json
import math
import os
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from hushgrid.cli.files import STANDARD_INPUT, check_input
from hushgrid.cli.text import warn
from hushgrid.errors import ArgumentError, InputError, MissingExtraError
from hushgrid.files.geojson import (
    GEOJSON_ENDINGS,
    check_degrees,
    features_in,
    geometries_of,
    parse_geojson,
    reference_system,
)
from hushgrid.geometry.domain import LONGITUDE_LATITUDE
from hushgrid.text import shown

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


LONGEST_NAME = 40


@dataclass(frozen=True, kw_only=True, eq=False)
class Features:
    """Features of a file, as `Synopsis.answer_polygons` takes a frame.

    Parameters
    ----------
    geometry : array of shapely geometries, shape (n,)
        Of any type; None where a feature has no place.
    crs : str
        Their coordinate reference system, longitude first.
    features : list of dict
        GeoJSON features; those of other formats have no geometry in them.
    is_geojson : bool
        Whether ids are those that the file gives, and not numbers that GDAL counts.
    """

    geometry: "NDArray[np.object_]"
    crs: str
    features: list[dict[str, Any]]
    is_geojson: bool = True

    @property
    def columns(self) -> list[str]:
        """Properties that any of the features has."""
        return list(dict.fromkeys(str(key) for feature in self.features for key in feature.get("properties") or {}))

    def __getitem__(self, column: str) -> list[Any]:
        """One property of every feature; None where it has none."""
        return [(feature.get("properties") or {}).get(column) for feature in self.features]

    def called(self, column: str | None = None) -> list[str]:
        """The name of each feature by a property.

        Without one, what it calls its name or its id, else which feature it is.
        """
        if column is None:
            return [self._name(number) for number in range(len(self.features))]
        if column not in self.columns:
            there = f"there are: {', '.join(self.columns)}" if self.columns else "there are none"
            msg = f"--area-name must be a property of its features, got {column!r}; {there}."
            raise ArgumentError(msg)
        names = list(map(_text, self[column]))
        if "" in names:
            msg = f"feature {names.index('')} has no {column!r}. Give it one, or leave out --area-name {column}."
            raise ArgumentError(msg)
        return names

    def _name(self, number: int) -> str:
        feature = self.features[number]
        properties = {str(key).lower(): value for key, value in (feature.get("properties") or {}).items()}
        own_id = feature.get("id") if self.is_geojson else None
        return _text(properties.get("name")) or _text(own_id) or f"feature {number}"

    @property
    def name_column(self) -> str | None:
        """The property called name, in any case, if there is one."""
        return next((column for column in self.columns if column.lower() == "name"), None)

    def geojson(self, values: dict[str, "NDArray[np.float64]"], columns: tuple[str, ...]) -> Iterator[str]:
        """The same features as GeoJSON, with values added.

        The values join their properties (RFC 7946).
        """
        rows = zip(*(values[column].tolist() for column in columns), strict=True)
        yield '{"type": "FeatureCollection", "features": ['
        for number, (feature, geometry, row) in enumerate(zip(self.features, self._places(), rows, strict=True)):
            properties = {**(feature.get("properties") or {}), **dict(zip(columns, row, strict=True))}
            yield ",\n" if number else "\n"
            text = json.dumps({**feature, "geometry": geometry, "properties": properties}, ensure_ascii=False)
            yield _whole_letters(text)
        yield "\n]}\n"

    def fields(self) -> dict[str, "NDArray[Any]"]:
        """Properties as columns of one type each, as GDAL wants them."""
        return {_whole_letters(column): _column(self[column]) for column in self.columns}

    def wkb(self) -> "NDArray[np.object_]":
        """Geometries as multipolygons in well-known binary."""
        import numpy as np
        import shapely

        is_polygon = shapely.get_type_id(self.geometry) == shapely.GeometryType.POLYGON
        several = self.geometry.copy()
        several[is_polygon] = shapely.multipolygons(self.geometry[is_polygon], indices=np.arange(is_polygon.sum()))
        found: NDArray[np.object_] = shapely.to_wkb(several, output_dimension=2)
        return found

    def _places(self) -> Iterator[dict[str, Any] | None]:
        """Geometries as GeoJSON has them, in longitude and latitude."""
        import shapely

        from hushgrid.answering.outlines import transformed

        if self.crs == LONGITUDE_LATITUDE and all("geometry" in feature for feature in self.features):
            yield from (feature["geometry"] for feature in self.features)
            return
        moved = transformed(self.geometry, self.crs, LONGITUDE_LATITUDE)
        # GEOS puts outer rings clockwise where it brings a geometry in order; RFC 7946 wants the reverse.
        for text in shapely.to_geojson(shapely.reverse(shapely.normalize(moved))):
            yield None if text is None else json.loads(text)


def _text(name: Any) -> str:
    """A name as printable text, empty if there is none."""
    if isinstance(name, float) and name.is_integer():
        name = int(name)  # some formats have no whole numbers
    text = str(name).strip() if isinstance(name, str | int | float) else ""
    return shown(text)


def shortened(name: str) -> str:
    """A name as a table shows it.

    Examples
    --------
    >>> shortened("Kings"), len(shortened("x" * 99))
    ('Kings', 40)
    """
    return name if len(name) <= LONGEST_NAME else name[: LONGEST_NAME - 1] + "…"


def any_number(_features: int) -> None:
    """Take any number of features."""


def geojson_features(path: Path, check_number: Callable[[int], None]) -> Features:
    """Features of a GeoJSON file, or of standard input.

    Coordinates are longitude and latitude (RFC 7946), unless the file names another reference system the way GeoJSON
    did before, and GDAL still does.
    """
    with click.open_file(str(path), "rb") as file:
        document = parse_geojson(file.read())
    features = features_in(document)
    check_number(len(features))
    found = Features(geometry=geometries_of(features), crs=reference_system(document), features=features)
    if found.crs == LONGITUDE_LATITUDE:
        check_degrees(found.geometry)
    return found


POLYGONAL = ("Polygon", "Surface", "Unknown", "GeometryCollection")  # in the names of the types that may hold polygons

LONGEST_WARNING = 200  # characters
# Formats whose files name other files, programs or addresses, which GDAL would go and open.
REFERRING = (
    *("OGR_VRT", "GDALG", "WFS", "OAPIF", "OGCAPI", "CSW", "HTTP", "PDS4", "OGR_PDS", "VICAR", "EDIGEO", "GPSBabel"),
    *("ADBC", "AmigoCloud", "Carto", "EEDA", "Elasticsearch", "NGW", "PLSCENES"),
)


def gdal_features(path: Path, check_number: Callable[[int], None]) -> Features:
    """Features of the one layer of polygons."""
    _forget_formats()
    import numpy as np
    import pyogrio
    import shapely

    with path.open("rb"):  # names of files only: GDAL would open addresses, too
        pass
    try:
        with _warnings_in_words():
            layer = _layer(pyogrio.list_layers(path))
            check_number(pyogrio.read_info(path, layer=layer, force_feature_count=True)["features"])
            meta, numbers, wkb, columns = pyogrio.raw.read(path, layer=layer, return_fids=True, datetime_as_string=True)
        with np.errstate(invalid="ignore"):  # what is not a number is refused later, with its place
            geometry = shapely.from_wkb(wkb)
    except (RuntimeError, shapely.errors.ShapelyError):
        msg = "GDAL does not know the format, or the file is damaged."
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
    return Features(geometry=geometry, crs=crs, features=features, is_geojson=False)


def _forget_formats() -> None:
    # GDAL reads both when it is loaded. It would warn of every format that it was built without.
    os.environ["OGR_SKIP"] = ",".join(REFERRING)
    os.environ.setdefault("CPL_LOG", os.devnull)


@contextmanager
def _warnings_in_words() -> Iterator[None]:
    """GDAL's warnings as our own, each once."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        yield
    for text in dict.fromkeys(str(warning.message) for warning in caught):
        warn(shown(text[:LONGEST_WARNING], other=" "))


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


def _column(values: list[Any]) -> Any:
    """Values as one array, of whole numbers, numbers or texts."""
    import numpy as np

    kinds = {type(value) for value in values}
    if kinds == {int} and all(-(2**63) <= value < 2**63 for value in values):
        return np.array(values, np.int64)
    if float in kinds and kinds <= {int, float, type(None)}:
        return np.array([math.nan if value is None else value for value in values], np.float64)
    texts = (value if value is None or isinstance(value, str) else json.dumps(value) for value in values)
    return np.array([None if text is None else _whole_letters(text) for text in texts], dtype=object)


def _whole_letters(text: str) -> str:
    """A text without halves of surrogate pairs, which cannot be written."""
    return text.encode(errors="replace").decode()


def read_polygons(path: Path, *, check_number: Callable[[int], None] = any_number) -> Features:
    """Features of a file of polygons.

    GeoJSON, on standard input for ``-``, or any other format that GDAL reads. Their number is checked before their
    geometries are made.
    """
    is_geojson = str(path) == STANDARD_INPUT or path.suffix.lower() in GEOJSON_ENDINGS
    try:
        check_input(path)
        return (geojson_features if is_geojson else gdal_features)(path, check_number)
    except ImportError as error:
        msg = "polygons need shapely, pyproj and pyogrio: pip install 'hushgrid[gis]'."
        raise MissingExtraError(msg) from error
    except OSError as error:
        raise refused(path, f"{error.strerror}.") from None
    except ArgumentError as error:
        raise refused(path, str(error)) from None


def refused(path: Path, reason: str, *, instead: Mapping[str, object] | None = None) -> InputError:
    """The error that says why polygons cannot be read."""
    name = "standard input" if str(path) == STANDARD_INPUT else str(path)
    return InputError(f"cannot read polygons from {name}: {reason}", instead=instead)
