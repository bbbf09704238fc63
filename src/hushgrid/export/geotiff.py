"""A release as a cloud-optimised GeoTIFF."""

from typing import BinaryIO

from hushgrid.errors import MissingExtraError
from hushgrid.export.facts import facts
from hushgrid.export.raster import Raster, pixels
from hushgrid.export.systems import gdal_name
from hushgrid.synopsis.synopsis import Synopsis

BLOCK = 256  # pixels a side of a tile
BANDS = ("estimate", "standard error by noise")


def write_geotiff(synopsis: Synopsis, out: BinaryIO, *, resolution: int | tuple[int, int] | None = None) -> None:
    """Estimates and standard errors of pixels as two bands of doubles; the estimates sum to the total of the release.

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
            file.update_tags(**{name.upper(): text for name, text in facts(synopsis).items()})
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
