"""A file of polygons to ask about."""

from pathlib import Path

from hushgrid.cli.features import Features
from hushgrid.cli.gdal_features import gdal_features
from hushgrid.cli.geojson_features import geojson_features
from hushgrid.cli.input_file import STANDARD_INPUT, check_input
from hushgrid.errors import ArgumentError, InputError, MissingExtraError

GEOJSON = frozenset({".geojson", ".json"})


def read_polygons(path: Path) -> Features:
    """Features of a GeoJSON file, or of standard input for ``-``, or of any other file that GDAL reads."""
    is_geojson = str(path) == STANDARD_INPUT or path.suffix.lower() in GEOJSON
    try:
        check_input(path)
        return geojson_features(path) if is_geojson else gdal_features(path)
    except ImportError as error:
        msg = "polygons need shapely, pyproj and pyogrio: pip install 'hushgrid[gis]'."
        raise MissingExtraError(msg) from error
    except OSError as error:
        raise refused(path, f"{error.strerror}.") from None
    except ArgumentError as error:
        raise refused(path, str(error)) from None


def refused(path: Path, reason: str) -> InputError:
    """The error that says why polygons cannot be read."""
    name = "standard input" if str(path) == STANDARD_INPUT else str(path)
    return InputError(f"cannot read polygons from {name}: {reason}")
