"""``python -m experiments fetch``: data sets that may be downloaded but not passed on."""

from pathlib import Path

import click

from experiments.datasets import data_folder
from experiments.datasets.gowalla import fetch_gowalla
from hushgrid.errors import HushgridError


@click.command("fetch")
@click.argument("name", type=click.Choice(["gowalla"]))
@click.option("--to", "folder", type=click.Path(file_okay=False, path_type=Path), help="By default the data folder.")
def fetch_command(name: str, folder: Path | None) -> None:
    """Download a data set and keep it as Parquet in the data folder."""
    try:
        written = fetch_gowalla(folder or data_folder())
    except HushgridError as error:
        raise click.ClickException(str(error)) from error
    click.echo(f"{name} is in {written}", err=True)
