"""A GeoTIFF of population, or of other counts, as a prior."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from hushgrid.answering.outlines import transformed_places, transformer
from hushgrid.arrays import Floats
from hushgrid.errors import ArgumentError, MissingExtraError
from hushgrid.geometry.domain import Bounds, Domain
from hushgrid.priors.masses import LARGEST_COUNT, RASTER_LEVEL, CellMasses, Source
from hushgrid.priors.vectors import plain_text

COPYRIGHT = "TIFFTAG_COPYRIGHT"
PIXELS_AT_ONCE = 2**23
MOVED_LEVEL = RASTER_LEVEL - 1  # of rasters in another system: pixels are moved as points, which must lie closer


def raster_prior(source: Source, path: Path, domain: Domain) -> CellMasses:
    """The first band of a GeoTIFF, laid over a domain.

    Its pixels hold counts, such as people, by the scale and offset of the band, and those without data hold none. Sums
    are kept: a pixel that lies in several cells is divided by area. In another reference system than the domain's,
    pieces of pixels are moved one by one.
    """
    try:
        import rasterio
    except ImportError as error:
        msg = "a GeoTIFF as a prior needs rasterio: pip install 'hushgrid[raster]'."
        raise MissingExtraError(msg) from error
    try:
        with rasterio.open(path, driver="GTiff") as file:
            pixels = _on_domain(file, domain)
            licence = plain_text(file.tags().get(COPYRIGHT))
    except rasterio.errors.RasterioError:
        msg = "it is not a GeoTIFF that GDAL can read."
        raise ArgumentError(msg) from None
    return CellMasses.of_raster(replace(source, kind="raster", licence=licence), pixels)


def _on_domain(file: Any, domain: Domain) -> Floats:
    """Pixels of a domain, the southernmost row first."""
    if file.crs is None:
        msg = "it does not say its coordinate reference system."
        raise ArgumentError(msg)
    if file.transform.b or file.transform.d or file.transform.a <= 0:
        msg = "its pixels are rotated or mirrored. Straighten it first, for instance by gdalwarp."
        raise ArgumentError(msg)
    move = transformer(file.crs.to_wkt(), domain.crs)
    if move is None:
        return pixels_on_cells(file, domain.bounds, 1 << RASTER_LEVEL)
    pixels = np.zeros((1 << MOVED_LEVEL, 1 << MOVED_LEVEL))
    for bounds in _bounds_of_raster(move.transform_bounds(*domain.bounds, direction="INVERSE"), file):
        pixels += _moved_pixels(file, bounds, move, domain)
    return pixels


def _bounds_of_raster(bounds: Bounds, file: Any) -> list[Bounds]:
    """Bounds in the system of a raster.

    They come in two parts where they cross the 180th meridian.
    """
    west, south, east, north = bounds
    if np.isfinite(bounds).all() and west < east:
        return [bounds]
    if np.isfinite(bounds).all() and file.crs.is_geographic:
        return [(west, south, 180.0, north), (-180.0, south, east, north)]
    msg = f"the domain has no place in its reference system, {file.crs.to_string()}."
    raise ArgumentError(msg)


def _moved_pixels(file: Any, bounds: Bounds, move: Any, domain: Domain) -> Floats:
    """Pixels of a domain that is in another system than the raster."""
    side = 1 << RASTER_LEVEL
    fine = pixels_on_cells(file, bounds, side)
    row, column = np.nonzero(fine)
    west, south, east, north = bounds
    x, y = west + (column + 0.5) * (east - west) / side, south + (row + 0.5) * (north - south) / side
    moved = transformed_places(move, np.stack([x, y], axis=1))
    return splat(moved, fine[row, column], domain, 1 << MOVED_LEVEL)


def pixels_on_cells(file: Any, bounds: Bounds, side: int) -> Floats:
    """Sums of a raster over equal parts of a rectangle in its system.

    Exact: each is a difference of running sums, which are linear inside a pixel. Shape (side, side), the southernmost
    row first.
    """
    west, south, east, north = bounds
    place = file.transform
    top_first = place.e < 0
    columns = np.clip((np.linspace(west, east, side + 1) - place.c) / place.a, 0, file.width)
    along = np.linspace(north, south, side + 1) if top_first else np.linspace(south, north, side + 1)
    rows = np.clip((along - place.f) / place.e, 0, file.height)
    sums = np.zeros((side, side))
    for first, block in _blocks(file, columns, rows):
        across = _parts(block.T, columns - np.floor(columns[0])).T
        here = np.clip(rows - first, 0, len(block))
        low, high = max(np.searchsorted(here, 0, "right") - 1, 0), np.searchsorted(here, len(block)) + 1
        sums[low : high - 1] += _parts(across, here[low:high])
    return sums[::-1] if top_first else sums


def _blocks(file: Any, columns: Floats, rows: Floats) -> Iterator[tuple[int, Floats]]:
    """The rows of pixels that are needed, with the number of the first."""
    left, right = int(np.floor(columns[0])), int(np.ceil(columns[-1]))
    bottom, top = int(np.floor(rows[0])), int(np.ceil(rows[-1]))
    if right <= left or top <= bottom:
        return
    step = max(1, PIXELS_AT_ONCE // (right - left))
    for first in range(bottom, top, step):
        stop = min(first + step, top)
        stored = file.read(1, window=((first, stop), (left, right)), masked=True).astype(np.float64)
        known = ~(np.ma.getmaskarray(stored) | np.isnan(stored.data))
        block = np.where(known, stored.data, 0.0) * file.scales[0] + file.offsets[0] * known
        bad = ~((block >= 0) & (block <= LARGEST_COUNT))
        if bad.any():
            msg = f"it has pixels below zero or above {LARGEST_COUNT:g}, so it is not a raster of counts. Declare what "
            msg += f"stands for no data, for instance by gdal_edit.py -a_nodata {stored.data[bad].item(0)!r} FILE."
            raise ArgumentError(msg)
        yield first, block


def _parts(values: Floats, edges: Floats) -> Floats:
    """Sums of rows between edges, shape (edges - 1, ...).

    An edge may cut a row.
    """
    running = np.concatenate([np.zeros((1, values.shape[1])), np.cumsum(values, axis=0)])
    whole = np.minimum(edges.astype(np.int64), len(values))
    above = np.minimum(whole + 1, len(values))
    share = (edges - whole)[:, None]
    parts: Floats = np.diff((1 - share) * running[whole] + share * running[above], axis=0)
    return np.maximum(parts, 0.0)  # running sums are rounded


def splat(places: Floats, masses: Floats, domain: Domain, side: int) -> Floats:
    """Pixels of a domain that share masses of points by their distance.

    Each point is divided among the four nearest pixels, linearly. Shape (side, side), the southernmost row first.
    """
    corner, extent = np.array([domain.west, domain.south]), np.array([domain.width, domain.height])
    inside = ((places >= corner) & (places <= corner + extent)).all(axis=1)  # false for what is infinite
    at = np.clip((places[inside] - corner) / extent * side - 0.5, 0, side - 1)
    low = np.minimum(at.astype(np.int64), side - 2)
    share = at - low
    pixels = np.zeros(side * side)
    for up in (0, 1):
        for right in (0, 1):
            part = np.where(right, share[:, 0], 1 - share[:, 0]) * np.where(up, share[:, 1], 1 - share[:, 1])
            where = (low[:, 1] + up) * side + low[:, 0] + right
            pixels += np.bincount(where, part * masses[inside], minlength=side * side)
    return pixels.reshape(side, side)
