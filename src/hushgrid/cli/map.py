"""``hushgrid map``: a release as a page to look at and ask."""

from pathlib import Path

import click

from hushgrid.cli.files import check_output, read_release, result_path
from hushgrid.cli.parameters import example
from hushgrid.cli.text import note

ENDINGS = (".html", ".htm")


@click.command("map", epilog=example("map trips.dp.parquet -o trips.html"))
@click.argument("file", type=click.Path(path_type=Path))
@click.option(
    "-o", "--output", type=click.Path(path_type=Path), required=True, metavar="HTML|-", help="Where to write."
)
@click.option(
    "--overlay",
    type=click.Path(path_type=Path),
    metavar="GEOJSON",
    help="Areas and lines to show in place of coastlines and borders, in the coordinates of the release.",
)
@click.option("--overwrite", is_flag=True, help="Replace HTML if it exists.")
def draw_map(file: Path, output: Path, overlay: Path | None, overwrite: bool) -> None:
    """Make a web page that shows a release and answers by itself.

    FILE is a release made by "hushgrid publish". The page is one file; it works offline and sends nothing anywhere.
    """
    from hushgrid.files.paths import new_file
    from hushgrid.web.overlay import read_overlay
    from hushgrid.web.page import map_page
    from hushgrid.web.shelf import title_of

    check_output(output, overwrite=overwrite, endings=ENDINGS, is_text=True)
    areas = read_overlay(overlay) if overlay else None
    synopsis, _ = read_release(file)
    page = map_page(synopsis, title=title_of(file), overlay=areas)
    with result_path(output, ENDINGS[0]) as path, new_file(path, overwrite=overwrite) as out:
        out.write(page.encode())
    note("Open it in a browser, or pass it on: it holds the release and nothing else.")
