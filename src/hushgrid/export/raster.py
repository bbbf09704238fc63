"""A release as pixels, and as a cloud-optimised GeoTIFF."""

from dataclasses import dataclass
from typing import BinaryIO, Self

import numpy as np

from hushgrid.answering.boxes import BoxTree
from hushgrid.answering.cover import Cover
from hushgrid.answering.outlines import Outlines
from hushgrid.answering.surface import FLAT
from hushgrid.arrays import Floats
from hushgrid.errors import MissingExtraError
from hushgrid.export.systems import gdal_name
from hushgrid.geometry.areas import AreaPartition
from hushgrid.geometry.grid import Grid
from hushgrid.synopsis.facts import Facts
from hushgrid.synopsis.synopsis import Synopsis

PIXELS = 1024  # on the longer side, unless the partition is a grid
PIXELS_AT_ONCE = 2**18


@dataclass(frozen=True, kw_only=True, eq=False)
class Raster:
    """Estimates and standard errors of pixels that tile the domain.

    Parameters
    ----------
    grid : Grid
        The pixels.
    estimates, errors : array, shape (rows, columns)
        Row 0 is the southernmost. Estimates sum to the total of the release; errors are by noise.
    """

    grid: Grid
    estimates: Floats
    errors: Floats

    @classmethod
    def of(cls, synopsis: Synopsis, grid: Grid) -> Self:
        """Pixels that each hold what the release answers."""
        shape = grid.rows, grid.columns
        if isinstance(synopsis.partition, AreaPartition):
            estimates, errors = _pixels_of_areas(synopsis, synopsis.partition, grid)
            return cls(grid=grid, estimates=estimates.reshape(shape), errors=errors.reshape(shape))
        estimates, errors = np.empty((2, grid.cells))
        for first in range(0, grid.cells, PIXELS_AT_ONCE):
            stop = min(first + PIXELS_AT_ONCE, grid.cells)
            answer = synopsis.answer(grid.bounds(first, stop))
            estimates[first:stop], errors[first:stop] = answer.estimate, answer.noise_std
        return cls(grid=grid, estimates=estimates.reshape(shape), errors=errors.reshape(shape))


def _pixels_of_areas(synopsis: Synopsis, areas: AreaPartition, grid: Grid) -> tuple[Floats, Floats]:
    """Estimates and standard errors of pixels over areas.

    All areas are laid over the pixels at once; shape (pixels,) each.
    """
    outlines = Outlines(segments=areas.segments, starts=areas.segment_starts)
    cover = Cover.of(BoxTree.of(grid), outlines, FLAT).node_by_node()
    pixel_size = grid.domain.width / grid.columns * (grid.domain.height / grid.rows)
    area = np.repeat(np.arange(areas.cells), np.diff(cover.starts))
    shares = cover.area_shares * pixel_size / areas.sizes[area]  # of an area, that lie in one pixel
    sums = [
        np.bincount(cover.runs[:, 0], weights, minlength=grid.cells + 1)
        for weights in (shares * synopsis.counts[area], shares**2 * synopsis.variances[area])
    ]
    # Node 0 is the whole domain, and each pixel of it.
    estimates, variances = (by_node[1:] + by_node[0] for by_node in sums)
    return estimates, np.sqrt(variances)


def pixels(synopsis: Synopsis, resolution: int | tuple[int, int] | None = None) -> Grid:
    """The pixels of a release.

    Parameters
    ----------
    resolution : int, or two of them, optional
        Pixels on the longer side of the domain, as square as may be; or columns and rows. By default the cells of a
        grid, and 1,024 on the longer side of any other partition.

    Examples
    --------
    >>> import hushgrid as hg
    >>> wide = hg.Domain(west=0, south=0, east=2, north=1)
    >>> release = hg.publish([[0.5, 0.5]], domain=wide, epsilon=1, method=hg.UniformGrid(side=7))
    >>> pixels(release) == release.partition, pixels(release, 100).rows
    (True, 50)
    """
    domain, partition = synopsis.domain, synopsis.partition
    if resolution is None and isinstance(partition, Grid):
        return partition
    if isinstance(resolution, tuple):
        columns, rows = resolution
        return Grid(domain=domain, rows=rows, columns=columns)
    longer = PIXELS if resolution is None else resolution
    shorter = max(1, round(longer * min(domain.width, domain.height) / max(domain.width, domain.height)))
    columns, rows = (longer, shorter) if domain.width >= domain.height else (shorter, longer)
    return Grid(domain=domain, rows=rows, columns=columns)


BLOCK = 256  # pixels a side of a tile
BANDS = ("estimate", "standard error by noise")


def write_geotiff(synopsis: Synopsis, out: BinaryIO, *, resolution: int | tuple[int, int] | None = None) -> None:
    """Write a GeoTIFF of estimates and standard errors.

    They are two bands of doubles; the estimates sum to the total of the release.

    Overviews hold means of full pixels, not sums. The guarantee and the method are in the tags.

    Parameters
    ----------
    resolution : int, or two of them, optional
        See `pixels`.
    """
    try:
        import rasterio
        import rasterio.shutil
        from rasterio.io import MemoryFile
    except ImportError as error:
        msg = "a GeoTIFF needs rasterio: pip install 'hushgrid[raster]'."
        raise MissingExtraError(msg) from error
    grid = pixels(synopsis, resolution)
    raster = Raster.of(synopsis, grid)
    west, north, width, height = grid.domain.west, grid.domain.north, grid.domain.width, grid.domain.height
    profile = {
        "driver": "GTiff",
        "width": grid.columns,
        "height": grid.rows,
        "count": len(BANDS),
        "dtype": "float64",
        "crs": gdal_name(grid.domain),
        "transform": rasterio.Affine(width / grid.columns, 0, west, 0, -height / grid.rows, north),
    }
    with MemoryFile(ext=".tif") as plain, MemoryFile(ext=".tif") as optimised:
        with plain.open(**profile) as file:
            file.update_tags(**{name.upper(): text for name, text in Facts.of(synopsis).labelled().items()})
            for band, (name, values) in enumerate(zip(BANDS, (raster.estimates, raster.errors), strict=True), start=1):
                file.write(values[::-1], band)  # north comes first
                file.set_band_description(band, name)
        rasterio.shutil.copy(
            plain.name,
            optimised.name,
            driver="COG",
            blocksize=BLOCK,
            compress="DEFLATE",
            predictor="YES",
            overview_resampling="AVERAGE",
            bigtiff="IF_SAFER",
        )
        out.write(optimised.getbuffer())
