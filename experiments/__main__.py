"""The command ``python -m experiments``."""

import math
from collections import defaultdict
from itertools import product
from pathlib import Path

import click
from rich.console import Console
from rich.table import Table

from experiments.datasets import DATASETS
from experiments.results import Results
from experiments.runner import run_trials
from experiments.trial import ALL_SIZES, Row, Trial
from hushgrid.choose import AUTO
from hushgrid.errors import HushgridError
from hushgrid.methods import METHODS

REFERENCE = "ag"  # what other methods are compared with


@click.group()
def main() -> None:
    """Run the paper's evaluation and look at what came out."""


@main.command("run")
@click.option("--dataset", "datasets", multiple=True, required=True, type=click.Choice(list(DATASETS)))
@click.option("--method", "methods", multiple=True, required=True, type=click.Choice([AUTO, *METHODS]))
@click.option("--epsilon", "epsilons", multiple=True, required=True, type=click.FloatRange(min=0, min_open=True))
@click.option("--runs", default=5, show_default=True, type=click.IntRange(min=1), help="Releases of each kind.")
@click.option("--workers", default=2, show_default=True, type=click.IntRange(min=1), help="Processes.")
@click.option("-o", "--output", required=True, type=click.Path(dir_okay=False, path_type=Path), help="File of rows.")
def run_command(
    datasets: tuple[str, ...],
    methods: tuple[str, ...],
    epsilons: tuple[float, ...],
    runs: int,
    workers: int,
    output: Path,
) -> None:
    """Run every combination, but for trials whose rows are in the file already."""
    trials = [
        Trial(dataset=dataset, method=method, epsilon=epsilon, seed=seed)
        for dataset, method, epsilon, seed in product(datasets, methods, epsilons, range(runs))
    ]
    try:
        ran = run_trials(trials, Results(output), workers=workers)
    except HushgridError as error:
        raise click.ClickException(str(error)) from error
    click.echo(f"{ran} trials run, {len(trials) - ran} were there; rows in {output}", err=True)


@main.command("show")
@click.argument("rows", type=click.Path(exists=True, dir_okay=False, path_type=Path))
def show_command(rows: Path) -> None:
    """Mean errors over all queries and runs, and their ratio to AG's."""
    Console().print(comparison(Results(rows).rows()))


def comparison(rows: list[Row]) -> Table:
    """Table of mean errors by data set, epsilon and method, each followed by its ratio to AG's."""
    groups = defaultdict(list)
    for row in rows:
        if row["queries"] == ALL_SIZES:
            groups[row["dataset"], row["epsilon"], _label(row)].append(row)
    names = ("relative_mean", "absolute_mean", "coverage")
    means = {group: [_mean(members, name) for name in names] for group, members in groups.items()}
    table = Table(box=None, pad_edge=False, collapse_padding=True)
    for heading in ("data set", "epsilon", "method", "runs", "relative", "/ AG", "absolute", "/ AG", "coverage"):
        table.add_column(heading, justify="left" if heading in ("data set", "method") else "right")
    for (dataset, epsilon, label), (relative, absolute, coverage) in sorted(means.items()):
        to_relative, to_absolute, _ = means.get((dataset, epsilon, REFERENCE), (math.nan,) * 3)
        table.add_row(
            *(dataset, f"{epsilon:g}", label, str(len(groups[dataset, epsilon, label]))),
            *(f"{relative:.4f}", f"{relative / to_relative:.2f}", f"{absolute:.1f}", f"{absolute / to_absolute:.2f}"),
            f"{coverage:.3f}",
        )
    return table


def _label(row: Row) -> str:
    parameters = ", ".join(f"{name}={value}" for name, value in sorted(row["parameters"].items()))
    return f"{row['method']}({parameters})" if parameters else str(row["method"])


def _mean(rows: list[Row], name: str) -> float:
    return float(sum(row[name] for row in rows) / len(rows))


if __name__ == "__main__":
    main(prog_name="python -m experiments")
