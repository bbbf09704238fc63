"""``hushgrid export`` and ``hushgrid sample``: files made from releases."""

from pathlib import Path
from typing import TYPE_CHECKING, Literal

import click

from hushgrid.cli.files import (
    STANDARD_OUTPUT,
    check_one_reader,
    check_output,
    one_slice,
    read_any,
    refuse_slices,
    result_path,
)
from hushgrid.cli.parameters import example
from hushgrid.cli.polygons import read_polygons, refused
from hushgrid.cli.text import note
from hushgrid.errors import ArgumentError

if TYPE_CHECKING:
    from typing import BinaryIO

    import pyarrow as pa

    from hushgrid.arrays import Floats
    from hushgrid.cli.polygons import Features
    from hushgrid.slices.slices import Slices
    from hushgrid.synopsis.synopsis import Synopsis

Format = Literal["gpkg", "geotiff", "geojson", "csv", "png"]
ENDINGS: dict[Format, tuple[str, ...]] = {
    "gpkg": (".gpkg",),
    "geotiff": (".tif", ".tiff"),
    "geojson": (".geojson", ".json"),
    "csv": (".csv",),
    "png": (".png",),
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
        "export trips.dp.parquet -o trips.png",
        "export trips.dp.parquet --to csv -o - > trips.csv",
        "export counties.dp.parquet --whole --level state -o states.csv",
    )
)
@click.argument("file", type=click.Path(path_type=Path))
@click.option(
    "--to",
    "wanted",
    type=click.Choice(["gpkg", "geotiff", "geojson", "csv", "png"]),
    show_default="by the ending of OUT",
    help="Format: cells as a GeoPackage, GeoJSON or CSV, pixels as a cloud-optimised GeoTIFF, or a picture as a PNG.",
)
@click.option("-o", "--output", type=click.Path(path_type=Path), required=True, metavar="OUT|-", help="File to write.")
@click.option(
    "--resolution",
    callback=to_resolution,
    metavar="PIXELS|COLUMNSxROWS",
    show_default="1024, or the cells of a grid",
    help="Size of a GeoTIFF: pixels on the longer side, or columns and rows.",
)
@click.option(
    "--whole", is_flag=True, help="Whole numbers that add up at every level, with intervals, of a release on areas."
)
@click.option(
    "--level",
    metavar="LEVEL",
    show_default="all levels",
    help="Level of areas to write with intervals, of a release on areas.",
)
@click.option("--slice", "slice_name", metavar="NAME", help="Slice to write. [default: all, which only CSV can hold]")
@click.option("--overwrite", is_flag=True, help="Replace OUT if it exists.")
def export(
    file: Path,
    wanted: Format | None,
    output: Path,
    resolution: int | tuple[int, int] | None,
    whole: bool,
    level: str | None,
    slice_name: str | None,
    overwrite: bool,
) -> None:
    """Write a release in another format.

    FILE is a release made by "hushgrid publish". The new file holds counts but no measurements, so it cannot be
    verified. Of a release on areas, --whole and --level write a table for print: level, parent, name, estimate, low,
    high, usable. CSV of a release in slices has a column for them.
    """
    from hushgrid.files.paths import new_file
    from hushgrid.slices.slices import Slices

    wanted = wanted or _by_ending(output)
    if resolution is not None and wanted != "geotiff":
        msg = f"--resolution is about pixels, which only a GeoTIFF has. Leave it out with --to {wanted}."
        raise click.UsageError(msg)
    as_table = whole or level is not None
    if as_table and wanted in ("geotiff", "png"):
        msg = "--whole and --level write a table of areas, and a picture has none. Give --to csv, geojson or gpkg."
        raise click.UsageError(msg)
    endings = ENDINGS[wanted]
    check_output(output, overwrite=overwrite, endings=endings, is_text=wanted in ("geojson", "csv"))
    found, _ = read_any(file)
    if isinstance(found, Slices) and slice_name is None and wanted == "csv" and not as_table:
        with result_path(output, endings[0]) as path, new_file(path, overwrite=overwrite) as out:
            _write_all_slices(found, out)
        return
    if not isinstance(found, Slices):
        refuse_slices(file, slice_name)
    synopsis = one_slice(found, file, slice_name) if isinstance(found, Slices) else found
    with result_path(output, endings[0]) as path, new_file(path, overwrite=overwrite) as out:
        if as_table and wanted != "geotiff" and wanted != "png":
            from hushgrid.export.area_tables import write_area_table

            write_area_table(synopsis, out, to=wanted, level=level, whole=whole)
        else:
            _write(synopsis, wanted, out, resolution)


