"""``hushgrid export``: a release in other formats."""

from pathlib import Path
from typing import TYPE_CHECKING, Literal

import click

from hushgrid.cli.files import check_output, read_release, result_path
from hushgrid.cli.parameters import example
from hushgrid.errors import ArgumentError

if TYPE_CHECKING:
    from typing import BinaryIO

    from hushgrid.synopsis.synopsis import Synopsis

Format = Literal["gpkg", "geotiff", "geojson", "csv"]
ENDINGS: dict[Format, tuple[str, ...]] = {
    "gpkg": (".gpkg",),
    "geotiff": (".tif", ".tiff"),
    "geojson": (".geojson", ".json"),
    "csv": (".csv",),
}


def to_resolution(
    _context: click.Context, _parameter: click.Parameter, text: str | None
) -> int | tuple[int, int] | None:
    """Pixels on the longer side, or columns and rows."""
    if text is None:
        return None
    try:
        numbers = [int(part) for part in text.lower().split("x")]
    except ValueError:
        numbers = []
    if len(numbers) not in (1, 2) or min(numbers) < 1:
        msg = f"--resolution must be a whole number of pixels, or two as 800x600, got {text!r}."
        raise ArgumentError(msg)
    return numbers[0] if len(numbers) == 1 else (numbers[0], numbers[1])


@click.command(
    epilog=example(
        "export trips.dp.parquet -o trips.gpkg",
        "export trips.dp.parquet -o trips.tif --resolution 2000",
        "export trips.dp.parquet --to csv -o - > trips.csv",
    )
)
@click.argument("file", type=click.Path(path_type=Path))
@click.option(
    "--to",
    "wanted",
    type=click.Choice(["gpkg", "geotiff", "geojson", "csv"]),
    help="Cells as a GeoPackage, GeoJSON or CSV; pixels as a cloud-optimised GeoTIFF. By default as OUT ends.",
)
@click.option("-o", "--output", type=click.Path(path_type=Path), required=True, metavar="OUT|-", help="Where to write.")
@click.option(
    "--resolution",
    callback=to_resolution,
    metavar="PIXELS|COLUMNSxROWS",
    help="Of a GeoTIFF: pixels on the longer side, 1024 unless the release is a grid; or columns and rows.",
)
@click.option("--overwrite", is_flag=True, help="Replace OUT if it exists.")
def export(
    file: Path, wanted: Format | None, output: Path, resolution: int | tuple[int, int] | None, overwrite: bool
) -> None:
    """Write a release in another format.

    FILE is a release made by "hushgrid publish". Measurements stay behind: the new file shows the release, and cannot
    be verified.
    """
    from hushgrid.files.paths import new_file

    wanted = wanted or _by_ending(output)
    if resolution is not None and wanted != "geotiff":
        msg = f"--resolution is about pixels, which only a GeoTIFF has; leave it out with --to {wanted}."
        raise click.UsageError(msg)
    endings = ENDINGS[wanted]
    check_output(output, overwrite=overwrite, endings=endings, is_text=wanted in ("geojson", "csv"))
    synopsis, _ = read_release(file)
    with result_path(output, endings[0]) as path, new_file(path, overwrite=overwrite) as out:
        _write(synopsis, wanted, out, resolution)


def _by_ending(output: Path) -> Format:
    for form, endings in ENDINGS.items():
        if output.name.lower().endswith(endings):
            return form
    known = ", ".join(ending for endings in ENDINGS.values() for ending in endings)
    msg = f"--output must end in {known}, or --to say the format, got {output}."
    raise ArgumentError(msg, instead={"output": output.with_suffix(".gpkg")} if output.stem != "-" else None)


def _write(synopsis: "Synopsis", wanted: Format, out: "BinaryIO", resolution: int | tuple[int, int] | None) -> None:
    match wanted:
        case "gpkg":
            from hushgrid.export.vectors import write_gpkg

            write_gpkg(synopsis, out)
        case "geotiff":
            from hushgrid.export.raster import write_geotiff

            write_geotiff(synopsis, out, resolution=resolution)
        case "geojson":
            from hushgrid.export.vectors import write_geojson

            write_geojson(synopsis, out)
        case "csv":
            from hushgrid.export.vectors import write_csv

            write_csv(synopsis, out)
