"""Cells as a GeoPackage."""

import io
from typing import BinaryIO

import numpy as np

from hushgrid.errors import MissingExtraError
from hushgrid.export.facts import facts
from hushgrid.export.systems import gdal_name
from hushgrid.synopsis.polygons import polygons
from hushgrid.synopsis.synopsis import Synopsis

LAYER = "cells"
DESCRIPTION = "description"  # of a layer, which map software shows


def write_gpkg(synopsis: Synopsis, out: BinaryIO) -> None:
    """Every leaf as a polygon with its count and standard error, in the reference system of the domain.

    The guarantee and the method are in the metadata of the layer.
    """
    try:
        import pyogrio
    except ImportError as error:
        msg = "a GeoPackage needs pyogrio: pip install 'hushgrid[gis]'."
        raise MissingExtraError(msg) from error
    about = facts(synopsis)
    content = io.BytesIO()
    pyogrio.raw.write(
        content,
        geometry=np.array(polygons(synopsis.partition.bounds()).to_pylist(), dtype=object),
        field_data=[synopsis.counts, np.sqrt(synopsis.variances)],
        fields=np.array(["count", "std_error"], dtype=object),
        driver="GPKG",
        layer=LAYER,
        geometry_type="Polygon",
        crs=gdal_name(synopsis.domain),
        layer_metadata={name.upper(): text for name, text in about.items()},
        layer_options={DESCRIPTION: about.get("simulation") or about["guarantee"]},
    )
    out.write(content.getbuffer())
