"""The places of a release in its file."""

from typing import Any

import numpy as np

from hushgrid.errors import SynopsisFileError
from hushgrid.files.scaling import HIGHEST, LOWEST
from hushgrid.files.strict_json import JsonObject
from hushgrid.files.structure import parse_structure, structure_json, structure_table
from hushgrid.files.tables import pack, parse_rate
from hushgrid.geometry.areas import AREA_LIMIT, AreaPartition
from hushgrid.geometry.partition import Structure
from hushgrid.geometry.tree import Tree
from hushgrid.inference.measurements import NoisyValues
from hushgrid.synopsis.places import CountedPlaces
from hushgrid.synopsis.scale import Scale


def places_json(places: CountedPlaces) -> dict[str, Any]:
    """What the places are, what was measured in each, and at which rate."""
    return {
        "areas": structure_json(places.areas),
        "values": places.values.values.tolist(),
        "rate": str(places.rate),
    }


def places_table(places: CountedPlaces) -> bytes:
    """Outlines of the places, packed."""
    table = structure_table(places.areas)
    assert table is not None
    return pack(table)


def parse_places(fields: JsonObject, *, around: Structure, scale: Scale | None, packed: bytes | None) -> CountedPlaces:
    """The places of a release on a tree.

    Each part is checked before it is built.
    """
    fields.only("areas", "values", "rate")
    values = fields.wholes("values", low=LOWEST, high=HIGHEST)
    if not isinstance(around, Tree) or (scale is not None and scale.all_records is not None):
        msg = "it has places, which only a tree has, and no counts of all records."
        raise SynopsisFileError(msg)
    if not 1 <= len(values) <= AREA_LIMIT:
        msg = f"it has {len(values):,} places, and there may be 1 to {AREA_LIMIT:,}."
        raise SynopsisFileError(msg)
    areas = parse_structure(fields.child("areas"), domain=around.domain, packed=packed, rows=len(values))
    if not isinstance(areas, AreaPartition) or areas.levels:
        msg = "its places must be areas without levels."
        raise SynopsisFileError(msg)
    rate = parse_rate(fields.text("rate"))
    return CountedPlaces(areas=areas, values=NoisyValues.at_one_rate(np.array(values, np.int64), rate))
