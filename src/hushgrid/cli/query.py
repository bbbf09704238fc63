"""``hushgrid query``: how many points lie in rectangles."""

import sys
from pathlib import Path

import click

from hushgrid.cli.answers import ask
from hushgrid.cli.output import as_json
from hushgrid.cli.parameters import Rect, example, to_rects
from hushgrid.cli.rectangles import read_rects
from hushgrid.cli.release import read_release


@click.command(
    epilog=example(
        "query trips.dp.parquet --rect -74,40.7,-73.9,40.8 --rect -73.9,40.7,-73.8,40.8",
        "query trips.dp.parquet --rects areas.csv --csv > answers.csv",
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
@click.option("--confidence", default=0.95, show_default=True, help="Confidence of the intervals.")
@click.option("--json", "want_json", is_flag=True, help="Write JSON.")
@click.option("--csv", "want_csv", is_flag=True, help="Write CSV: west,south,east,north,estimate,low,high.")
def query(
    file: Path,
    rects: list[Rect],
    rects_file: Path | None,
    confidence: float,
    want_json: bool,
    want_csv: bool,
) -> None:
    """Estimate how many points lie in rectangles, with intervals.

    FILE is a release made by "hushgrid publish". Parts of a rectangle outside its domain count nothing.
    """
    from hushgrid.geometry.rects import check_rects

    if bool(rects) == bool(rects_file):
        msg = "Say which rectangles, either with --rect W,S,E,N or with --rects FILE."
        raise click.UsageError(msg)
    if want_json and want_csv:
        msg = "Choose one of --json and --csv."
        raise click.UsageError(msg)
    checked = read_rects(rects_file) if rects_file else check_rects(rects)
    synopsis, _ = read_release(file)
    answers = ask(synopsis, checked, confidence=confidence)
    if want_csv:
        sys.stdout.writelines(answers.csv())
        sys.stdout.flush()
    elif want_json:
        heading = {"file": str(file), "simulation": synopsis.simulation, "confidence": confidence}
        click.echo(as_json({**heading, "answers": answers.records()}))
    else:
        click.echo(answers.table())
