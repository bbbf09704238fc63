"""What the protection of users costs: error and kept records for several bounds K. Not private, and no release.

``python -m experiments.users`` publishes check-ins at user level, scales the counts to the public total, and compares
them with all records, kept or not.
"""

from dataclasses import dataclass
from functools import partial

import click
import numpy as np
import pyarrow.parquet as pq
from numpy.typing import NDArray
from rich.console import Console
from rich.table import Table

from experiments.datasets import DATASETS
from experiments.datasets.table import TableDataset
from experiments.metrics import absolute_errors, relative_errors
from experiments.trial import seed_of
from experiments.workload import true_counts, workload
from hushgrid.errors import HushgridError
from hushgrid.geometry.domain import Domain
from hushgrid.privacy.bits import simulation_rng
from hushgrid.release.publish import publish
from hushgrid.synopsis.synopsis import Synopsis

DATASET = "checkin_gowalla_nyc"
BOUNDS = (1, 5, 10, 20, 50)
RECORD_LEVEL = None  # in place of a bound


@dataclass(frozen=True, kw_only=True, eq=False)
class CheckIns:
    """Records with their users, and the queries asked of them."""

    true_points: NDArray[np.float64]
    true_users: NDArray[np.int64]
    rects: NDArray[np.float64]
    true_answers: NDArray[np.int64]

    @classmethod
    def of(cls, dataset: TableDataset, *, user: str) -> "CheckIns":
        """The records of a data set that lie in its domain."""
        rows = dataset.column_values(*dataset.columns, user)
        west, south, east, north = dataset.domain.bounds
        inside = ((rows[:, :2] >= (west, south)) & (rows[:, :2] <= (east, north))).all(axis=1)
        points = rows[inside, :2]
        rects = workload(dataset.domain, dataset.largest_query, seed=0).reshape(-1, 4)
        return cls(
            true_points=points,
            true_users=rows[inside, 2].astype(np.int64),
            rects=rects,
            true_answers=true_counts(points, rects),
        )

    def share_kept(self, bound: int | None) -> float:
        """Share of the records that are kept."""
        _, sizes = np.unique(self.true_users, return_counts=True)
        return 1.0 if bound is RECORD_LEVEL else float(np.minimum(sizes, bound).sum() / sizes.sum())

    def errors(self, synopsis: Synopsis) -> tuple[float, float]:
        """Mean relative and mean absolute error over all queries."""
        estimates = np.asarray(synopsis.count(self.rects))
        relative = relative_errors(estimates, self.true_answers, true_total=len(self.true_points))
        return float(relative.mean()), float(absolute_errors(estimates, self.true_answers).mean())


def trial(check_ins: CheckIns, domain: Domain, bound: int | None, *, epsilon: float, seed: int) -> Synopsis:
    """One simulated release; at user level, its counts are scaled to the public total."""
    release = partial(
        publish,
        check_ins.true_points,
        domain=domain,
        epsilon=epsilon,
        method="staq",
        calibrate=False,
        rng=simulation_rng(seed_of({"domain": domain.bounds, "bound": bound, "epsilon": epsilon, "seed": seed})),
    )
    if bound is RECORD_LEVEL:
        return release()
    return release(user=check_ins.true_users, max_per_user=bound, scale_to_total=len(check_ins.true_points))


def comparison(check_ins: CheckIns, domain: Domain, *, epsilon: float, runs: int) -> Table:
    """Errors and shares of kept records for every bound, and at record level."""
    table = Table(box=None, pad_edge=False)
    for heading in ("K", "kept", "relative", "absolute"):
        table.add_column(heading, justify="right")
    for bound in (*BOUNDS, RECORD_LEVEL):
        errors = [check_ins.errors(trial(check_ins, domain, bound, epsilon=epsilon, seed=seed)) for seed in range(runs)]
        relative, absolute = np.mean(errors, axis=0)
        name = "record level" if bound is RECORD_LEVEL else str(bound)
        table.add_row(name, f"{check_ins.share_kept(bound):.1%}", f"{relative:.3f}", f"{absolute:.0f}")
    return table


@click.command()
@click.option("--dataset", default=DATASET, show_default=True, type=click.Choice(list(DATASETS)))
@click.option("--user", default="user", show_default=True, help="Column of user ids.")
@click.option("--epsilon", default=1.0, show_default=True, type=click.FloatRange(min=0, min_open=True))
@click.option("--runs", default=5, show_default=True, type=click.IntRange(min=1), help="Releases for each bound.")
def main(dataset: str, user: str, epsilon: float, runs: int) -> None:
    """Show what bounds on the records of a user cost. NOT PRIVATE: errors are against the truth."""
    chosen = DATASETS[dataset]
    if not isinstance(chosen, TableDataset) or (chosen.at_hand and user not in pq.read_schema(chosen.path).names):
        msg = f"data set {dataset} has no column {user!r} of users."
        raise click.ClickException(msg)
    try:
        check_ins = CheckIns.of(chosen, user=user)
    except HushgridError as error:
        raise click.ClickException(str(error)) from error
    click.echo(f"{dataset}, epsilon = {epsilon:g}, mean of {runs} runs")
    Console().print(comparison(check_ins, chosen.domain, epsilon=epsilon, runs=runs))


if __name__ == "__main__":
    main(prog_name="python -m experiments.users")
