"""``hushgrid sample``: synthetic points from a release."""

from pathlib import Path

import click

from hushgrid.cli.files import STANDARD_OUTPUT, check_one_reader, read_release, result_path
from hushgrid.cli.parameters import example
from hushgrid.cli.polygons import read_polygons, refused
from hushgrid.cli.text import note
from hushgrid.errors import ArgumentError


@click.command(
    epilog=example(
        "sample trips.dp.parquet -o points.parquet",
        "sample trips.dp.parquet -n 100000 -o points.csv --within land.geojson --seed 1",
    )
)
@click.argument("file", type=click.Path(path_type=Path))
@click.option("-n", "size", type=click.IntRange(min=0), metavar="N", help="How many; by default the estimated total.")
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path),
    required=True,
    metavar="POINTS|-",
    help="Where to write: a .parquet, .csv or .geojson file, or - for CSV on standard output.",
)
@click.option(
    "--within",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Polygons that hold all points, such as land: GeoJSON, a GeoPackage or any other file that GDAL reads.",
)
@click.option("--seed", type=click.IntRange(min=0), metavar="S", help="The same points again for the same number.")
@click.option("--overwrite", is_flag=True, help="Replace POINTS if it exists.")
def sample(file: Path, size: int | None, output: Path, within: Path | None, seed: int | None, overwrite: bool) -> None:
    """Draw synthetic points from a release.

    FILE is a release made by "hushgrid publish". The points lie as its counts say and stand for nobody; the file says
    so. They are in the order of its cells.
    """
    from hushgrid.export.vectors import check_points_target, write_points

    if str(output) != STANDARD_OUTPUT:
        check_points_target(output, overwrite=overwrite)
    check_one_reader(FILE=file, **{"--within": within})
    areas = read_polygons(within) if within else None
    synopsis, _ = read_release(file)
    wanted = max(0, round(synopsis.total)) if size is None else size
    try:
        points = synopsis.sample(wanted, seed=seed, within=areas)
    except ArgumentError as error:
        if within is None:
            raise
        raise refused(within, str(error)) from None
    with result_path(output, ".csv") as path:
        write_points(synopsis, points, path, overwrite=overwrite)
    note(f"{wanted:,} synthetic points. None of them is a record.")
