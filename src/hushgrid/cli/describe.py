"""``hushgrid describe``: what a release is and promises."""

from pathlib import Path

import click

from hushgrid.cli.description import as_values
from hushgrid.cli.output import as_json, labelled
from hushgrid.cli.parameters import example
from hushgrid.cli.release import read_release
from hushgrid.cli.words import in_words


@click.command(epilog=example("describe trips.dp.parquet"))
@click.argument("file", type=click.Path(path_type=Path))
@click.option("--json", "want_json", is_flag=True, help="Write JSON.")
def describe(file: Path, want_json: bool) -> None:
    """Say what a release holds and what it promises.

    FILE is a release made by "hushgrid publish".
    """
    synopsis, library = read_release(file)
    if want_json:
        click.echo(as_json({"file": str(file), "library": library, **as_values(synopsis)}))
    else:
        click.echo(labelled({"file": f"{file}, written by hushgrid {library}", **in_words(synopsis)}))
