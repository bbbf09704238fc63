"""What slices gain by their total, how well totals are known, how often intervals of slices and sums hold, and cost."""

from collections import defaultdict

from experiments.estimate import Estimate
from experiments.figures.exhibit import DASH, Exhibit, Table
from experiments.slices import GROUPS
from experiments.trial import ALL_SIZES, QUERIES, Row

ERRORS = ("relative", "absolute")
MARK = "separate_relative"  # a field of rows of slices alone
SUMS = {"held": "slices", "pairs_held": "sums of two", "three_held": "sums of three", "total_held": "all together"}

Case = tuple[str, float]  # a division and a budget
Runs = dict[int, Row]  # one row a run


class SliceRows:
    """Rows of trials in slices, by case and query size.

    Parameters
    ----------
    rows : list of rows
        As `Results.rows` gives them; rows of other kinds are left aside.
    """

    def __init__(self, rows: list[Row]) -> None:
        self._runs: dict[tuple[Case, str], Runs] = defaultdict(dict)
        for row in rows:
            if MARK in row:
                self._runs[(row["division"], row["epsilon"]), row["queries"]][row["seed"]] = row

    def cases(self) -> list[Case]:
        """Divisions and budgets that were tried."""
        return sorted({case for case, _ in self._runs})

    def runs(self, case: Case, queries: str = ALL_SIZES) -> Runs:
        """Rows of a case by run."""
        return self._runs[case, queries]

    def division(self, case: Case) -> str:
        """What was divided, into how many slices of how many points on average."""
        row = next(iter(self.runs(case).values()))
        return f"{row['dataset']}, {row['slices']} of {row['points'] / row['slices']:,.0f} points"


def mean(runs: Runs, name: str) -> Estimate:
    """Mean of a number over the runs that have it."""
    return Estimate.of({seed: row[name] for seed, row in runs.items() if name in row})


def ratios(runs: Runs, name: str, to: str) -> str:
    """Relative and absolute error as a share of another's, by the beginnings of both names."""
    return " / ".join((mean(runs, name + error) / mean(runs, to + error)).text() for error in ERRORS)


def gain_of_slices(rows: list[Row]) -> Table:
    """Errors of slices as a share of those of separate releases, for all of them and by size."""
    found = SliceRows(rows)
    lines = [
        (
            *(case[0], found.division(case), f"{case[1]:g}"),
            ratios(found.runs(case), "", "separate_"),
            *(ratios(found.runs(case), f"{group}_", f"{group}_separate_") for group in GROUPS),
        )
        for case in found.cases()
    ]
    return Table(headings=("slices", "of", "ε", "all slices", *(f"{each} ones" for each in GROUPS)), lines=tuple(lines))


def total_of_slices(rows: list[Row]) -> Table:
    """Errors of the total, as a share of those of other releases of it, and what all of it costs."""
    found = SliceRows(rows)
    lines = []
    for case in found.cases():
        runs = found.runs(case)
        cpu = [mean(runs, f"{name}_cpu") for name in ("publish", "one", "inference")]
        compared = (ratios(runs, "total_", to) for to in ("share_", "whole_"))
        lines.append((case[0], f"{case[1]:g}", *compared, *(each.short for each in cpu)))
    headings = ("slices", "ε", "to the total's own release", "to a release with all of ε")
    return Table(headings=(*headings, "CPU s, slices", "CPU s, one release", "CPU s, inference"), lines=tuple(lines))


def intervals_of_slices(rows: list[Row]) -> Table:
    """Per cent of queries whose 95 % interval holds the truth, of slices and of sums, by query size."""
    found = SliceRows(rows)
    lines = [
        (*(case[0], f"{case[1]:g}", of), *(_per_cent(mean(found.runs(case, queries), field)) for queries in QUERIES))
        for case in found.cases()
        for field, of in SUMS.items()
    ]
    return Table(headings=("slices", "ε", "of", *QUERIES), lines=tuple(lines))


def _per_cent(estimate: Estimate) -> str:
    return estimate.text(".1%").removesuffix("%") if estimate.known else DASH


GAINS = Exhibit(
    title="What slices gain by their total",
    caption="Relative / absolute error of slices as a share of that of a release of each slice by itself with all of "
    "the budget, with standard errors over releases; of all slices, and of the thirds of them with the fewest points, "
    "with more and with the most.",
    table=gain_of_slices,
)
TOTALS = Exhibit(
    title="The total of all slices",
    caption="Relative / absolute error of the total as a release in slices answers it: as a share of that of the "
    "released total alone, which has a tenth of the budget or less, and of a release of all points with all of it. "
    "Beside it, CPU seconds of a release in slices, of one release of all points, and of the inference of the slices' "
    "cells; without calibration.",
    table=total_of_slices,
)
INTERVALS = Exhibit(
    title="Coverage of slices and of sums over them",
    caption="Per cent of queries whose 95 % interval holds the truth, by query size and over all.",
    table=intervals_of_slices,
)
