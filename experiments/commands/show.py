"""``python -m experiments show``: mean errors in a table."""

from collections import defaultdict
from pathlib import Path

import click
from rich.console import Console
from rich.table import Table

from experiments.estimate import MISSING, Estimate
from experiments.results import Results
from experiments.suites import SUITES
from experiments.trial import ALL_SIZES, Row

REFERENCE = "ag"  # what other methods are compared with
FILE_WIDTH = 160  # characters of a line that no terminal shows


@click.command("show")
@click.argument("rows", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option("--suite", type=click.Choice(list(SUITES)), help="Only the trials of one table or figure.")
def show_command(rows: Path, suite: str | None) -> None:
    """Mean errors over all queries and runs, and their ratio to AG's with its standard error."""
    chosen = Results(rows).rows()
    console = Console()
    if not console.is_terminal:
        console.width = FILE_WIDTH
    console.print(comparison(SUITES[suite].select(chosen) if suite else chosen))


def comparison(rows: list[Row]) -> Table:
    """Table of mean errors by data set, epsilon and method, each followed by its ratio to AG's."""
    groups = defaultdict(list)
    for row in rows:
        if row["queries"] == ALL_SIZES and "method" in row:
            groups[row["dataset"], row["epsilon"], _label(row)].append(row)
    names = ("relative_mean", "absolute_mean", "coverage_95")
    means = {group: [_mean(members, name) for name in names] for group, members in groups.items()}
    table = Table(box=None, pad_edge=False, collapse_padding=True)
    for heading in ("data set", "epsilon", "method", "runs", "relative", "/ AG", "absolute", "/ AG", "coverage"):
        table.add_column(heading, justify="left" if heading in ("data set", "method") else "right")
    for (dataset, epsilon, label), (relative, absolute, coverage) in sorted(means.items()):
        to_relative, to_absolute, _ = means.get((dataset, epsilon, REFERENCE), (MISSING,) * 3)
        table.add_row(
            *(dataset, f"{epsilon:g}", label, str(len(groups[dataset, epsilon, label]))),
            *(_plain(relative, ".4f"), (relative / to_relative).text()),
            *(_plain(absolute, ".1f"), (absolute / to_absolute).text(), _plain(coverage, ".3f")),
        )
    return table


def _label(row: Row) -> str:
    parameters = ", ".join(f"{name}={value}" for name, value in sorted(row["parameters"].items()))
    return f"{row['method']}({parameters})" if parameters else str(row["method"])


def _plain(estimate: Estimate, form: str) -> str:
    """A number without its error, for which a line has no room."""
    return Estimate(estimate.value).text(form)


def _mean(rows: list[Row], name: str) -> Estimate:
    """Mean over the runs that have it: intervals are not calibrated in all."""
    return Estimate.of({row["seed"]: row[name] for row in rows if name in row})
