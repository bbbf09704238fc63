"""Features to ask about, and the same features with their answers."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from hushgrid.geometry.domain import LONGITUDE_LATITUDE

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
        GeoJSON features, complete but for a geometry where the file is not GeoJSON.
    """

    geometry: "NDArray[np.object_]"
    crs: str
    features: list[dict[str, Any]]

    @property
    def names(self) -> list[str]:
        """What each feature is called, else its number, fit for a terminal."""
        return [_name(feature, number) for number, feature in enumerate(self.features)]

    def geojson(self, values: dict[str, "NDArray[np.float64]"], columns: tuple[str, ...]) -> Iterator[str]:
        """Text of a GeoJSON file (RFC 7946) of the same features, with values added to their properties."""
        rows = zip(*(values[column].tolist() for column in columns), strict=True)
        yield '{"type": "FeatureCollection", "features": ['
        for number, (feature, geometry, row) in enumerate(zip(self.features, self._places(), rows, strict=True)):
            properties = {**(feature.get("properties") or {}), **dict(zip(columns, row, strict=True))}
            yield ",\n" if number else "\n"
            text = json.dumps({**feature, "geometry": geometry, "properties": properties}, ensure_ascii=False)
            yield text.encode(errors="replace").decode()  # half a surrogate pair cannot be written
        yield "\n]}\n"

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


def _name(feature: dict[str, Any], number: int) -> str:
    properties = {str(key).lower(): value for key, value in (feature.get("properties") or {}).items()}
    for name in (properties.get("name"), feature.get("id")):
        if isinstance(name, str | int) and str(name).strip():
            text = "".join(letter if letter.isprintable() else "?" for letter in str(name).strip())
            return text if len(text) <= LONGEST_NAME else text[: LONGEST_NAME - 1] + "…"
    return str(number)
