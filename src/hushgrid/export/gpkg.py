"""Cells as a GeoPackage."""

import io
from typing import BinaryIO

import numpy as np

from hushgrid.errors import MissingExtraError
from hushgrid.export.facts import facts
from hushgrid.export.systems import gdal_name
from hushgrid.synopsis.cells import names, shape_type, shapes
from hushgrid.synopsis.synopsis import Synopsis

LAYER = "cells"
DESCRIPTION = "description"  # of a layer, which map software shows


def write_gpkg(synopsis: Synopsis, out: BinaryIO) -> None:
    """Every leaf as a polygon with its count and standard error, and an area with its name, in the domain's system.

    The guarantee and the method are in the metadata of the layer.
    """
    try:
        import pyogrio
    except ImportError as error:
        msg = "a GeoPackage needs pyogrio: pip install 'hushgrid[gis]'."
        raise MissingExtraError(msg) from error
    about, partition = facts(synopsis), synopsis.partition
    called = {label: np.array(column.to_pylist(), dtype=object) for label, column in names(partition).items()}
    fields = {**called, "count": synopsis.counts, "std_error": np.sqrt(synopsis.variances)}
    content = io.BytesIO()
    pyogrio.raw.write(
        content,
        geometry=np.array(shapes(partition).to_pylist(), dtype=object),
        field_data=list(fields.values()),
        fields=np.array(list(fields), dtype=object),
        driver="GPKG",
        layer=LAYER,
        geometry_type=shape_type(partition),
        crs=gdal_name(synopsis.domain),
        layer_metadata={name.upper(): text for name, text in about.items()},
        layer_options={DESCRIPTION: about.get("simulation") or about["guarantee"]},
    )
    out.write(content.getbuffer())
