"""Writes public points, polygons and rasters, for tests of priors."""

import json

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import rasterio
import shapely


def geojson(path, shapes, weights=None, **members):
    """Write geometries as GeoJSON."""
    features = [
        {
            "type": "Feature",
            "geometry": json.loads(shapely.to_geojson(shape)),
            "properties": {} if weights is None else {"people": weight},
        }
        for shape, weight in zip(shapes, [None] * len(shapes) if weights is None else weights, strict=True)
    ]
    path.write_text(json.dumps({"type": "FeatureCollection", "features": features, **members}))
    return path


def geoparquet(path, shapes, columns=None, crs=None):
    """Write geometries as GeoParquet."""
    entry = {"encoding": "WKB", "geometry_types": []} | ({} if crs is None else {"crs": crs})
    metadata = {"version": "1.1.0", "primary_column": "where", "columns": {"where": entry}}
    table = pa.table({"where": pa.array(shapely.to_wkb(np.array(shapes)), pa.binary()), **(columns or {})})
    pq.write_table(table.replace_schema_metadata({"geo": json.dumps(metadata)}), path)
    return path


def placed(box, columns, rows):
    """The transform of a raster over a rectangle."""
    west, south, east, north = box
    return rasterio.Affine((east - west) / columns, 0, west, 0, (south - north) / rows, north)


def geotiff(path, pixels, box, crs="EPSG:4326", **profile):
    """Write pixels, the northernmost row first."""
    rows, columns = pixels.shape
    given = {"driver": "GTiff", "height": rows, "width": columns, "count": 1, "dtype": pixels.dtype, "crs": crs}
    with rasterio.open(path, "w", **given, transform=placed(box, columns, rows), **profile) as file:
        file.write(pixels, 1)
        file.update_tags(TIFFTAG_COPYRIGHT="CC0")
    return path
