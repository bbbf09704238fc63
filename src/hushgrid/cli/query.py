"""``hushgrid query``: how many points lie in rectangles and polygons."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from hushgrid.cli.answers import NUMBERS, Answers, ask, ask_polygons
from hushgrid.cli.notes import note
from hushgrid.cli.output import as_json
from hushgrid.cli.parameters import Rect, example, to_rects
from hushgrid.cli.polygons import GEOJSON, read_polygons, refused
from hushgrid.cli.rectangles import read_rects, typed_rects, warn_of_outside
from hushgrid.cli.release import read_release
from hushgrid.cli.standard_input import check_one_reader
from hushgrid.errors import ArgumentError

if TYPE_CHECKING:
    from hushgrid.cli.features import Features
    from hushgrid.synopsis.synopsis import Synopsis


@click.command(
    epilog=example(
        "query trips.dp.parquet --rect -74,40.7,-73.9,40.8 --rect -73.9,40.7,-73.8,40.8",
        "query trips.dp.parquet --rects areas.csv --csv > answers.csv",
        "query trips.dp.parquet --polygons districts.gpkg -o answers.geojson",
    )
)
@click.argument("file", type=click.Path(path_type=Path))
@click.option(
    "--rect",
    "rects",
    callback=to_rects,
    multiple=True,
    metavar="W,S,E,N",
    help="A rectangle: west, south, east, north. Repeatable.",
)
@click.option(
    "--rects",
    "rects_file",
    type=click.Path(path_type=Path),
    metavar="CSV|-",
    help="A CSV file of rectangles, or - for standard input; columns west, south, east, north.",
)
@click.option(
    "--polygons",
    "polygons_file",
    type=click.Path(path_type=Path),
    metavar="FILE|-",
    help="Polygons: GeoJSON, a GeoPackage or any other file that GDAL reads, or - for GeoJSON on standard input.",
)
@click.option("--confidence", default=0.95, show_default=True, help="Confidence of the intervals.")
@click.option("--json", "want_json", is_flag=True, help="Write JSON.")
@click.option(
    "--csv",
    "want_csv",
    is_flag=True,
    help="Write CSV: west,south,east,north,estimate,low,high; for polygons feature,estimate,low,high.",
)
@click.option(
    "--geojson", "want_geojson", is_flag=True, help="Write the polygons as GeoJSON with estimate, low and high."
)
@click.option(
    "-o", "--output", type=click.Path(path_type=Path), metavar="GEOJSON", help="Write that GeoJSON to a file."
)
@click.option("--overwrite", is_flag=True, help="Replace the file if it exists.")
def query(
    file: Path,
    rects: list[Rect],
    rects_file: Path | None,
    polygons_file: Path | None,
    confidence: float,
    want_json: bool,
    want_csv: bool,
    want_geojson: bool,
    output: Path | None,
    overwrite: bool,
) -> None:
    """Estimate how many points lie in rectangles or polygons, with intervals.

    FILE is a release made by "hushgrid publish". Parts of an area outside its domain count nothing. Features of
    polygons are numbered from 0.
    """
    if sum(map(bool, (rects, rects_file, polygons_file))) != 1:
        msg = "Say which areas, with one of --rect W,S,E,N, --rects FILE and --polygons FILE."
        raise click.UsageError(msg)
    check_one_reader(FILE=file, **{"--rects": rects_file, "--polygons": polygons_file})
    _check_format(want_json, want_csv, want_geojson or output is not None, polygons_file)
    if output is not None:
        _check_output(output, overwrite=overwrite)
    if polygons_file is None:
        checked = read_rects(rects_file) if rects_file else typed_rects(rects)
        synopsis, _ = read_release(file)
        warn_of_outside(checked, synopsis.domain)
        answers, features = ask(synopsis, checked, confidence=confidence), None
    else:
        features = read_polygons(polygons_file)
        synopsis, _ = read_release(file)
        answers = _ask_polygons(synopsis, features, polygons_file, confidence)
    if output is not None and features is not None:
        _save(answers, features, output, overwrite=overwrite)
    elif want_geojson and features is not None:
        sys.stdout.writelines(features.geojson(answers.values, NUMBERS))
    elif want_csv:
        sys.stdout.writelines(answers.csv())
    elif want_json:
        heading = {"file": str(file), "simulation": synopsis.simulation, "confidence": confidence}
        heading["caveats"] = list(answers.caveats)
        click.echo(as_json({**heading, "answers": _records(answers, features)}))
        return
    else:
        click.echo(answers.table(features.names if features else None, called="feature"))
        return
    sys.stdout.flush()
    for caveat in answers.caveats:
        note(caveat)


def _check_format(want_json: bool, want_csv: bool, want_geojson: bool, polygons_file: Path | None) -> None:
    if sum((want_json, want_csv, want_geojson)) > 1:
        msg = "Choose one of --json, --csv and GeoJSON (--geojson, -o)."
        raise click.UsageError(msg)
    if want_geojson and polygons_file is None:
        msg = "GeoJSON (--geojson, -o) is for --polygons; rectangles are written by --json and --csv."
        raise click.UsageError(msg)


def _check_output(output: Path, *, overwrite: bool) -> None:
    from hushgrid.files.paths import check_target

    if output.suffix.lower() not in GEOJSON:
        msg = f"-o writes GeoJSON: give a name that ends in .geojson, got {output}. --geojson is for standard output."
        raise click.UsageError(msg)
    check_target(output, overwrite=overwrite)


def _ask_polygons(synopsis: "Synopsis", features: "Features", file: Path, confidence: float) -> Answers:
    from hushgrid.synopsis.answer import normal_reach

    normal_reach(confidence)  # complains of the confidence, so that what follows is about the polygons
    try:
        return ask_polygons(synopsis, features, confidence=confidence)
    except ArgumentError as error:
        raise refused(file, str(error)) from None


def _records(answers: Answers, features: "Features | None") -> list[dict[str, object]]:
    records = answers.records()
    if features is None:
        return records
    return [{"name": name, **record} for name, record in zip(features.names, records, strict=True)]


def _save(answers: Answers, features: "Features", output: Path, *, overwrite: bool) -> None:
    from hushgrid.files.paths import new_file

    with new_file(output, overwrite=overwrite) as out:
        out.writelines(part.encode() for part in features.geojson(answers.values, NUMBERS))
    click.echo(output)
