"""GeoParquet metadata of a release: its cells and their system."""

import json
from typing import Any

from hushgrid.errors import ArgumentError, MissingExtraError
from hushgrid.geometry.domain import Domain

GEO = b"geo"  # the key in the footer
CORNERS = ("xmin", "ymin", "xmax", "ymax")  # fields of the column `bbox`
COVERING = {"bbox": {name: ["bbox", name] for name in CORNERS}}


def check_crs_can_be_stated(domain: Domain) -> None:
    """Refuse a reference system that no file could state."""
    if not domain.is_geographic:
        projjson(domain.crs)


def geo_metadata(domain: Domain, shape: str = "Polygon", *, covered: bool = False) -> dict[str, Any]:
    """GeoParquet metadata of cells in a domain.

    Longitude and latitude are what GeoParquet assumes; any other reference system is spelled out as PROJJSON, which
    needs pyproj. Where cells are covered, a column ``bbox`` has their bounds.

    Examples
    --------
    >>> geo_metadata(Domain(west=0, south=0, east=2, north=1))["columns"]["geometry"]["bbox"]
    [0.0, 0.0, 2.0, 1.0]
    """
    return _metadata(domain, shape, {} if domain.is_geographic else {"crs": projjson(domain.crs)}, covered)


def describes(text: bytes, domain: Domain, shape: str = "Polygon", *, covered: bool = False) -> bool:
    """Whether stored metadata agrees with `geo_metadata`.

    Of a reference system only its presence is compared: each version of PROJ spells them a little differently.
    """
    try:
        stored = json.loads(text)
        crs = {} if domain.is_geographic else {"crs": stored["columns"]["geometry"]["crs"]}
    except (ValueError, RecursionError, LookupError, TypeError):
        return False
    return bool(stored == _metadata(domain, shape, crs, covered))


def _metadata(domain: Domain, shape: str, crs: dict[str, Any], covered: bool) -> dict[str, Any]:
    column = {
        "encoding": "WKB",
        "geometry_types": [shape],
        "orientation": "counterclockwise",
        "bbox": list(domain.bounds),
        **({"covering": COVERING} if covered else {}),
        **crs,
    }
    return {"version": "1.1.0", "primary_column": "geometry", "columns": {"geometry": column}}


def projjson(crs: str) -> dict[str, Any]:
    """A coordinate reference system spelled out as PROJJSON."""
    try:
        import pyproj
    except ImportError as error:
        msg = f"a domain in crs={crs!r} needs pyproj: pip install 'hushgrid[gis]'."
        raise MissingExtraError(msg) from error
    try:
        spelled_out: dict[str, Any] = pyproj.CRS.from_user_input(crs).to_json_dict()
    except pyproj.exceptions.CRSError as error:
        msg = f"the domain's crs must be one that PROJ knows, such as 'EPSG:32618'; got crs={crs!r}."
        raise ArgumentError(msg) from error
    return spelled_out
