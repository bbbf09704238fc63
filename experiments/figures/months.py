"""Months of a series: what each gains by the one before, and what comparing two of them finds."""

from collections import defaultdict

from experiments.estimate import Estimate
from experiments.figures.exhibit import DASH, Table
from experiments.months import BY_CALENDAR, DOUBLED, MONTHS, SAME, SERIES
from experiments.trial import Row

ERRORS = ("relative", "absolute")

Runs = dict[int, Row]  # one row a run
Case = tuple[str, str, float]  # months, data set and budget


def by_case(rows: list[Row]) -> dict[Case, Runs]:
    """Rows of months by case, in the order of kinds; rows of other trials are left aside."""
    found: dict[Case, Runs] = defaultdict(dict)
    for row in rows:
        if "months" in row:
            found[row["months"], row["dataset"], row["epsilon"]][row["seed"]] = row
    order = list(MONTHS)
    return dict(sorted(found.items(), key=lambda item: (order.index(item[0][0]), *item[0][1:])))


def mean(runs: Runs, name: str) -> Estimate:
    """Mean of a number over runs."""
    return Estimate.of({seed: row[name] for seed, row in runs.items() if name in row})


def series_table(rows: list[Row]) -> Table:
    """Errors of a month in a series as a share of those without, and how often intervals of differences hold."""
    lines = []
    for (months, _, epsilon), runs in by_case(rows).items():
        if months not in BY_CALENDAR:
            continue
        ratios = " / ".join((mean(runs, SERIES + error) / mean(runs, error)).text() for error in ERRORS)
        used = f"{sum(row['used'] for row in runs.values())} of {len(runs)}"
        lines.append((months, f"{epsilon:g}", used, ratios, *(_per_cent(runs, mark + "held") for mark in ("", SERIES))))
    headings = ("what is known", "ε", "believed", "error", "differences hold", "of a series")
    return Table(headings=headings, lines=tuple(lines))


def discovery_table(rows: list[Row]) -> Table:
    """How often anything false is discovered, and how often the district that doubled is."""
    lines = []
    for (months, dataset, epsilon), runs in by_case(rows).items():
        if months not in (SAME, DOUBLED):
            continue
        found = [
            f"{_per_cent(runs, name)}, {_per_cent(runs, SERIES + name)}" if mean(runs, name).known else DASH
            for name in ("alarm", "found", "rise")
        ]
        lines.append((months, dataset, f"{epsilon:g}", str(len(runs)), *found))
    headings = ("months", "set", "ε", "pairs", "with a false discovery", "district found", "change found")
    return Table(headings=headings, lines=tuple(lines))


def _per_cent(runs: Runs, name: str) -> str:
    return mean(runs, name).text(".1%").removesuffix("%")
