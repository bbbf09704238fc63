"""``hushgrid demo``: the whole path on bundled data."""

from dataclasses import replace
from importlib import resources
from pathlib import Path

import click

from hushgrid.cli.answers import ask
from hushgrid.cli.commands.describe import suggest, summarise
from hushgrid.cli.files import progress_bar
from hushgrid.cli.parameters import example
from hushgrid.cli.text import note
from hushgrid.errors import ArgumentError
from hushgrid.geometry.domain import Domain

DOMAIN = Domain(west=-180, south=-60, east=180, north=80)
EPSILON = "1"
CONFIDENCE = 0.95
PLACES = {
    "Western Europe": (-10.0, 36.0, 15.0, 60.0),
    "New England": (-73.5, 41.0, -67.0, 47.5),
    "The plain of the Ganges": (77.0, 24.0, 88.0, 30.0),
    "The Nile delta": (29.5, 30.0, 32.5, 31.6),
    "Japan": (129.0, 30.0, 146.0, 46.0),
    "Java": (105.0, -8.8, 114.6, -5.8),
    "The middle of the Sahara": (-5.0, 18.0, 20.0, 28.0),
    "An empty part of the Pacific": (-130.0, -55.0, -90.0, -30.0),
}
BEFORE = f"Publishing the towns and villages of the world (GeoNames, CC BY 4.0) with epsilon {EPSILON}."
AFTER = """\
Real use is about people, not towns: their trips, their calls, their homes. Towns are public and only stand in
for them here. In real use nobody would see the true counts, so this demo does not show them either."""


@click.command(epilog=example("demo"))
@click.option(
    "-o",
    "--output",
    "folder",
    type=click.Path(path_type=Path),
    default=Path("hushgrid-demo"),
    show_default=True,
    metavar="FOLDER",
    help="Folder to write to. Files of an earlier demo are replaced.",
)
def demo(folder: Path) -> None:
    """Publish bundled points, ask about them and draw them.

    The points are the populated places of the world. The demo writes a release, a CSV file of answers and a map.
    """
    import numpy as np

    from hushgrid.files.paths import check_target, new_file
    from hushgrid.release.delivery import Delivery
    from hushgrid.release.publish import deliver
    from hushgrid.release.request import ReleaseRequest
    from hushgrid.synopsis.synopsis import Synopsis
    from hushgrid.web.page import map_page

    _make(folder)
    release, table, page = folder / "places.dp.parquet", folder / "answers.csv", folder / "map.html"
    for path in (release, table, page):
        check_target(path, overwrite=True)
    note(BEFORE)
    bundled = resources.files("hushgrid") / "data" / "places.parquet"
    with resources.as_file(bundled) as points, progress_bar() as bar:
        delivery = Delivery(output=release, overwrite=True, tell=note, **bar._asdict())
        # No prior: the bundled places are the very points that are published, and so not public knowledge about them.
        request = ReleaseRequest.of(domain=DOMAIN, epsilon=EPSILON, prior="none")
        synopsis = deliver(request, points, charge=None, delivery=delivery)
    assert isinstance(synopsis, Synopsis)  # no slices were asked for
    answers = ask(synopsis, np.array(list(PLACES.values())), confidence=CONFIDENCE)
    answers = replace(answers, names=list(PLACES))
    with new_file(table, overwrite=True) as out:
        out.writelines(line.encode() for line in answers.csv())
    with new_file(page, overwrite=True) as out:
        out.write(map_page(synopsis, title="Towns and villages of the world").encode())
    summarise(synopsis)
    note()
    click.echo(answers.table())
    note(f"\n{AFTER}\n\nThese files were written. Open the map in a browser:")
    click.echo(f"{release}\n{table}\n{page}")
    suggest(synopsis, release)


def _make(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        msg = f"the folder {folder} cannot be created: {error.strerror}. Choose another with -o."
        raise ArgumentError(msg) from None
