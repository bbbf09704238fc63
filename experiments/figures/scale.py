"""How often intervals hold the truth at scale."""

from collections import defaultdict

from experiments.estimate import Estimate
from experiments.figures.table import Table, number
from experiments.scale import COVERAGES
from experiments.trial import ALL_SIZES, QUERIES, Row

BY_SIZE = "coverage_95"  # shown for each query size too

Scale = tuple[str, int, float]  # a law, points, and points times epsilon


def table(rows: list[Row]) -> Table:
    """Coverage at every confidence over all queries, and of 95 % intervals by query size; means over runs."""
    scales: dict[Scale, dict[str, list[Row]]] = defaultdict(lambda: defaultdict(list))
    for row in rows:
        if "evidence" in row:
            scales[row["dataset"], row["points"], row["evidence"]][row["queries"]].append(row)
    return Table(
        headings=(
            *("law", "points", "points · ε", "cells", "CPU s"),
            *(f"{confidence:.0%}" for confidence in COVERAGES.values()),
            *(f"{COVERAGES[BY_SIZE]:.0%}, {queries}" for queries in QUERIES[:-1]),
        ),
        lines=tuple(_line(scale, scales[scale]) for scale in sorted(scales)),
    )


def _line(scale: Scale, groups: dict[str, list[Row]]) -> tuple[str, ...]:
    law, points, evidence = scale
    everything = groups[ALL_SIZES]
    return (
        *(law, _power(points), _power(evidence)),
        *(number(_mean(everything, "cells").value, ",.0f"), _mean(everything, "publish_cpu").short),
        *(_mean(everything, name).text(".1%") for name in COVERAGES),
        *(_mean(groups[queries], BY_SIZE).text(".1%") for queries in QUERIES[:-1]),
    )


def _mean(rows: list[Row], name: str) -> Estimate:
    return Estimate.of({row["seed"]: row[name] for row in rows})


def _power(value: float) -> str:
    """A large number in few characters.

    Examples
    --------
    >>> _power(10**8), _power(2.5e6)
    ('1e8', '2.5e6')
    """
    digits, exponent = f"{value:e}".split("e")
    return f"{float(digits):g}e{int(exponent)}"
