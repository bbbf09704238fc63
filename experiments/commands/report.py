"""``python -m experiments report``: tables, figures and one page from the rows."""

from pathlib import Path

import click

from experiments.commands.run import ROWS


@click.command("report")
@click.argument("rows", default=ROWS, type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option(
    "-o",
    "--output",
    type=click.Path(file_okay=False, path_type=Path),
    help="Folder; by default that of the rows.",
)
def report_command(rows: Path, output: Path | None) -> None:
    """Write every table and figure, and a page that holds the paper's statements against them."""
    # Matplotlib takes a second to import, which no other command should wait for.
    from experiments.report.report import write_report

    folder = output or rows.parent
    write_report(rows, folder)
    click.echo(f"report in {folder}", err=True)
