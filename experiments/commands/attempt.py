"""``python -m experiments try``: any methods on any data, a file of one's own too."""

from itertools import product
from pathlib import Path

import click
import pyarrow.parquet as pq

from experiments.commands.run import run_to
from experiments.datasets import DATASETS
from experiments.datasets.table import TableDataset
from experiments.runner import Runnable
from experiments.trial import Trial
from hushgrid.errors import HushgridError
from hushgrid.geometry.domain import Domain
from hushgrid.methods import METHODS
from hushgrid.release.auto import AUTO


@click.command("try")
@click.option("--dataset", "datasets", multiple=True, type=click.Choice(list(DATASETS)), help="A set by its name.")
@click.option("--data-file", type=click.Path(exists=True, dir_okay=False, path_type=Path), help="A Parquet file.")
@click.option("--domain", metavar="W,S,E,N", help="Of the file: the public rectangle.")
@click.option("--largest-query", metavar="W,H", help="Of the file: width and height of the largest query.")
@click.option("--columns", default="lon,lat", show_default=True, help="Of the file: longitude and latitude.")
@click.option("--method", "methods", multiple=True, required=True, type=click.Choice([AUTO, *METHODS]))
@click.option("--epsilon", "epsilons", multiple=True, required=True, type=click.FloatRange(min=0, min_open=True))
@click.option("--runs", default=5, show_default=True, type=click.IntRange(min=1), help="Releases of each kind.")
@click.option("--workers", default=2, show_default=True, type=click.IntRange(min=1), help="Processes.")
@click.option("-o", "--output", required=True, type=click.Path(dir_okay=False, path_type=Path), help="File of rows.")
def try_command(
    datasets: tuple[str, ...],
    data_file: Path | None,
    domain: str | None,
    largest_query: str | None,
    columns: str,
    methods: tuple[str, ...],
    epsilons: tuple[float, ...],
    runs: int,
    workers: int,
    output: Path,
) -> None:
    """Run every combination of data sets, methods and budgets, but for trials whose rows are in the file already."""
    sources: list[tuple[str, TableDataset | None]] = [(name, None) for name in datasets]
    if data_file is not None:
        sources.append((data_file.stem, own_dataset(data_file, domain, largest_query, columns)))
    if not sources:
        msg = "say what to run on: --dataset, or --data-file with --domain and --largest-query."
        raise click.UsageError(msg)
    trials: list[Runnable] = [
        Trial(dataset=name, own=own, method=method, epsilon=epsilon, seed=seed)
        for (name, own), method, epsilon, seed in product(sources, methods, epsilons, range(runs))
    ]
    run_to(trials, output, workers=workers)


def own_dataset(path: Path, domain: str | None, largest_query: str | None, columns: str) -> TableDataset:
    """A data set of a file that no description names."""
    if domain is None or largest_query is None:
        msg = "--data-file needs --domain W,S,E,N and --largest-query W,H as well."
        raise click.UsageError(msg)
    try:
        width, height = map(float, largest_query.split(","))
        lon, lat = columns.split(",")
    except ValueError as error:
        given = f"{largest_query!r} and {columns!r}"
        msg = f"--largest-query and --columns are two values each, such as 40,20 and lon,lat; got {given}."
        raise click.UsageError(msg) from error
    try:
        return TableDataset(
            name=path.stem,
            domain=Domain.parse(domain),
            largest_query=(width, height),
            size=pq.read_metadata(path).num_rows,
            path=path.resolve(),
            columns=(lon, lat),
        )
    except HushgridError as error:
        raise click.ClickException(str(error)) from error
