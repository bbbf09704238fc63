"""``python -m experiments docs``: passages of the README and the docs from the rows."""

from pathlib import Path

import click

from experiments.commands.run import ROWS

ROOT = Path(__file__).parents[2]


@click.command("docs")
@click.argument("rows", default=ROWS, type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option("--root", default=ROOT, type=click.Path(exists=True, file_okay=False, path_type=Path), help="Checkout.")
def docs_command(rows: Path, root: Path) -> None:
    """Write the marked passages of the README and of docs/ as the rows have them."""
    from experiments.report.claim import Evidence
    from experiments.report.passages import write_passages
    from experiments.results import Results

    for page in write_passages(root, Evidence(rows=Results(rows).rows())):
        click.echo(page.relative_to(root), err=True)
