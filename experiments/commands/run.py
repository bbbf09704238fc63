"""``python -m experiments run``: the suites."""

import math
from pathlib import Path

import click

from experiments.datasets import DATASETS
from experiments.results import Results
from experiments.runner import Runnable, missing_trials, run_trials
from experiments.suites import SUITES
from hushgrid.errors import HushgridError

ROWS = Path("experiments") / "results" / "rows.parquet"


@click.command("run")
@click.argument("names", metavar="[SUITE]...", nargs=-1, type=click.Choice(list(SUITES)))
@click.option("--quick", is_flag=True, help="The same in small, in three minutes at most.")
@click.option("--workers", default=2, show_default=True, type=click.IntRange(min=1), help="Processes.")
@click.option(
    "-o",
    "--output",
    default=ROWS,
    show_default=True,
    type=click.Path(dir_okay=False, path_type=Path),
    help="File of rows, .parquet or .jsonl; what is in it already is not run again.",
)
def run_command(names: tuple[str, ...], quick: bool, workers: int, output: Path) -> None:
    """Run the trials of some tables and figures, by default of all.

    A run that was interrupted goes on where it stopped, and one with a new data set or method runs only what is new.
    """
    suites = [SUITES[name] for name in names or SUITES]
    wanted = [trial for suite in suites for trial in (suite.quick if quick else suite.full)]
    trials = [trial for trial in wanted if DATASETS[trial.dataset].at_hand]
    for name in sorted({trial.dataset for trial in wanted} - {trial.dataset for trial in trials}):
        click.echo(f"left out, because it is not at hand: {name}", err=True)
    run_to(trials, output, workers=workers)


def run_to(trials: list[Runnable], output: Path, *, workers: int) -> None:
    """Run trials into a file of rows, and say how many there were."""
    output.parent.mkdir(parents=True, exist_ok=True)
    results = Results(output)
    missing = missing_trials(trials, results)
    minutes = math.ceil(sum(trial.seconds for trial in missing) / workers / 60)
    click.echo(f"{len(missing)} trials to run, about {minutes} min if nothing else runs", err=True)
    try:
        ran = run_trials(missing, results, workers=workers)
    except HushgridError as error:
        raise click.ClickException(str(error)) from error
    finally:
        results.settle()
    there = len({trial.key for trial in trials}) - ran
    click.echo(f"{ran} trials run, {there} were there; rows in {output}", err=True)