def _write_all_slices(slices: "Slices", out: "BinaryIO") -> None:
    """Write the cells of all slices as CSV."""
    from hushgrid.export.vectors import write_csv_table

    write_csv_table(slices.cells(), out, simulation=slices.simulation)


def _by_ending(output: Path) -> Format:
    for form, endings in ENDINGS.items():
        if output.name.lower().endswith(endings):
            return form
    known = ", ".join(ending for endings in ENDINGS.values() for ending in endings)
    msg = f"--output must end in {known}, or --to must name the format, got {output}."
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
        case "png":
            from hushgrid.export.plot import write_png

            write_png(synopsis, out)


@click.command(
    "sample",
    epilog=example(
        "sample trips.dp.parquet -o points.parquet",
        "sample trips.dp.parquet -n 100000 -o points.csv --within land.geojson --seed 1",
    ),
)
@click.argument("file", type=click.Path(path_type=Path))
@click.option(
    "-n", "size", type=click.IntRange(min=0), show_default="the estimated total", metavar="N", help="Number of points."
)
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path),
    required=True,
    metavar="POINTS|-",
    help="File to write: .parquet, .csv or .geojson, or - for CSV on standard output.",
)
@click.option(
    "--within",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Polygons that all points lie in, such as land: GeoJSON, a GeoPackage or any other file that GDAL reads.",
)
@click.option(
    "--seed", type=click.IntRange(min=0), metavar="S", help="Seed. The same seed gives the same points again."
)
@click.option(
    "--slice", "slice_name", metavar="NAME", help="Slice to draw from. [default: all, with a column that says which]"
)
@click.option("--overwrite", is_flag=True, help="Replace POINTS if it exists.")
def sample_command(
    file: Path,
    size: int | None,
    output: Path,
    within: Path | None,
    seed: int | None,
    slice_name: str | None,
    overwrite: bool,
) -> None:
    """Draw synthetic points from a release.

    FILE is a release made by "hushgrid publish". The points follow its counts and stand for nobody, and the new file
    says so. They come in the order of the cells.
    """
    from hushgrid.export.vectors import check_points_target, write_points
    from hushgrid.slices.slices import Slices

    if str(output) != STANDARD_OUTPUT:
        check_points_target(output, overwrite=overwrite)
    check_one_reader(FILE=file, **{"--within": within})
    areas = read_polygons(within) if within else None
    found, _ = read_any(file)
    if not isinstance(found, Slices):
        refuse_slices(file, slice_name)
    source = found.shown(slice_name) if isinstance(found, Slices) and slice_name is not None else found
    try:
        points, labels = _drawn(source, size, seed, areas)
    except ArgumentError as error:
        if within is None:
            raise
        raise refused(within, str(error)) from None
    about = source.shown() if isinstance(source, Slices) else source
    with result_path(output, ".csv") as path:
        write_points(about, points, path, overwrite=overwrite, slices=labels)
    note(f"{len(points):,} synthetic points. None of them is a record.")


def _drawn(
    source: "Synopsis | Slices", size: int | None, seed: int | None, within: "Features | None"
) -> "tuple[Floats, pa.Array | None]":
    """Synthetic points, and the slice of each where there are slices."""
    import numpy as np

    from hushgrid.slices.slices import Slices

    if not isinstance(source, Slices):
        wanted = max(0, round(source.total)) if size is None else size
        return source.sample(wanted, seed=seed, within=within), None
    wanted = max(0, round(sum(each.total for each in source.values()))) if size is None else size
    table = source.sample(wanted, seed=seed, within=within)
    return np.stack([table[name].to_numpy() for name in source.domain.axes], axis=1), table["slice"].combine_chunks()
