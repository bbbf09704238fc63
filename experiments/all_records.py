"""How well all records are estimated at user level, kept or not. Not private, and no release.

``python -m experiments.all_records`` publishes check-ins and made-up users with ``estimate="all-records"``, and beside
it with counts of kept records that are scaled to a total, public or private. Each is compared with what it says it
counts: all records where the total is public, and at most B of each user where it is private.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import click
import numpy as np
from numpy.typing import NDArray
from rich.console import Console
from rich.table import Table

from experiments.crowds import CROWDS, Crowd
from experiments.metrics import absolute_errors, relative_errors
from hushgrid.privacy.bits import simulation_rng
from hushgrid.release.publish import publish
from hushgrid.synopsis.synopsis import Synopsis

Floats = NDArray[np.float64]

SIZES = 6
COLUMNS = (
    *("users", "epsilon", "total", "estimate", "B", "beyond B", "relative", "absolute"),
    *("total off", "95 % hold", "by size, small first"),
)


@dataclass(frozen=True, kw_only=True, eq=False)
class Truth:
    """True answers, at most so many records of a user."""

    crowd: Crowd

    @cached_property
    def _sizes_of_owners(self) -> NDArray[np.int64]:
        """How many records the user of each record has."""
        _, owners, sizes = np.unique(self.crowd.records.true_users, return_inverse=True, return_counts=True)
        return np.asarray(sizes[owners])

    def answers(self, cap: int | None) -> Floats:
        """Records in each rectangle; those of a user with more than the cap weigh the cap together."""
        records, sizes = self.crowd.records, self._sizes_of_owners
        answers = records.true_answers.reshape(-1).astype(np.float64)
        if cap is None:
            return answers
        heavy = np.flatnonzero(sizes > cap)
        heavy = heavy[np.argsort(records.true_points[heavy, 0])]
        (x, y), missing = records.true_points[heavy].T, 1 - cap / sizes[heavy]
        for number, (west, south, east, north) in enumerate(records.rects):
            some = slice(np.searchsorted(x, west), np.searchsorted(x, east, side="right"))
            answers[number] -= missing[some][(y[some] >= south) & (y[some] <= north)].sum()
        return answers

    def total(self, cap: int | None) -> float:
        """Records of all users."""
        return float(np.minimum(1, (np.inf if cap is None else cap) / self._sizes_of_owners).sum())


@dataclass(frozen=True, kw_only=True, eq=False)
class Score:
    """Errors of one release, and which of its intervals hold the truth."""

    cap: int | None
    beyond: float
    relative: float
    absolute: float
    off: float
    held: NDArray[np.bool_]

    @classmethod
    def of(cls, truth: Truth, release: Synopsis) -> "Score":
        """Against what the release says it counts."""
        assert release.scale is not None
        cap = release.scale.cap
        true_answers, true_total = truth.answers(cap), truth.total(cap)
        answer = release.answer(truth.crowd.records.rects)
        estimates = np.asarray(answer.estimate)
        measured_cap = None if release.claim.total is None else release.claim.total.cap
        return cls(
            cap=measured_cap,
            beyond=1 - truth.total(measured_cap) / truth.total(None),
            relative=float(relative_errors(estimates, true_answers, true_total=true_total).mean()),
            absolute=float(absolute_errors(estimates, true_answers).mean()),
            off=release.total / true_total - 1,
            held=(np.asarray(answer.low) <= true_answers) & (true_answers <= np.asarray(answer.high)),
        )


def scores(truth: Truth, *, runs: int, **options: Any) -> list[Score]:
    """Scores of several releases, each with noise of its own."""
    records, domain = truth.crowd.records, truth.crowd.domain
    return [
        Score.of(
            truth,
            publish(
                records.true_points,
                domain=domain,
                user=records.true_users,
                kept_share=False,
                rng=simulation_rng(seed),
                **options,
            ),
        )
        for seed in range(runs)
    ]


def row(found: Sequence[Score]) -> list[str]:
    """Means over runs, for the table."""
    caps = sorted(score.cap for score in found if score.cap is not None)
    by_size = np.mean([score.held for score in found], axis=0).reshape(SIZES, -1).mean(axis=1)
    return [
        str(caps[len(caps) // 2]) if caps else "",
        f"{np.mean([score.beyond for score in found]):.0%}" if caps else "",
        f"{np.mean([score.relative for score in found]):.3f}",
        f"{np.mean([score.absolute for score in found]):.0f}",
        f"{np.sqrt(np.mean([score.off**2 for score in found])):.1%}",
        f"{by_size.mean():.0%}",
        " ".join(f"{share:.0%}" for share in by_size),
    ]


@click.command()
@click.option("--crowd", "names", multiple=True, type=click.Choice(list(CROWDS)), help="All of them if not given.")
@click.option("--epsilon", "epsilons", multiple=True, default=(1.0, 5.0), show_default=True, type=float)
@click.option("--max-per-user", default=10, show_default=True, type=click.IntRange(min=1))
@click.option("--runs", default=5, show_default=True, type=click.IntRange(min=1))
@click.option("--scaled/--no-scaled", default=True, show_default=True, help="Compare with counts scaled to a total.")
def main(names: tuple[str, ...], epsilons: tuple[float, ...], max_per_user: int, runs: int, scaled: bool) -> None:
    """Show errors of estimates of all records. NOT PRIVATE: errors are against the truth."""
    table = Table(box=None, pad_edge=False)
    for heading in COLUMNS:
        table.add_column(heading, justify="left" if heading in ("users", "total", "estimate") else "right")
    for name in names or CROWDS:
        truth = Truth(crowd=CROWDS[name]())
        totals: dict[str, Any] = {"private": "private", "public": len(truth.crowd.records.true_points)}
        for epsilon in epsilons:
            for kind, total in totals.items():
                for estimate in ("all-records", "kept-records") if scaled else ("all-records",):
                    options = {"epsilon": epsilon, "max_per_user": max_per_user, "scale_to_total": total}
                    found = scores(truth, runs=runs, estimate=estimate, **options)
                    called = "all records" if estimate == "all-records" else "scaled"
                    table.add_row(name, f"{epsilon:g}", kind, called, *row(found))
    Console(width=150).print(table)


if __name__ == "__main__":
    main(prog_name="python -m experiments.all_records")
