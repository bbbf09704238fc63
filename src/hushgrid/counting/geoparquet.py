"""What the metadata of a GeoParquet file declares: the column of geometries, and its reference system.

Only these are read. The boxes and geometry types that are there too were taken from the rows by whoever wrote the
file; no decision may rest on them.
"""

import json
from typing import Any

import pyarrow as pa

from hushgrid.errors import InputError
from hushgrid.geometry.domain import GEOGRAPHIC, Domain

KEY = b"geo"
LONGEST_WORD = 80  # characters of a name in a message


def primary_geometry(schema: pa.Schema, where: str) -> str | None:
    """Name of the main column of geometries, or None where no metadata names one."""
    name = _metadata(schema, where).get("primary_column")
    return name if isinstance(name, str) else None


def check_crs(schema: pa.Schema, column: str, domain: Domain, where: str) -> None:
    """Refuse geometries that are declared to be in another reference system than the domain.

    A column without an entry in the metadata declares nothing, and is taken to be in the domain's system, as columns
    of numbers are.
    """
    columns = _metadata(schema, where).get("columns")
    entry = columns.get(column) if isinstance(columns, dict) else None
    if not isinstance(entry, dict):
        return
    declared = _crs_name(entry)
    if declared != domain.crs.upper() and not {declared, domain.crs.upper()} <= GEOGRAPHIC:
        msg = f"column {column!r} of {where} is in {declared}, and not in {domain.crs}. "
        msg += "Give the system of the points: crs= (--crs)."
        raise InputError(msg, instead={"crs": declared} if ":" in declared else None)


def _metadata(schema: pa.Schema, where: str) -> dict[str, Any]:
    text = (schema.metadata or {}).get(KEY)
    if text is None:
        return {}
    try:
        metadata = json.loads(text)
    except (ValueError, RecursionError):
        metadata = None
    if not isinstance(metadata, dict):
        msg = f"the 'geo' metadata of {where} is damaged. Write the file anew."
        raise InputError(msg)
    return metadata


def _crs_name(entry: dict[str, Any]) -> str:
    """Authority and code, for example EPSG:4326; else whatever name there is."""
    crs = entry.get("crs", {"id": {"authority": "OGC", "code": "CRS84"}})  # the default of the specification
    if not isinstance(crs, dict):
        return "an unknown reference system"
    identifier = crs.get("id")
    if isinstance(identifier, dict):
        return f"{_word(identifier.get('authority'))}:{_word(identifier.get('code'))}".upper()
    return f"a reference system without a code ({_word(crs.get('name'))})"


def _word(value: object) -> str:
    return str(value)[:LONGEST_WORD] if isinstance(value, str | int) else "?"
